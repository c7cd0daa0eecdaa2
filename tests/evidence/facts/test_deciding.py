"""How the places that speak of a fact decide its status, and what `certain` means."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import assess_retention
from pytest_clinical_drift.evidence.facts.outcome import decide
from pytest_clinical_drift.evidence.facts.statements import Said, Statement


def outcome(*said: str | Statement, unnamed: bool = False) -> tuple[str, bool]:
    statements = [s if isinstance(s, Statement) else Statement(s, ((i, i),), s, s) for i, s in enumerate(said)]
    decided = decide(statements, unnamed=unnamed)
    return decided.status, decided.certain


@pytest.mark.parametrize("beside", [Said.PART, Said.VAGUE, Said.TRACE, Said.OTHER, Said.DOUBT])
def test_a_plain_statement_stands(beside: str) -> None:
    """Nothing but a plain opposite touches it."""
    assert outcome(beside, Said.PLAIN) == outcome(Said.PLAIN, beside) == ("retained", True)


@pytest.mark.parametrize("against", [Said.CLASH, Said.DENIED])
def test_a_sure_opposite_makes_a_plain_statement_unclear(against: str) -> None:
    """It stays the likelier status; both places are quoted."""
    assert outcome(Said.PLAIN, against) == ("retained", False)
    assert decide([Statement(Said.PLAIN, ((0, 0),)), Statement(against, ((1, 1),))]).spans == ((0, 0), (1, 1))


@pytest.mark.parametrize("against", [Said.CLASH, Said.DENIED])
def test_a_doubtful_opposite_does_not(against: str) -> None:
    """Less than plain never counts against a plain statement, and alone contradicts without certainty."""
    doubtful = Statement(against, ((1, 1),), "", against, sure=False)
    assert outcome(Said.PLAIN, doubtful) == ("retained", True)
    assert outcome(doubtful) == ("contradicted", False)


def test_contradicted_needs_a_plain_opposite_and_no_plain_statement() -> None:
    """A denial beside part of the fact is unclear; another figure is not."""
    assert outcome(Said.CLASH) == outcome(Said.DENIED) == outcome(Said.CLASH, Said.PART) == ("contradicted", True)
    assert outcome(Said.DENIED, Said.PART) == ("contradicted", False)


@pytest.mark.parametrize(("said", "status"), [(Said.VAGUE, "partial"), (Said.TRACE, "absent"), (Said.DOUBT, "absent")])
def test_less_than_plain_is_unclear(said: str, status: str) -> None:
    """The likelier status, never certain."""
    assert outcome(said) == (status, False)


def test_only_of_someone_else() -> None:
    """Absent, for certain where every place plainly speaks of somebody else."""
    assert outcome(Said.OTHER, Said.OTHER) == ("absent", True)
    assert outcome(Said.OTHER, Said.DOUBT) == ("absent", False)
    assert outcome(Statement(Said.OTHER, ((0, 0),), sure=False)) == ("absent", False)


def test_no_word_of_it() -> None:
    """Certainly absent only where no word of the text can be the fact; what may be put in other words is unclear."""
    assert outcome(unnamed=True) == ("absent", True)
    assert outcome(unnamed=False) == ("absent", False)


@pytest.mark.parametrize(
    "owner", ["Landlady takes", "His sister-in-law is on", "A colleague takes", "Her lodger takes"]
)
def test_a_medicine_of_somebody_outside_the_family_is_not_the_patients(owner: str) -> None:
    """People a patient lives or works with own what is said of them."""
    found = assess_retention(f"{owner} sertraline 50 mg once daily.", ["sertraline 50 mg once daily"])[0]
    assert (found.status, found.rule) == ("absent", "someone-else")


def test_a_relative_near_scattered_words_of_a_fact_leaves_it_open() -> None:
    """ "Wife smokes in the house (fire risk with oxygen)" does not give her the patient's home oxygen."""
    found = assess_retention("Wife smokes in the house (fire risk with oxygen).", ["home oxygen at 2 L/min"])[0]
    assert not found.certain
