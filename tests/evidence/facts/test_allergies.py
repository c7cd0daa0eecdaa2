"""Facts about allergies: the substance, its reaction, and what denies them."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import assess_retention

FACT = "penicillin allergy (anaphylaxis)"


def found(text: str, fact: str = FACT) -> tuple[str, bool]:
    retention = assess_retention(text, [fact])[0]
    return retention.status, retention.certain


@pytest.mark.parametrize(
    "text",
    [
        "Allergic to penicillin: anaphylaxis.",
        "History of anaphylaxis with penicillin in 2010.",
        "**Allergies:** penicillin, with anaphylaxis. Metronidazole isn't a penicillin.",
        "| Allergy | Reaction |\n|---|---|\n| Penicillin | anaphylaxis |",
        "Penicillin allergy (anaphylaxis). No other allergies. Her son has no allergies.",
    ],
)
def test_substance_and_reaction_are_plain(text: str) -> None:
    """In a sentence, under a label, in a table, in the past: an allergy stays."""
    assert found(text) == ("retained", True)


@pytest.mark.parametrize(
    "text",
    [
        "NKDA",
        "No known drug allergies.",
        "Allergies: none.",
        "She is not allergic to penicillin.",
    ],
)
def test_a_plain_denial_contradicts(text: str) -> None:
    """None known, not allergic, tolerated."""
    assert found(text) == ("contradicted", True)


@pytest.mark.parametrize("text", ["Allergies: none on record.\n\nPenicillin caused anaphylaxis: allergy."])
def test_a_denial_beside_the_statement_is_unclear(text: str) -> None:
    """Stated plainly and denied plainly: the statement stands, not for certain."""
    assert found(text) == ("retained", False)


def test_without_its_reaction_it_is_partial() -> None:
    """The reaction is an essential part."""
    assert found("Penicillin allergy.") == ("partial", True)


@pytest.mark.parametrize(
    "text",
    [
        "Her mother had anaphylaxis with penicillin.",
        "Takes penicillin V.",
        "Allergies: latex.",
        "Allergy status unknown.",
    ],
)
def test_what_is_not_this_allergy_does_not_retain_it(text: str) -> None:
    """Another person's, the medicine without an allergy, another allergen, nothing known."""
    assert found(text)[0] == "absent"


def test_an_allergy_given_to_somebody_else_is_lost_for_certain() -> None:
    """Whatever else is said of other people's use of it."""
    assert found("Her brother takes penicillin. Her sister has a penicillin allergy.") == ("absent", True)


def test_having_none_is_a_fact_of_its_own() -> None:
    """ "No known drug allergies" is stated by any blanket denial, and opposed by any allergy to a medicine."""
    fact = "no known drug allergies"
    for text in ("NKDA.", "Allergies: none.", "No known allergies."):
        assert found(text, fact) == ("retained", True)
    assert found("Allergic to penicillin.", fact)[0] == "contradicted"
    assert found("Allergies: not recorded.", fact)[0] == "absent"


def test_an_intolerance_is_stated_by_its_harm() -> None:
    """ "X caused Y" and "cannot take X: Y" say it; taking X does not."""
    fact = "ibuprofen intolerance (stomach bleed)"
    assert found("Ibuprofen caused a stomach bleed.", fact) == ("retained", True)
    assert found("Cannot take ibuprofen: stomach bleed", fact) == ("retained", True)
    assert found("Takes ibuprofen.", fact)[0] == "absent"


INTOLERANCE = "doxycycline intolerance with vomiting"


@pytest.mark.parametrize(
    ("fact", "beside"),
    [
        (INTOLERANCE, "Current medicines: Home oxygen, tiotropium, doxycycline."),
        (INTOLERANCE, "Current medications:\n- lisinopril 10 mg once daily\n- doxycycline 100 mg twice daily"),
        (INTOLERANCE, "Allergies and reactions: None."),
        (INTOLERANCE, "**Reactions:** None known."),
        (FACT, "Medicines: metformin 1 g twice daily and co-amoxiclav."),
        (FACT, "Allergies and Reactions: None noted."),
        (FACT, "| Allergies and intolerances | none |\n| Smoking | never |"),
    ],
)
def test_an_allergy_that_the_same_text_takes_back_is_unclear(fact: str, beside: str) -> None:
    """Its substance among the medicines, or "none" under a heading that speaks of it."""
    assert found(f"Known: {fact}.", fact) == ("retained", True)
    assert found(f"Known: {fact}.\n\n{beside}", fact) == ("retained", False)


@pytest.mark.parametrize(
    ("fact", "beside"),
    [
        (INTOLERANCE, "Allergies: none known."),
        (INTOLERANCE, "Medicines: tiotropium; clarithromycin in place of doxycycline."),
        (FACT, "Other allergies and reactions: none."),
        (FACT, "Food allergies: none."),
        ("egg allergy", "Drug allergies: none known."),
    ],
)
def test_what_denies_something_else_leaves_an_allergy_plain(fact: str, beside: str) -> None:
    """An intolerance is no allergy, a food no medicine, and what is replaced is not taken."""
    assert found(f"Known: {fact}.\n\n{beside}", fact) == ("retained", True)
