"""Facts of two halves, one stated and one denied: "hears voices without commands", "low mood but no suicidal plans"."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from pytest_clinical_drift.evidence.facts.fact import parse_fact
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, WORD, word_set
from pytest_clinical_drift.evidence.text import Document, read

_SPLITTING = tuple(tuple(phrase.split()) for phrase in sorted(word_set("mixed", "splitting"), key=len, reverse=True))
# What follows "without" and says how something went, not what there was not: "tried without benefit".
_MANNER = word_set("mixed", "manner")


@lru_cache(maxsize=4096)
def halves(text: str) -> tuple[str, str] | None:
    """What a fact states and what it denies, each as a fact of its own; None for any other fact."""
    document = read(text)
    words = document.words
    for first in range(1, len(words) - 1):
        phrase = next((p for p in _SPLITTING if tuple(words[first : first + len(p)]) == p), None)
        if phrase is None and words[first] in ("no", "not", "never") and "," in document.gaps[first]:
            phrase = (words[first],)  # "last seizure in May, not driving"
        if phrase is None:
            continue
        after = first + len(phrase)
        if after >= len(words) or words[after] in _MANNER or _names_across(document, first, after):
            return None
        stated, denied = document.raw[: document.ends[first - 1]], "no " + document.raw[document.starts[after] :]
        one, other = parse_fact(stated), parse_fact(denied)
        plain = not one.negative and one.kind in ("diagnosis", "social", "family") and bool(one.conditions or one.words)
        return (stated, denied) if plain and other.kind == "negative" else None
    return None


def _names_across(document: Document, first: int, after: int) -> bool:
    """ "migraine without aura" is one name."""
    index = term_index(document)
    return any(t.first < first and t.last >= after for kind in (CONDITION, WORD) for t in index.between(kind, 0, first))


def assess_halves(stated: Outcome, denied: Outcome) -> Outcome:
    """The status of both halves together."""
    evidence = (*stated.evidence, *denied.evidence)
    for half in (stated, denied):
        if half.status == CONTRADICTED:
            return half
    if stated.status == ABSENT and denied.status == ABSENT:
        return NOTHING
    if stated.status == RETAINED and denied.status == RETAINED:
        return Outcome(RETAINED, evidence)
    missing = next((half.reason for half in (stated, denied) if half.status == PARTIAL), "")
    return Outcome(PARTIAL, evidence, missing or "only one of its two parts is stated")


def assess_mixed(text: str, assess: Callable[[str], Outcome]) -> Outcome | None:
    """The status of a fact of two halves, each assessed by itself; None for any other fact."""
    parted = halves(text)
    return None if parted is None else assess_halves(assess(parted[0]), assess(parted[1]))
