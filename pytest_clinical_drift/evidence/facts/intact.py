"""Absences that a text states without naming what is absent: "weight steady", "afebrile", "bowels normal"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.terms.index import places_in
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set
from pytest_clinical_drift.evidence.text import NUMBER, Document, tokenise

_BEFORE, _AFTER = 2, 9  # tokens around a function within which its state is told
_DENIALS = word_set("condition", "denials")
_WORSE = word_set("intact", "worse")
_GOING_ON = frozenset(("both", "which", "all", "and", "or"))


@dataclass(frozen=True, slots=True)
class _Absence:
    """How the absence of one thing may be put."""

    phrases: dict[str, dict[str, tuple[tuple[str, ...], ...]]]
    """Word sequences that say it outright, by their first and second word."""
    subjects: tuple[str, ...]
    states: frozenset[str]


@lru_cache(maxsize=1)
def _absences() -> dict[str, _Absence]:
    data = load_data("absences")
    states = {name: frozenset(map(str, words)) for name, words in data["states"].items()}
    return {
        str(name): _Absence(
            _by_opening(map(str, entry.get("phrases", ()))),
            tuple(map(str, entry.get("subjects", ()))),
            states.get(str(entry.get("state")), frozenset()),
        )
        for name, entry in data["absent"].items()
    }


def stated_as_absent(fact: Fact, document: Document) -> tuple[int, int] | None:
    """Where a text says that what the fact names is not there, in words of its own; None: nowhere."""
    names = [concept.name for concept in fact.conditions[:1]]
    if not fact.conditions and fact.words:
        names = [*(one.removeprefix("word:") for one in sorted(fact.words[0].ids)), fact.words[0].text.lower()]
    for name in names:
        absence = _absences().get(name)
        if absence is not None:
            found = _phrase(document, absence) or _state(document, absence)
            if found is not None:
                return found
    return None


def _phrase(document: Document, absence: _Absence) -> tuple[int, int] | None:
    words = document.words
    for opening, phrases in absence.phrases.items():
        for first in places_in(words, opening):
            for phrase in phrases.get(words[first + 1] if first + 1 < len(words) else "", phrases.get("", ())):
                last = first + len(phrase) - 1
                if tuple(words[first : last + 1]) != phrase or document.sentences[last] != document.sentences[first]:
                    continue
                context = reading(document, last, last)
                if not (context.other_person or context.hypothetical or context.open):
                    return first, last
    return None


def _by_opening(texts: Iterable[str]) -> dict[str, dict[str, tuple[tuple[str, ...], ...]]]:
    """Phrases by their first word and their second, which for a phrase of one word is empty."""
    found: dict[str, dict[str, tuple[tuple[str, ...], ...]]] = {}
    for text in texts:
        phrase = tuple(tokenise(text))
        seconds = found.setdefault(phrase[0], {})
        second = phrase[1] if len(phrase) > 1 else ""
        seconds[second] = (*seconds.get(second, ()), phrase)
    return found


def _state(document: Document, absence: _Absence) -> tuple[int, int] | None:
    """A function with a word for its being as it should be, in one statement and not denied."""
    words = document.words
    for subject in absence.subjects:
        for place in places_in(words, subject):
            start, stop = document.sentence_span(place)
            around = range(max(start, place - _BEFORE), min(stop, place + _AFTER))
            told = next((i for i in around if words[i] in absence.states and _is_told(document, place, i)), None)
            if told is None or not _WORSE.isdisjoint(words[around.start : around.stop]):
                continue
            context = reading(document, place, place)
            if not (context.other_person or context.hypothetical or context.open or context.historical):
                return min(place, told), max(place, told)
    return None


def _is_told(document: Document, subject: int, state: int) -> bool:
    """Whether a word for a state is said of the function: not denied, and neither a figure nor a new member between."""
    words = document.words
    if not _DENIALS.isdisjoint(words[max(0, state - 3) : state]):
        return False
    low, high = min(subject, state) + 1, max(subject, state)
    if any(document.kinds[i] == NUMBER for i in range(low, high)):
        return False
    return not any(document.gaps[i][:1] in (",", ";", "(") and words[i] not in _GOING_ON for i in range(low, high + 1))
