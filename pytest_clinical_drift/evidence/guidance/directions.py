"""Whether a short text wants more or less of the one medicine it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice import advice_of, document_of
from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.objects import mentions_of
from pytest_clinical_drift.evidence.guidance.patterns import Pattern, patterns, spaced
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import view_of
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_WAYS = {"more": 1, "less": -1}
_DOSED = ("drug", "class", "treatment")
_NEGATIONS = frozenset(["not", "never", "no"])


@dataclass(frozen=True, slots=True)
class Direction:
    """More (+1) or less (-1) of what a text names, 0 where it says neither or both."""

    way: int
    quote: str
    things: frozenset[str]
    conditional: bool


@lru_cache(maxsize=1)
def _rows() -> dict[str, tuple[Pattern, ...]]:
    data: Mapping[str, Sequence[str]] = load_data("directions")
    return {name: patterns(data[name]) for name in _WAYS}


@lru_cache(maxsize=512)
def direction_of(text: str) -> Direction:
    """Which way a text moves the dose: by its directives, else by its words."""
    document = document_of(text)
    if not document.words:
        return Direction(0, "", frozenset(), False)
    view = view_of(document)
    mentions = mentions_of(view)
    things = frozenset(mention.id for mention in mentions if mention.kind in _DOSED)
    told = {_way(advice.effect, advice.polarity) for advice in advice_of(text) if advice.effect in _WAYS} - {0}
    found: dict[int, tuple[str, bool]] = {}
    for sentence in sentences_of(view, mentions):
        way = _worded(sentence)
        if way and not sentence.question:
            quote = document.quote(view.origin[sentence.first], view.origin[sentence.end - 1])
            conditional = any(limit.kind in ("if", "stage") for limit in sentence.limits)
            if way not in found or (found[way][1] and not conditional):
                found[way] = quote, conditional
    ways = told if len(told) == 1 else set(found)
    if len(ways) != 1 or sum(name.startswith("drug:") for name in things) > 1:
        # with several medicines, which one goes up is left to their directives
        return Direction(0, "", things, False)
    (way,) = ways
    quote, conditional = found.get(way, (text, False))
    return Direction(way, quote, things, conditional)


def _way(effect: str, polarity: str) -> int:
    return _WAYS[effect] if polarity == "do" else -_WAYS[effect] if polarity == "don't" else 0


def _worded(sentence: Sentence) -> int:
    words = sentence.view.words[sentence.first : sentence.end]
    joined = spaced(words)
    ways: set[int] = set()
    for name, rows in _rows().items():
        for first, _ in (place for row in rows for place in row.places(joined)):
            negated = not _NEGATIONS.isdisjoint(joined[:first].split()[-3:])
            ways.add(-_WAYS[name] if negated else _WAYS[name])
    return next(iter(ways)) if len(ways) == 1 else 0
