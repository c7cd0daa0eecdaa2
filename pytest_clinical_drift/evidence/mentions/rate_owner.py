"""Whether a frequency that stands in a medicine's sentence is the medicine's: "50 mg and weekly therapy" is not."""

from __future__ import annotations

from itertools import pairwise

from pytest_clinical_drift.evidence.quantities.amounts import Amount
from pytest_clinical_drift.evidence.quantities.frequencies import Frequency
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, word_set

_LIGHT = word_set("regimen", "light")
_AFTER = word_set("regimen", "after_rate")
_OF_OTHERS = word_set("regimen", "of_others")
_TAKEN = frozenset(("mass", "unit", "mole", "puff", "tablet", "drop"))
_LABELS = word_set("medication", "regimen_labels") | {"freq"}
_BREAKS = frozenset(";–")


def of_something_else(document: Document, before: int, rate: Frequency, own: list[Amount]) -> bool:
    """Whether a frequency after token `before` belongs to another activity, amount or finding."""
    if any(a.last + 1 == rate.first and not _may_be_taken(a) for a in own):
        return True  # "two litres daily", "30 minutes a day"
    between = document.words[before + 1 : rate.first]
    after = document.words[rate.last + 1] if _goes_on(document, rate.last + 1) else ""
    if not between:
        return document.gaps[rate.first] not in ("", "-", "/") and after in _OF_OTHERS
    if after.isalpha() and after not in _AFTER:
        return True  # "and weekly therapy": it says how often something else happens
    if stands_with(document, before, rate.first):
        return False
    broken = any(_breaks(document, token) for token in range(before + 1, rate.first + 1))
    return broken or "and" in between or "," in document.gaps[before + 1]


def _may_be_taken(amount: Amount) -> bool:
    if amount.unit is None:
        return True
    if amount.dimension == "volume":
        return amount.unit.name == "ml"
    return amount.dimension in _TAKEN or amount.dimension.startswith(("mass", "concentration"))


def _goes_on(document: Document, token: int) -> bool:
    return token < len(document) and document.gaps[token] in ("", "-")


def stands_with(document: Document, before: int, first: int) -> bool:
    """Whether nothing but light words, and what the medicine is for, stands between token `before` and `first`."""
    between = document.words[before + 1 : first]
    if "respectively" in between or any(word == "it" and before in _USES for before, word in pairwise(between)):
        return True  # "18 micrograms; he says he uses it …"
    inside = {
        token
        for term in term_index(document).between(CONDITION, before + 1, first)
        for token in range(term.first, term.last + 1)
    }
    purpose = False
    for token in range(before + 1, first):
        word = document.words[token]
        if _breaks(document, token):
            return False
        if word == "for":
            purpose = True
        elif purpose and (token in inside or word in ("and", "or", "her", "his", "their")):
            continue
        elif word in _LIGHT or word in _LABELS or word[:1].isdigit():
            purpose = False
        else:
            return False
    return not _breaks(document, first)


_USES = frozenset(("takes", "taking", "take", "took", "uses", "using", "use", "has", "have", "having", "gets"))


def _breaks(document: Document, token: int) -> bool:
    """Whether a new statement begins at a token; the label of a dose or a frequency begins none."""
    gap = document.gaps[token]
    if ":" in gap and document.words[token - 1] not in _LABELS:
        return True
    return not _BREAKS.isdisjoint(gap)
