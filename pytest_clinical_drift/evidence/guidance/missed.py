"""What a reply says of a dose that was forgotten or brought up again: take it, leave it out, or take two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_clinical_drift.evidence.advice import document_of
from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.objects import stems
from pytest_clinical_drift.evidence.guidance.patterns import Pattern, patterns, spaced
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.sentences import sentences_in
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

Window = tuple[float, float]
"""Hours, from and to."""
_BEHIND = 2
"""Sentences behind one that names the event that are about it, too."""
_NEGATIONS = frozenset(["not", "never", "no", "without", "avoid"])
_NO_END = 1e6
_HOURS = {"minute": 1 / 60, "hour": 1.0, "day": 24.0}
_SPAN = re.compile(r"(?P<value>[a-z]+|\d{1,3}(?:\.\d{1,2})?) (?P<unit>minute|hour|day)s? ")
_MORE, _LESS = frozenset(["more", "over", "least", "beyond"]), frozenset(["less", "within", "under", "fewer", "inside"])
_OPENINGS = frozenset(
    ["miss", "missed", "missing", "forget", "forgot", "forgotten", "forgetting", "skipped", "late", "overdue", "slept",
     "sleep", "remember", "remembered", "vomit", "vomited", "vomiting", "sick", "threw", "throw", "bring", "brought"]
)  # fmt: skip
"""Words without one of which no text is about such a dose."""
_DOSE_NOUNS = ("one ", "dose ", "tablet ", "pill ", "capsule ")
_LATE_IN_THE_DAY = frozenset(["tonight", "evening", "night", "bedtime"])


@dataclass(frozen=True, slots=True)
class Remedy:
    """What one sentence says to do about a dose."""

    event: str
    """missed, or brought up."""
    outcome: str
    """take, skip, double or not double."""
    late: Window | None
    """How long after the dose was due, or was taken, it holds."""
    ahead: Window | None
    """How far away the next dose is where it holds."""
    conditional: bool
    sentence: int
    quote: str
    medicines: frozenset[str]
    topic: frozenset[str]


@lru_cache(maxsize=1)
def _rows() -> tuple[dict[str, tuple[Pattern, ...]], dict[str, tuple[Pattern, ...]]]:
    data: Mapping[str, Mapping[str, Any]] = load_data("missed_doses")
    events, outcomes = ({name: patterns(rows) for name, rows in data[part].items()} for part in ("events", "outcomes"))
    return events, outcomes


@lru_cache(maxsize=512)
def remedies_of(text: str) -> tuple[Remedy, ...]:
    """Every remedy of a reply for a missed dose."""
    if _OPENINGS.isdisjoint(document_of(text).words):
        return ()
    found: list[Remedy] = []
    event, named_at = "", -_BEHIND - 1
    for order, sentence in enumerate(sentences_in(text)):
        words = sentence.view.words[sentence.first : sentence.end]
        told = _event(words)
        if told:
            event, named_at = told, order
        if order - named_at <= _BEHIND and not sentence.question:
            found.extend(_remedies(sentence, words, event))
    return tuple(found)


def _event(words: Sequence[str]) -> str:
    joined, text = spaced(words), set(words)
    for name, rows in _rows()[0].items():
        if any(row.possible(text) and row.found(joined) for row in rows):
            return name
    return ""


def _remedies(sentence: Sentence, words: Sequence[str], event: str) -> Iterator[Remedy]:
    view = sentence.view
    outcomes = _outcomes(words)
    if len(outcomes - {"not double"}) > 1:
        # "take it, unless … then leave it out": which holds when is not clear
        return
    late, ahead = _windows(words)
    conditional = any(limit.kind in ("if", "stage") for limit in sentence.limits)
    quote = view.document.quote(view.origin[sentence.first], view.origin[sentence.end - 1])
    medicines = frozenset(m.id for m in sentence.mentions if m.medicine)
    for outcome in outcomes:
        yield Remedy(event, outcome, late, ahead, conditional, sentence.number, quote, medicines, stems(words))


def _outcomes(words: Sequence[str]) -> set[str]:
    joined, text = spaced(words), set(words)
    found: set[str] = set()
    for name, rows in _rows()[1].items():
        for row in rows:
            for first, _ in row.places(joined) if row.possible(text) else ():
                negated = not _NEGATIONS.isdisjoint(joined[:first].split()[-3:])
                found.add(_turned(name) if negated else name)
    return found - {""}


def _turned(outcome: str) -> str:
    return {"take": "skip", "skip": "", "double": "not double"}[outcome]


def _windows(words: Sequence[str]) -> tuple[Window | None, Window | None]:
    """How late it is, and how far away the next dose is, as far as the sentence says."""
    joined = spaced(words)
    late = ahead = None
    for match in _SPAN.finditer(joined):
        value = number(match["value"])
        if value is None or (match["value"] in ("a", "an") and "next" not in joined):
            continue
        hours = value * _HOURS[match["unit"]]
        before = joined[: match.start()].split()[-4:]
        window = _window(before, hours)
        nearby = joined[max(0, match.start() - 40) : match.end() + 30]
        if any(f"next {noun}" in nearby for noun in _DOSE_NOUNS) or "the next" in nearby:
            ahead = ahead or window
        else:
            late = late or window
    if late is not None and ahead is None and late[0] == late[1]:
        interval = _interval(set(words))
        ahead = (interval - late[0], interval - late[0]) if interval > late[0] else None
    return late, ahead


def _window(before: Sequence[str], hours: float) -> Window:
    if not _LESS.isdisjoint(before):
        return 0.0, hours
    return (hours, _NO_END) if not _MORE.isdisjoint(before) else (hours, hours)


def _interval(words: set[str]) -> float:
    """Hours from this dose to the next: of a morning and an evening dose, or of one a day; 0 where nothing is said."""
    if "morning" in words and not _LATE_IN_THE_DAY.isdisjoint(words):
        return 12.0
    return 24.0 if "tomorrow" in words else 0.0
