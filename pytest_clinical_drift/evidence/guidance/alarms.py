"""How soon a short text calls for help: an alarm for each sentence that sends for it, or leaves it for later."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from pytest_clinical_drift.evidence.advice import document_of
from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.figures import Figure, read_figures
from pytest_clinical_drift.evidence.guidance.objects import mentions_of, stems
from pytest_clinical_drift.evidence.guidance.patterns import Pattern, patterns, spaced
from pytest_clinical_drift.evidence.guidance.sentence import Limit, Sentence
from pytest_clinical_drift.evidence.guidance.words import view_of
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

LEVELS = ("now", "same_day", "days", "later")
_SOON = 2
"""Levels below this call for help, the others leave it."""
_NEGATIONS = frozenset(["not", "no", "never", "hardly", "nor", "without", "neither"])
_NOT_YET = _NEGATIONS | {"whether", "if", "until", "till", "once", "when", "see"}
_NEGATED_WITHIN = 4
_CONDITIONS = frozenset(("if", "stage", "while"))
_CLINICAL = ("condition", "measure")


@dataclass(frozen=True, slots=True)
class Matter:
    """What a stretch of text is about."""

    signs: frozenset[str]
    """Situations of data/situations.yaml, conditions and measurements."""
    words: frozenset[str]
    """Stems."""

    @property
    def main_signs(self) -> frozenset[str]:
        """The situations; conditions (which may be what somebody fears) only where there are none."""
        return frozenset(sign for sign in self.signs if ":" not in sign) or self.signs


@dataclass(frozen=True, slots=True)
class Alarm:
    """A sentence that says how soon help is called for."""

    level: int
    """Place in LEVELS."""
    quote: str
    words: tuple[str, ...]
    condition: Matter | None
    """The situation it is meant for, where it is only meant for one."""
    figures: tuple[Figure, ...]

    @property
    def presses(self) -> bool:
        """Whether it calls for help now or the same day."""
        return self.level < _SOON


@dataclass(frozen=True, slots=True)
class Alarms:
    """The alarms of a text, and what the text is about."""

    found: tuple[Alarm, ...]
    matter: Matter
    joined: str
    """Its words, as patterns read them."""

    def flat(self) -> Alarm | None:
        """What it says of the situation at hand: the most pressing alarm that depends on nothing."""
        flat = [alarm for alarm in self.found if alarm.condition is None]
        return min(flat, key=lambda alarm: alarm.level, default=None)


@dataclass(frozen=True, slots=True)
class _Words:
    calls: tuple[tuple[Pattern, ...], ...]
    times: tuple[tuple[Pattern, ...], ...]
    care: tuple[Pattern, ...]
    eased: tuple[Pattern, ...]


@lru_cache(maxsize=1)
def _vocabulary() -> _Words:
    data: Mapping[str, Any] = load_data("urgency")
    calls, times = (tuple(patterns(data[name][level]) for level in LEVELS) for name in ("calls", "times"))
    return _Words(calls, times, patterns(data["care"]), patterns(data["eased"]))


@lru_cache(maxsize=1)
def _situations() -> tuple[tuple[str, tuple[Pattern, ...]], ...]:
    data: Mapping[str, Sequence[str]] = load_data("situations")
    return tuple((name, patterns(rows)) for name, rows in data.items())


@lru_cache(maxsize=512)
def alarms_of(text: str) -> Alarms:
    """The alarms of a text."""
    document = document_of(text)
    if not document.words:
        return Alarms((), Matter(frozenset(), frozenset()), "")
    view = view_of(document)
    found: list[Alarm] = []
    signs: set[str] = set()
    for sentence in sentences_of(view, mentions_of(view)):
        signs |= _signs(sentence, view.words[sentence.first : sentence.end])
        found.extend(_alarms(sentence))
    return Alarms(tuple(found), Matter(frozenset(signs), stems(view.words)), spaced(view.words))


def alarm_in(sentence: Sentence) -> Alarm | None:
    """The alarm of one sentence of any text."""
    return next(_alarms(sentence), None)


def matter_of(sentence: Sentence) -> Matter:
    """What one sentence of any text is about."""
    words = sentence.view.words[sentence.first : sentence.end]
    return Matter(frozenset(_signs(sentence, words)), stems(words))


def eased(joined: str) -> bool:
    """Whether a text says that what it speaks of has got better."""
    return any(
        _NOT_YET.isdisjoint(joined[:first].split()[-_NEGATED_WITHIN:]) and " not " not in joined[first:end]
        for pattern in _vocabulary().eased
        for first, end in pattern.places(joined)
    )


def _signs(sentence: Sentence, words: Sequence[str]) -> set[str]:
    joined = spaced(words)
    text = set(words)
    found = {name for name, rows in _situations() if any(row.possible(text) and row.found(joined) for row in rows)}
    for mention in sentence.mentions:
        if mention.kind in _CLINICAL and text.issuperset(sentence.view.words[mention.first : mention.end]):
            found.add(mention.id)
    return found


def _alarms(sentence: Sentence) -> Iterator[Alarm]:
    words = sentence.view.words[sentence.first : sentence.end]
    level = _level(sentence, words)
    if level is None:
        return
    limited = [
        word
        for limit in sentence.limits
        if limit.kind in _CONDITIONS
        for word in sentence.view.words[limit.first : limit.end]
    ]
    depends = sentence.asked_before is not None or any(
        limit.kind in ("if", "stage") and (level < _SOON or _opens(sentence, limit)) for limit in sentence.limits
    )
    if sentence.asked_before is not None:
        limited += sentence.asked_before.lower().replace("?", "").split()
    condition = Matter(frozenset(_signs(sentence, limited)), stems(limited)) if depends else None
    document, origin = sentence.view.document, sentence.view.origin
    quote = document.quote(origin[sentence.first], origin[sentence.end - 1])
    yield Alarm(level, quote, tuple(words), condition, read_figures(words))


def _level(sentence: Sentence, words: Sequence[str]) -> int | None:
    """The level of a sentence: what it says outright, else the time at which somebody is to be seen or told."""
    joined = spaced(words)
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    vocabulary = _vocabulary()
    found: set[int] = set()
    text = set(words)
    for level, rows in enumerate(vocabulary.calls):
        for first, _ in (place for row in rows if row.possible(text) for place in row.places(joined)):
            at = bisect_right(starts, first) - 1
            if _in_condition(sentence, at):
                continue
            negated = not _NEGATIONS.isdisjoint(words[max(0, at - _NEGATED_WITHIN) : at])
            found.add((3 if level < _SOON else 0) if negated else level)
    if found:
        pressing = [level for level in found if level < _SOON]
        return min(pressing) if pressing else max(found)
    cared = [place[0] for row in vocabulary.care if row.possible(text) for place in row.places(joined)]
    cared = [first for first in cared if not _in_condition(sentence, bisect_right(starts, first) - 1)]
    return _time(sentence, joined, starts, min(cared)) if cared else None


def _time(sentence: Sentence, joined: str, starts: Sequence[int], cared: int) -> int | None:
    """The time named with a word of care; the longest wordings ("next Monday") are read first."""
    found: list[tuple[int, int]] = []
    for level in (3, 2, 1, 0):
        for row in _vocabulary().times[level]:
            for first, end in row.places(joined):
                if level < _SOON and _in_condition(sentence, bisect_right(starts, first) - 1):
                    continue
                found.append((first, level))
                joined = joined[:first] + "".join(" " if c == " " else "_" for c in joined[first:end]) + joined[end:]
    behind = [level for first, level in found if first >= cared]
    if not behind:
        behind = [level for _, level in found]
    return min(behind, default=None)


def _in_condition(sentence: Sentence, at: int) -> bool:
    """Whether a word stands in a condition; one inside the sentence ("spots that stay when …") may end anywhere."""
    place = sentence.first + at
    return any(
        limit.first <= place < limit.end and (limit.kind == "if" or (limit.kind == "stage" and _opens(sentence, limit)))
        for limit in sentence.limits
    )


def _opens(sentence: Sentence, limit: Limit) -> bool:
    return limit.first <= sentence.first + 1
