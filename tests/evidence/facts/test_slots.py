"""A fact taken apart: its frame, its core, and what has to stand with it."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.facts.fact import ALLERGY, MEASURED, MEDICATION, STATED, parse_fact


@pytest.mark.parametrize(
    ("text", "frame", "core"),
    [
        ("sertraline 50 mg once daily", MEDICATION, "drug:sertraline"),
        ("no psychotropic medication", MEDICATION, "class:psychotropic"),
        ("penicillin allergy (anaphylaxis)", ALLERGY, "class:penicillin"),
        ("ibuprofen causes wheeze", ALLERGY, "drug:ibuprofen"),
        ("HbA1c 71 mmol/mol", MEASURED, "measure:hba1c"),
        ("severe asthma", STATED, "condition:severe asthma"),
        ("allergic rhinitis", STATED, "condition:allergic rhinitis"),
    ],
)
def test_frame_and_core(text: str, frame: str, core: str) -> None:
    """What kind of fact it is, and what it is about."""
    fact = parse_fact(text)
    assert fact.frame == frame
    assert fact.core.concept is not None
    assert fact.core.concept.id == core


def test_denied_past_ended_and_of_another() -> None:
    """A fact's own words say that it is not so, was so, was stopped, or is somebody else's."""
    assert parse_fact("no history of stroke").core.denied
    assert parse_fact("seizure in 2019").past
    assert parse_fact("clozapine stopped in 2019").ended
    assert parse_fact("mother has breast cancer").core.other
    plain = parse_fact("stroke")
    assert (plain.core.denied, plain.past, plain.ended, plain.core.other) == (False, False, False, False)


def test_quantities_of_a_fact() -> None:
    """Dose and interval make the regimen; a date stays a date."""
    fact = parse_fact("sertraline 50 mg twice daily")
    assert fact.regimen is not None
    assert [(a.value, a.unit.name if a.unit else "") for a in fact.regimen.strengths] == [(50, "mg")]
    assert fact.regimen.per_day == 2
    assert [(d.month, d.year) for d in parse_fact("gastrointestinal bleed in March 2022").dates] == [(3, 2022)]


def test_the_case_may_say_what_kind_it_is() -> None:
    """The same words as an allergy and without a kind."""
    assert parse_fact("latex", "allergy").frame == ALLERGY
    assert parse_fact("latex").frame == STATED


def test_a_circumstance_is_a_set_of_words() -> None:
    """Where no clinical name stands, the words are peers."""
    fact = parse_fact("cares for two grandchildren")
    assert fact.worded
    assert fact.core.concept is None
