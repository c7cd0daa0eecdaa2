"""What was told up to a turn: the intake and the first messages, not those that follow."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.entities.extractors import Entity
from pytest_clinical_drift.evidence.entities.fabrication import Sources
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.lexicon import lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import Concept

TEXTS = (
    "Takes metformin 500 mg and has gout in the left foot.",
    "The chest pain is back. They want to raise the metformin to 1 g.",
    "I have NKDA on my card, and they gave me co-codamol 30/500. The right knee aches.",
)


@pytest.fixture(scope="module")
def sources() -> Sources:
    return Sources([read(text) for text in TEXTS])


def drug(name: str) -> Concept:
    return lexicon().concepts[f"drug:{name}"]


def first_with(answers: list[bool]) -> int | None:
    """The first of the growing lists of texts for which the answer is yes; from then on it stays yes."""
    first = answers.index(True) if True in answers else None
    assert answers == [first is not None and number >= first for number in range(len(answers))]
    return first


@pytest.mark.parametrize(
    ("text", "concept", "first"),
    [
        ("gout", "condition:gout", 0),
        ("chest pain", "condition:chest pain", 1),
        ("codeine", "drug:codeine", 2),
        ("lithium", "drug:lithium", None),
        ("left foot", "", 0),
        ("the right knee", "", 2),
        ("left knee", "", None),
        ("the", "", None),
    ],
)
def test_an_entity_is_told_from_its_first_text_on(sources: Sources, text: str, concept: str, first: int | None) -> None:
    """By name, as an ingredient, or by all its words in one text: left foot and right knee make no left knee."""
    entity = Entity(text, 0, len(text), "ENTITY", concept)
    assert first_with([sources.supports(entity, count) for count in (1, 2, 3)]) == first
    assert sources.supports(entity, 99) == (first is not None)


def test_broader_words_are_told_with_the_narrower_ones(sources: Sources) -> None:
    """Metformin is a biguanide: who names the drug has named the class."""
    assert all(sources.supports(Entity("x", 0, 1, "class", above), 1) for above in drug("metformin").ancestors)


def test_doses_told_of_a_medicine(sources: Sources) -> None:
    """500 mg by the intake, a planned 1 g by the next message; None for a medicine that nobody named."""
    values = [[dose.value for dose in sources.doses(drug("metformin"), count) or ()] for count in (1, 2)]
    assert values == [[500], [500, 1]]
    assert sources.doses(drug("lithium"), 3) is None


def test_a_clipped_name_before_a_number_is_a_mention() -> None:
    """ "Bisop 5 mg" names bisoprolol."""
    told = Sources([read("On bisop 5 mg.")])
    assert told.doses(drug("bisoprolol"), 1) is not None
    assert told.doses(drug("atenolol"), 1) is None


def test_allergies_are_spoken_of_by_an_abbreviation_too(sources: Sources) -> None:
    """NKDA stands in the third text."""
    assert first_with([sources.speaks_of_allergies(count) for count in (1, 2, 3)]) == 2
    assert not Sources([read("Gout.")]).speaks_of_allergies(99)


def test_words_that_were_said(sources: Sources) -> None:
    """A word counts from the text on in which it stands."""
    assert first_with([sources.says("card", count) for count in (0, 1, 2, 3)]) == 3
