"""Finding vocabulary terms: brands, abbreviations, spelling, plurals, nested and ambiguous terms."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.terms.lexicon import find_terms, ids_above, lexicon
from pytest_clinical_drift.evidence.terms.words import fold


def ids(text: str) -> set[str]:
    return {term.concept.id for term in find_terms(text)}


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("on Zoloft", "drug:sertraline"),
        ("takes SERTRALINE", "drug:sertraline"),
        ("acetaminophen", "drug:paracetamol"),
        ("MTX 15 mg", "drug:methotrexate"),
        ("two SSRIs", "class:ssri"),
        ("a blood thinner", "class:anticoagulant"),
        ("has ADHD", "condition:attention deficit hyperactivity disorder"),
        ("attention-deficit/hyperactivity disorder", "condition:attention deficit hyperactivity disorder"),
        ("PTSD", "condition:post-traumatic stress disorder"),
        ("OCD", "condition:obsessive-compulsive disorder"),
        ("a heart attack", "condition:myocardial infarction"),
        ("anemia", "condition:anaemia"),
        ("Crohn’s disease", "condition:crohn's disease"),
        ("**panic** disorders", "condition:panic disorder"),
        ("HbA1c", "measure:hba1c"),
    ],
)
def test_wordings_meet_their_concept(text: str, concept: str) -> None:
    """Brand, abbreviation, lay name, capitals, plural, spelling, hyphens and emphasis do not hide a term."""
    assert concept in ids(text)


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Ms Smith came along.", "condition:multiple sclerosis"),
        ("She began to panic. Disorder reigned.", "condition:panic disorder"),
        ("Her coursework is late.", "word:work"),
        ("The fracture is unstable.", "qualifier:course=stable"),
        ("He is aspiring to more.", "drug:aspirin"),
        ("We met in the morning.", "drug:metformin"),
    ],
)
def test_look_alikes_name_nothing(text: str, concept: str) -> None:
    """A part of a word, a title, two halves in two sentences or a word with the same beginning is no term."""
    assert concept not in ids(text)


def test_longest_term_wins() -> None:
    """Of nested conditions only the longest is found; a drug inside an allergy stays visible."""
    found = ids("type 2 diabetes and a penicillin allergy")
    assert "condition:type 2 diabetes" in found
    assert "condition:diabetes" not in found
    assert {"condition:penicillin allergy", "class:penicillin"} <= found


def test_class_membership_goes_through_parents_and_combinations() -> None:
    """Amoxicillin is a penicillin and an antibiotic; co-amoxiclav contains it."""
    known = lexicon().concepts
    assert {"class:antibiotic", "class:penicillin"} <= ids_above(known["drug:amoxicillin"])
    assert "drug:amoxicillin" in ids_above(known["drug:co-amoxiclav"])


def test_unknown_names() -> None:
    """What the vocabulary lacks is not found."""
    assert find_terms("nonexistol and nonexistols") == []
    assert find_terms("") == []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("tumours", "tumor"),
        ("behavioural", "behavioral"),
        ("oesophageal", "esophageal"),
        ("stabilised", "stabilized"),
        ("allergies", "allergy"),
        ("headaches", "headache"),
    ],
)
def test_fold_brings_spellings_together(left: str, right: str) -> None:
    """British and American, singular and plural."""
    assert fold(left) == fold(right)


def test_fold_keeps_different_words_apart() -> None:
    """Mourning is not the morning."""
    assert fold("mourning") != fold("morning")
