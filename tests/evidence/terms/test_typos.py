"""Slips of the keyboard: one wrong letter in a long word is forgiven, and never turns one thing into another."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.evidence.terms.lexicon import find_terms
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, all_forms, load_vocabulary
from pytest_clinical_drift.evidence.terms.words import TypoIndex, fold


@lru_cache(maxsize=1)
def single_names() -> tuple[str, ...]:
    return tuple(e["name"] for e in load_vocabulary("drugs") if e["name"].isalpha() and len(e["name"]) >= 8)


@lru_cache(maxsize=1)
def drug_names() -> dict[str, set[str]]:
    """Every wording of a medicine, folded, and what it names."""
    names: dict[str, set[str]] = {}
    for form in all_forms():
        if form.concept.kind == DRUG:
            names.setdefault(fold(form.text.lower()), set()).add(form.concept.name)
    return names


def drugs(text: str) -> set[str]:
    return {term.concept.name for term in find_terms(text) if term.concept.kind == DRUG}


@settings(max_examples=150)
@given(st.data())
def test_a_slip_is_the_name_or_nothing_or_another_name_in_full(data: st.DataObject) -> None:
    """Whatever letter is dropped or changed, the word means its drug, nothing, or a drug spelled exactly like that."""
    name = data.draw(st.sampled_from(single_names()))
    place = data.draw(st.integers(1, len(name) - 2))
    put = data.draw(st.sampled_from(["", *"aeioumnrst"]))
    slip = name[:place] + put + name[place + 1 :]
    assert drugs(f"takes {slip} daily") <= (drug_names().get(fold(slip)) or {name})


@pytest.mark.parametrize("word", ["sertralne", "metfornin", "citalpram"])
def test_light_slips_are_forgiven(word: str) -> None:
    """One wrong, missing or extra letter in a long name still names the medicine."""
    assert drugs(f"takes {word} daily")


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("clobazam 10 mg at night", "Takes clonazepam 10 mg at night."),
        ("prednisolone 5 mg daily", "Takes prednisone 5 mg daily."),
        ("hydroxyzine 25 mg at night", "Takes hydralazine 25 mg at night."),
        ("carbimazole 20 mg daily", "Takes carbamazepine 20 mg daily."),
        ("hypothyroidism", "She has hyperthyroidism."),
    ],
)
def test_no_slip_reaches_another_entry(fact: str, text: str) -> None:
    """A name of the vocabulary is never taken for its look-alike."""
    assert assess_retention(text, [fact])[0].status not in ("retained", "partial")


@pytest.mark.parametrize("wrong", ["501 mg", "5O mg", "05 mg", "500 mg", "5.0 mg", "60 mg", "50 g", "50 micrograms"])
def test_no_slip_touches_a_number(wrong: str) -> None:
    """A figure or unit with one more, one less or another sign is another figure."""
    assert assess_retention(f"Takes sertraline {wrong} daily.", ["sertraline 50 mg daily"])[0].status != "retained"


def test_two_equally_near_words_are_left_alone() -> None:
    """A slip between two entries is no evidence for either."""
    index = TypoIndex(["cefalexin", "cefaloxin"])
    assert index.nearest("cefalaxin") is None
    assert index.nearest("cefalexn") == "cefalexin"


def test_endings_are_not_slips() -> None:
    """An everyday word that begins like a medical one stays what it is."""
    assert TypoIndex(["aspirin"]).nearest("aspiring") is None
