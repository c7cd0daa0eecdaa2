"""What was told up to a turn, looked up in tables that were filled once."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.entities.extractors import Entity, is_supported, load_extractor
from pytest_clinical_drift.evidence.entities.sources import Sources, Told
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
    concept = lexicon().drug(name)
    assert concept is not None
    return concept


def turns_that(answers: list[bool]) -> int | None:
    """The first of the growing lists of texts for which the answer is yes; from then on it stays yes."""
    first = answers.index(True) if True in answers else None
    assert answers == [first is not None and number >= first for number in range(len(answers))]
    return first


@pytest.mark.parametrize(
    ("concept_id", "first"),
    [("condition:gout", 0), ("drug:metformin", 0), ("condition:chest pain", 1), ("drug:codeine", 2), ("drug:x", None)],
)
def test_a_concept_is_named_from_its_first_text_on(sources: Sources, concept_id: str, first: int | None) -> None:
    """Named itself or as an ingredient of a combination."""
    assert turns_that([Told(sources, count).names(concept_id) for count in (1, 2, 3)]) == first


def test_broader_words_are_told_with_the_narrower_ones(sources: Sources) -> None:
    """Metformin is a biguanide: who names the drug has named the class."""
    above = next(iter(drug("metformin").ancestors))
    assert Told(sources, 1).names(above)


@pytest.mark.parametrize(
    ("text", "first"),
    [("left foot", 0), ("the right knee", 2), ("left knee", None), ("the", None)],
)
def test_words_count_only_when_one_text_holds_all_of_them(sources: Sources, text: str, first: int | None) -> None:
    """The left foot and the right knee make no left knee; a span of light words alone is never supported."""
    entity = Entity(text, 0, len(text), "ENTITY", "")
    assert turns_that([Told(sources, count).supports(entity) for count in (1, 2, 3)]) == first


def test_support_is_that_of_the_single_texts() -> None:
    """The tables say what comparing an entity with text after text says."""
    entities = load_extractor().extract(["Gout, chest pain, angina, metformin 1 g, codeine, asthma and a sore knee."])[
        0
    ]
    documents = [read(text) for text in TEXTS]
    sources = Sources(documents)
    for count in range(4):
        told = Told(sources, count)
        expected = [any(is_supported(entity, document) for document in documents[:count]) for entity in entities]
        assert [told.supports(entity) for entity in entities] == expected


def test_doses_told_of_a_medicine(sources: Sources) -> None:
    """500 mg by the intake, a planned 1 g by the next message; None for a medicine that nobody named."""
    values = [[dose.value for dose in Told(sources, count).doses(drug("metformin")) or ()] for count in (1, 2)]
    assert values == [[500], [500, 1]]
    assert Told(sources, 3).doses(drug("lithium")) is None


def test_a_clipped_name_before_a_number_is_a_mention() -> None:
    """ "Bisop 5 mg" names bisoprolol."""
    told = Told(Sources([read("On bisop 5 mg.")]), 1)
    assert told.mentions(drug("bisoprolol"))
    assert not told.mentions(drug("atenolol"))


def test_allergies_are_spoken_of_by_an_abbreviation_too(sources: Sources) -> None:
    """NKDA stands in the third text."""
    assert turns_that([Told(sources, count).speaks_of_allergies() for count in (1, 2, 3)]) == 2


def test_a_count_beyond_the_texts_adds_nothing(sources: Sources) -> None:
    """What nobody told stays untold, however late the summary is."""
    late = Told(sources, 99)
    assert not late.names("drug:lithium")
    assert not late.says("lithium")
    assert not late.mentions(drug("lithium"))
    assert not late.supports(Entity("lithium", 0, 7, "drug", "drug:lithium"))
    assert not Told(Sources([read("Gout.")]), 99).speaks_of_allergies()


def test_nothing_told() -> None:
    """Without any text nothing is supported."""
    assert not Told(Sources([]), 0).names("condition:gout")
