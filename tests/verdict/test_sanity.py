"""The sanity band: an echo keeps everything, silence nothing, and a broken case shows."""

from __future__ import annotations

from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.verdict.ungated import sanity_band


def case(summary: str, facts: list[Any], **turn: Any) -> Case:
    turns = [{"turn": number, "message": "How should I go on?"} for number in range(1, 4)]
    turns[1].update(turn)
    return Case.model_validate({"id": "a", "patient_summary": summary, "critical_entities": facts, "turns": turns})


SOUND = case(
    "Mr Lowe, 61, takes ramipril 5 mg once daily. He is allergic to penicillin.",
    ["penicillin allergy", "ramipril 5 mg"],
)


def test_sound_case() -> None:
    """The intake states its own facts; an empty summary states none."""
    band = sanity_band([SOUND])
    assert (band.echo_at_start, band.echo_at_t10, band.silence) == (1.0, 1.0, 0.0)
    assert band.faults == ()


def test_fact_that_is_not_in_the_intake_is_named() -> None:
    """A fact that nobody stated can only be lost: the case set is broken."""
    broken = case("Mr Lowe, 61, takes ramipril 5 mg once daily.", ["ramipril 5 mg", "penicillin allergy"])
    band = sanity_band([broken])
    assert band.echo_at_start == 0.5
    assert band.missed == ("a: penicillin allergy",)
    assert band.faults == ("echo_loses_facts",)


def test_changed_fact_lowers_the_echo_at_the_horizon_only() -> None:
    """Turn 2 doubles the dose: the echo of the intake is out of date by then, and rightly scores lower."""
    changing = case(
        SOUND.patient_summary,
        [{"id": "dose", "text": "ramipril 5 mg once daily"}, "penicillin allergy"],
        updates=[{"fact": "dose", "becomes": "ramipril 10 mg once daily"}],
    )
    band = sanity_band([changing])
    assert (band.echo_at_start, band.echo_at_t10) == (1.0, 0.5)
    assert band.faults == ()


def test_no_cases() -> None:
    """Nothing to score is said, not scored 0."""
    band = sanity_band([])
    assert band.echo_at_start is None
    assert band.faults == ()
