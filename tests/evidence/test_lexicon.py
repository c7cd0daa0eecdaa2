"""Finding vocabulary terms: brands, abbreviations, spelling, slips of the keyboard, readings of ambiguous terms."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.lexicon import find_terms, fold, lexicon
from pytest_clinical_drift.evidence.reading.typos import TypoIndex, distance
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.text import read


def ids(text: str) -> set[str]:
    return {term.concept.id for term in find_terms(text)}


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("on Zoloft", "drug:sertraline"),
        ("takes SERTRALINE", "drug:sertraline"),
        ("an SSRI", "class:ssri"),
        ("two SSRIs", "class:ssri"),
        ("has ADHD", "condition:attention deficit hyperactivity disorder"),
        ("attention-deficit/hyperactivity disorder", "condition:attention deficit hyperactivity disorder"),
        ("anemia", "condition:anaemia"),
        ("anaemia", "condition:anaemia"),
        ("Crohns disease", "condition:crohn's disease"),
        ("Crohn’s disease", "condition:crohn's disease"),
        ("**panic** disorder", "condition:panic disorder"),
        ("panic disorders", "condition:panic disorder"),
        ("MDD, recurrent", "condition:recurrent depressive disorder"),
        ("HbA1c", "measure:hba1c"),
        ("sertralina", "drug:sertraline"),
    ],
)
def test_wordings_meet_their_concept(text: str, concept: str) -> None:
    """Brand, capitals, plural, spelling, hyphens and emphasis do not hide a term."""
    assert concept in ids(text)


def test_abbreviations_need_their_capitals() -> None:
    """Ms Smith does not have multiple sclerosis."""
    assert not any("sclerosis" in concept for concept in ids("Ms Smith came along."))


def test_terms_do_not_cross_sentences() -> None:
    """The end of a sentence ends a term."""
    assert "condition:panic disorder" not in ids("She began to panic. Disorder reigned.")


def test_longest_term_wins() -> None:
    """Of nested conditions only the longest is found; a drug inside an allergy stays visible."""
    found = ids("type 2 diabetes and a penicillin allergy")
    assert "condition:type 2 diabetes" in found
    assert "condition:diabetes mellitus" not in found
    assert {"condition:penicillin allergy", "class:penicillin"} <= found


@pytest.mark.parametrize(
    ("wrong", "right"), [("sertralne", "sertraline"), ("metfornin", "metformin"), ("citalpram", "citalopram")]
)
def test_light_slips_are_corrected(wrong: str, right: str) -> None:
    """One wrong, missing or extra letter in a long word."""
    assert f"drug:{right}" in ids(f"takes {wrong} daily")


@pytest.mark.parametrize("text", ["clobazam", "clonazepam", "prednisone", "prednisolone", "hydroxyzine", "hydralazine"])
def test_no_slip_reaches_another_entry(text: str) -> None:
    """A word of the vocabulary is never taken for another one."""
    drug = lexicon().drug(text)
    assert drug is not None
    assert {term.concept.id for term in find_terms(text) if term.concept.kind == "drug"} == {drug.id}


def test_two_equally_near_words_are_left_alone() -> None:
    """A slip between two entries is no evidence for either."""
    index = TypoIndex(["cefalexin", "cefaloxin"])
    assert index.nearest("cefalaxin") is None
    assert index.nearest("cefalexn") == "cefalexin"


def test_endings_are_not_slips() -> None:
    """An everyday word that begins like a medical one stays what it is."""
    assert TypoIndex(["aspirin"]).nearest("aspiring") is None


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "abcde", 2), ("abc", "xyz", 3)],
)
def test_distance(left: str, right: str, expected: int) -> None:
    """Insertions, deletions, substitutions and swaps; more than the limit counts as one more than it."""
    assert distance(left, right) == expected


def test_class_membership_goes_through_parents_and_combinations() -> None:
    """Amoxicillin is a penicillin and an antibiotic; co-amoxiclav contains it."""
    known = lexicon()
    amoxicillin, combined = known.drug("amoxicillin"), known.drug("co-amoxiclav")
    assert amoxicillin is not None
    assert combined is not None
    assert known.is_a(amoxicillin, "class:penicillin")
    assert known.is_a(amoxicillin, "class:antibiotic")
    assert known.is_a(combined, "drug:amoxicillin")
    assert known.is_a(combined, "class:penicillin")
    assert not known.is_a(amoxicillin, "class:macrolide")
    assert amoxicillin in known.members("class:penicillin")


def test_unknown_names() -> None:
    """What the vocabulary lacks is not found."""
    assert lexicon().drug("nonexistol") is None
    assert lexicon().drug_class("nonexistols") is None
    assert lexicon().lookup("") == []


@pytest.mark.parametrize(
    ("text", "present", "missing"),
    [
        ("MS on natalizumab", "condition:multiple sclerosis", "condition:mitral stenosis"),
        ("Rheumatic valve disease with MS and a murmur", "condition:mitral stenosis", "condition:multiple sclerosis"),
    ],
)
def test_ambiguous_terms_take_the_supported_reading(text: str, present: str, missing: str) -> None:
    """The rest of the text decides between readings."""
    index = term_index(read(text))
    assert index.exact.get(present)
    assert not index.exact.get(missing)


def test_second_name_in_brackets_is_one_mention() -> None:
    """A name and its abbreviation in brackets are not two mentions."""
    document = read("Generalised anxiety disorder (GAD) was ruled out.")
    [mention] = term_index(document).exact["condition:generalised anxiety disorder"]
    assert document.quote(mention.first, mention.last) == "Generalised anxiety disorder (GAD"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("tumours", "tumor"),
        ("behavioural", "behavioral"),
        ("oesophageal", "esophageal"),
        ("stabilised", "stabilized"),
        ("allergies", "allergy"),
    ],
)
def test_fold_brings_spellings_together(left: str, right: str) -> None:
    """British and American, singular and plural."""
    assert fold(left) == fold(right)


def test_fold_keeps_different_words_apart() -> None:
    """Mourning is not the morning."""
    assert fold("mourning") != fold("morning")
