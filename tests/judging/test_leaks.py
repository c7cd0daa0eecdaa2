"""Texts that name another case's patient, found over the whole set."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.cases.files import load_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.judging.for_reviewers import find_leaks, names_of
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript


def case(case_id: str, persona: str, summary: str, message: str = "Hello.") -> Case:
    return Case.model_validate(
        {
            "id": case_id,
            "persona_id": persona,
            "patient_summary": summary,
            "critical_entities": ["gout"],
            "turns": [{"turn": 1, "message": message}, {"turn": 2, "message": "Thanks."}],
        }
    )


ANN = case("ann-1", "ann-lee", "Ann Lee has gout.")
ANN_AGAIN = case("ann-2", "ann-lee", "Ann Lee has gout and a cold.")
BEN = case("ben-1", "ben-de-wit", "Ben de Wit, 70, has gout.")
NAMELESS = case("ward-4", "ward-four", "A man of 60 has gout.")
NAMES = names_of([ANN, ANN_AGAIN, BEN, NAMELESS])


def leaks(reply: str, summary: str = "Gout.", of: Case = ANN) -> list[tuple[int, str, str]]:
    talk = Transcript(
        of.id,
        (Exchange(1, "Hello.", Reply("Thank you."), Reply("Gout.")), Exchange(2, "x", Reply(reply), Reply(summary))),
    )
    return list(find_leaks(of, talk, NAMES))


def test_names_are_those_that_the_intake_gives() -> None:
    assert NAMES == {"ann-1": "Ann Lee", "ann-2": "Ann Lee", "ben-1": "Ben de Wit"}
    assert names_of([case("x", "ann", "Ann has gout.")]) == {}


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("As Ben de Wit knows, rest helps.", "Ben de Wit"),
        ("BEN DE WIT should rest.", "BEN DE WIT"),
        ("Write to Ben\nde Wit.", "Ben\nde Wit"),
    ],
)
def test_another_patients_full_name_is_a_leak(text: str, quote: str) -> None:
    """In a reply as in a summary, each once per text."""
    assert leaks(text) == [(2, "dialogue", quote)]
    assert leaks("Rest.", f"{text} {text}") == [(2, "summary", quote)]


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee should rest.",
        "Ben should rest.",
        "Ruben de Wit helps.",
        "Ben de Witt helps.",
        "<think>Ben de Wit?</think>Rest.",
    ],
)
def test_what_is_no_leak(text: str) -> None:
    """Her own name, a first name, another name that contains it, hidden reasoning."""
    assert leaks(text) == []


def test_letters_of_another_alphabet_do_not_stop_the_search() -> None:
    """A dotless i is an i where case is ignored, and still no key of anything."""
    assert leaks("Ben de W\u0131t should rest.") == [(2, "dialogue", "Ben de W\u0131t")]


def test_a_name_that_the_patient_gave_is_no_leak() -> None:
    """She may have a friend of that name."""
    friend = case("eve-1", "eve-roe", "Eve Roe has gout.", "Ben de Wit is my neighbour.")
    assert leaks("Ask Ben de Wit to help.", of=friend) == []
    assert leaks("Ask Ann Lee to help.", of=friend) == [(2, "dialogue", "Ann Lee")]


def test_most_of_the_bundled_patients_have_a_name() -> None:
    """Otherwise the rule would look for nothing."""
    cases = load_cases(bundled("cases", "study_c"))
    assert len(names_of(cases)) >= 0.8 * len(cases)
