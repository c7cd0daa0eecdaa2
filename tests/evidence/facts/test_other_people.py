"""Values of other people in a summary: rules are not sure of them, and stay sure of the patient's own."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import assess_retention

PATIENT = "Ada Holm, 58, takes lithium carbonate 800 mg once nightly."


@pytest.mark.parametrize(
    "passage",
    [
        "Rune Berg's blood results show potassium 4.9 mmol/L. The eGFR is 57 mL/min.",
        "Rune Berg has bad kidneys.\n\nIda Moen: eGFR 57 mL/min.",
        "- Rune Berg is a neighbour. eGFR 57 mL/min.",
    ],
)
def test_a_value_in_a_passage_about_another_person_contradicts_nothing_for_certain(passage: str) -> None:
    (found,) = assess_retention(f"{PATIENT}\n\n{passage}", ["eGFR 52 mL/min"])
    assert (found.status, found.certain) == ("contradicted", False)


def test_the_patients_own_lines_stay_certain() -> None:
    """Before the other person, after the patient's name returns, and under headings."""
    other = "Rune Berg's eGFR is 90 mL/min."
    for summary in (
        f"{PATIENT} Her eGFR is 57 mL/min.\n\nRune Berg is a neighbour.",
        f"{PATIENT}\n\nRune Berg is a neighbour.\n\nAda Holm has an eGFR of 57 mL/min.",
        f"{PATIENT}\n\nKey Measurements: eGFR 57 mL/min",
    ):
        (found,) = assess_retention(summary, ["eGFR 52 mL/min"])
        assert (found.status, found.certain) == ("contradicted", True), summary
    assert not assess_retention(f"{PATIENT}\n\n{other}", ["eGFR 52 mL/min"])[0].certain


def test_an_item_of_a_list_behind_a_relative_is_open() -> None:
    """Whose it is cannot be told from the words; a plain sentence about the relative can."""
    listed = "Long QT syndrome, sister died suddenly at nineteen, no asthma, vegan."
    assert not assess_retention(listed, ["no asthma"])[0].certain
    (found,) = assess_retention("Her sister takes nadolol 80 mg once daily.", ["nadolol 80 mg once daily"])
    assert (found.status, found.certain) == ("absent", True)


SMOKING = "stopped smoking on Sunday"


@pytest.mark.parametrize(
    "summary",
    [
        "Diagnoses: Everton Ambrose has treatment-resistant schizophrenia.\n"
        "Changes since conversation: Jarek stopped smoking completely on Sunday night, no patches needed.",
        "Everton Ambrose is a groundsman. Jarek has stopped smoking, on Sunday.",
        "Everton has a cold.\n- Ngozi stopped smoking on Sunday.",
    ],
)
def test_what_is_told_of_another_named_person_is_not_plainly_the_patients(summary: str) -> None:
    """The first name of a summary is the patient's; a sentence with another one as its subject is open."""
    (found,) = assess_retention(summary, [SMOKING])
    assert (found.status, found.certain) == ("retained", False)


@pytest.mark.parametrize(
    ("summary", "fact"),
    [
        ("Everton Ambrose is a groundsman. Everton stopped smoking on Sunday.", SMOKING),
        ("Everton Ambrose is a groundsman. Ambrose stopped smoking on Sunday.", SMOKING),
        ("**Handover Summary**\n\n**Diagnoses:** Everton has a cold. Everton stopped smoking on Sunday.", SMOKING),
        ("Everton Ambrose has a cold. Jarek says that he stopped smoking on Sunday.", SMOKING),
        ("Wilf Ackroyd has a wife, Maureen. Maureen smokes in the house.", "Maureen smokes in the house"),
    ],
)
def test_the_patients_own_name_and_whoever_reports_leave_a_fact_plain(summary: str, fact: str) -> None:
    (found,) = assess_retention(summary, [fact])
    assert (found.status, found.certain) == ("retained", True)
