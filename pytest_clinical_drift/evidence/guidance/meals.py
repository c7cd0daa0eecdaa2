"""How a short text wants something to be taken, or a test to be come to: with food or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice import document_of
from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.objects import mentions_of
from pytest_clinical_drift.evidence.guidance.patterns import Pattern, patterns, spaced
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import listed, view_of
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_ORDER = ("either", "without", "with")
_OPENING = 5
_TAKEN = ("drug", "class", "test", "treatment", "condition")


@dataclass(frozen=True, slots=True)
class Meals:
    """What a text says of eating, and the medicines and tests it names."""

    relation: str | None
    """with, without, either; None where it says nothing, or several things."""
    quote: str
    things: frozenset[str]


@lru_cache(maxsize=1)
def _rows() -> dict[str, tuple[Pattern, ...]]:
    data: Mapping[str, Sequence[str]] = load_data("meals")
    return {name: patterns(data[name]) for name in _ORDER}


@lru_cache(maxsize=512)
def meals_of(text: str) -> Meals:
    """What a text says of eating."""
    document = document_of(text)
    if not document.words:
        return Meals(None, "", frozenset())
    view = view_of(document)
    mentions = mentions_of(view)
    found: dict[str, str] = {}
    for sentence in sentences_of(view, mentions):
        if _of_another_stage(sentence):
            continue
        for relation in _relations(spaced(view.words[sentence.first : sentence.end])):
            quote = document.quote(view.origin[sentence.first], view.origin[sentence.end - 1])
            found.setdefault(relation, quote)
    things = frozenset(mention.id for mention in mentions if mention.kind in _TAKEN)
    if len(found) != 1:
        return Meals(None, "", things)
    return Meals(*next(iter(found.items())), things)


def meal_in(sentence: Sentence) -> str | None:
    """What one sentence of any text says of eating; None where it says nothing, or several things."""
    words = sentence.view.words[sentence.first : sentence.end]
    if sentence.question or (listed("meals").isdisjoint(words) and "stomach" not in words):
        return None
    found = set() if _of_another_stage(sentence) else _relations(spaced(words))
    return next(iter(found)) if len(found) == 1 else None


def _of_another_stage(sentence: Sentence) -> bool:
    """ "Once the scan is over, …", "On a sick day, …": not how the thing is taken as a rule."""
    words = sentence.view.words
    opening = words[sentence.first : sentence.first + _OPENING]
    if opening[0] in ("after", "once", "following", "afterwards") and listed("meals").isdisjoint(opening):
        return True
    return any(
        limit.kind in ("if", "stage")
        and limit.first <= sentence.first + 1
        and (limit.kind == "if" or listed("meals").isdisjoint(words[limit.first : limit.end]))
        for limit in sentence.limits
    )


def _relations(joined: str) -> set[str]:
    found = set()
    for name in _ORDER:
        for row in _rows()[name]:
            for first, end in row.places(joined):
                found.add(name)
                joined = joined[:first] + "".join(" " if c == " " else "_" for c in joined[first:end]) + joined[end:]
    return found
