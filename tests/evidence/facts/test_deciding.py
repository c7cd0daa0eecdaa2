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


@pytest.mark.parametrize(
    ("text", "fact", "status", "certain"),
    [
        # a strength with a decimal is no date
        ("Co-careldopa 25/100 three times a day.", "co-careldopa 12.5/50 three times a day", "contradicted", True),
        ("Appendicectomy, pain 7.5/10 since.", "appendicectomy in 2010", "partial", True),
        # nor are three doses
        ("Hydrocortisone 20/10/10 mg", "hydrocortisone 10/5/5 mg", "contradicted", True),
        ("Hydrocortisone 15/5/5 mg", "hydrocortisone 10/5/5 mg", "contradicted", True),
        ("Hydrocortisone 10/5/5 mg", "hydrocortisone 10/5/5 mg", "retained", True),
        # medicines in a row without commas keep their own doses
        ("Metformin 1 g BD ramipril 10 mg OD atorvastatin 40 mg nocte", "metformin 1 g BD", "retained", True),
        ("Apixaban 2.5mg bd Bisoprolol 2.5mg od", "apixaban 5 mg BD", "contradicted", True),
        # a plan that is denied leaves the dose that is taken
        ("Lithium: no plan to reduce, 800 mg nocte.", "lithium 800 mg at night", "retained", True),
        ("Apixaban (no plan to stop) 5 mg BD", "apixaban 5 mg BD", "retained", True),
        # a change that is over is no ending
        ("Lamotrigine 150 mg daily (up from 100 mg, completed in May).", "lamotrigine 150 mg daily", "retained", True),
        # a slashed abbreviation at the start of a text
        ("Catheterised. U/O 30 ml/hour.", "U/O 30 ml/hour", "retained", True),
        ("U/S abdomen showed gallstones", "U/S abdomen showed gallstones", "retained", True),
        # the same count in thousands
        ("WCC 13,200", "white cell count 13.2 x10^9/L", "contradicted", False),
        # another patient's result and denial, named at the start of a line
        ("Margaret Okafor has CKD.\nPercy Wainwright's blood results: eGFR 57", "eGFR 38", "contradicted", False),
        (
            "Margaret Okafor has gout.\nWill Banks has no penicillin allergy.",
            "penicillin allergy",
            "contradicted",
            False,
        ),
        ("Tamsin Hale, 29. Midwife Ruth. BP 148/94 mmHg.", "blood pressure 124/78 mmHg", "contradicted", True),
        # units that agree as far as they are written
        ("Hb 13.1 g/dL", "haemoglobin 132 g/L", "contradicted", True),
        ("Height 172 cm", "height 1.7 m", "retained", True),
        # answers behind a name
        ("Warfarin: no. Aspirin: yes.", "warfarin 5 mg", "contradicted", True),
        ("Gout: no", "gout", "contradicted", True),
        ("No spleen removed in 2009.", "spleen removed in 2009", "contradicted", True),
        # a denial of one thing, and the fact in other words
        ("No UC flare. Colitis (ulcerative) since 2012.", "ulcerative colitis since 2012", "retained", True),
    ],
)
def test_words_that_are_easily_read_as_something_else(text: str, fact: str, status: str, certain: bool) -> None:
    """Each was read otherwise by a simpler rule."""
    found = assess_retention(text + "\n\nThis was written by the nurse.", [fact])[0]
    assert (found.status, found.certain) == (status, certain)
