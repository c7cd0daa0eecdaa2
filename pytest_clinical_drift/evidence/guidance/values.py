"""The figures of a short text that set something: how long, how often, from which value on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice import document_of
from pytest_clinical_drift.evidence.guidance.amounts import read_amounts
from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.objects import Mention, mentions_of, stems
from pytest_clinical_drift.evidence.guidance.rhythms import days_listed, times_listed
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import listed, view_of

_MINUTES = {
    "second": 1 / 60, "minute": 1.0, "min": 1.0, "hour": 60.0, "hr": 60.0, "day": 1440.0, "night": 1440.0,
    "week": 10080.0, "fortnight": 20160.0, "month": 43200.0, "year": 525600.0,
}  # fmt: skip
_NO_LIMIT = 1e12
_AT_LEAST = frozenset(["least", "over", "above", "minimum", "longer", "beyond", "exceeds", "exceeding"])
_AT_MOST = frozenset(["under", "below", "within", "most", "maximum", "fewer", "limit", "less", "shorter", "inside"])
_MORE = frozenset(["more", "higher", "above", "over", "upwards", "longer"])
_NEGATIONS = frozenset(["no", "not", "never"])
_OF_A_PERSON = frozenset(["old", "pregnant", "gone", "ago", "on", "postpartum", "into"])
_RHYTHM = frozenset(["every", "each", "per", "times", "once", "twice"])
_EARLIER = frozenset(["last", "past", "been", "had", "first", "previous", "second", "third", "started", "since"])
_ORDINALS = frozenset(["first", "second", "third", "fourth", "fifth", "sixth", "following"])
_OF_A = frozenset(
    ["for", "in", "within", "after", "until", "than", "least", "about", "wait", "leave", "half", "another"]
)
_KINDS = ("drug", "class", "food", "activity", "test", "treatment", "condition", "measure")


@dataclass(frozen=True, slots=True)
class Value:
    """A range that a sentence sets."""

    kind: str
    """time (minutes), rhythm (a day), level (no unit)."""
    low: float
    high: float
    shown: str
    quote: str
    condition: frozenset[str]
    """Stems of what limits it, the figure's own limit aside."""
    goal: bool
    """Part of a goal ("150 minutes a week"), which is compared as such."""
    named: frozenset[str]
    words: frozenset[str]
    """Stems of its sentence."""


@lru_cache(maxsize=512)
def values_of(text: str) -> tuple[Value, ...]:
    """Every figure of a text that sets something."""
    document = document_of(text)
    if not document.words:
        return ()
    view = view_of(document)
    found: list[Value] = []
    for sentence in sentences_of(view, mentions_of(view)):
        if not sentence.question:
            found.extend(_values(sentence))
    return tuple(found)


def _values(sentence: Sentence) -> Iterator[Value]:
    view = sentence.view
    words = view.words[sentence.first : sentence.end]
    quote = view.document.quote(view.origin[sentence.first], view.origin[sentence.end - 1])
    named = frozenset(m.id for m in sentence.mentions if m.kind in _KINDS and not _beside(sentence, m))
    topic = stems(words)
    if _is_stage(words):
        return
    goal = sentence.read_goal() is not None
    for kind, low, high, first, end in (*_times(words), *_rhythms(words), *_levels(words)):
        shown = " ".join(words[first:end])
        limits = [limit for limit in sentence.limits if limit.kind in ("if", "stage")]
        others = [limit for limit in limits if not limit.first <= sentence.first + first < limit.end]
        condition = stems([word for limit in others for word in view.words[limit.first : limit.end]])
        yield Value(kind, low, high, shown, quote, condition, goal, named, topic)


def _beside(sentence: Sentence, mention: Mention) -> bool:
    """ "while you're on methotrexate": named for the circumstances only."""
    before = sentence.view.words[max(sentence.first, mention.first - 2) : mention.first]
    return mention.medicine and ("on" in before or "taking" in before)


def _is_stage(words: Sequence[str]) -> bool:
    """ "for the first month", "on day 9", "in week 2", "from 20 weeks": one stage of several."""
    for at, word in enumerate(words[:-1]):
        unit = word.rstrip("s")
        if unit in ("day", "week", "month") and number(words[at + 1]) is not None and words[at + 1] not in ("a", "an"):
            return True
        if word in _ORDINALS and any(_MINUTES.get(other.rstrip("s")) for other in words[at + 1 : at + 3]):
            return True
        opening = word == "from" or (at == 0 and word in ("at", "by"))
        if opening and number(words[at + 1]) is not None and words[at + 2 : at + 3] in (["weeks"], ["months"]):
            return True
    return False


def _times(words: Sequence[str]) -> Iterator[tuple[str, float, float, int, int]]:
    """ "at least 30 minutes", "until 48 hours after": lengths of time, ages and rhythms aside."""
    for at, word in enumerate(words):
        unit = _MINUTES.get(word.rstrip("s") if word != "s" else word)
        if unit is None or not at:
            continue
        first = at - 1
        if words[first] in ("full", "whole", "good", "more", "clear", "solid", "of"):
            first -= 1
        high = number(words[first]) if first >= 0 else None
        if high is None and word in ("fortnight",):
            high = 1.0
        if high is None:
            continue
        low = high
        if first >= 2 and words[first - 1] in ("to", "or", "and") and number(words[first - 2]) is not None:
            first -= 2
            low = number(words[first]) or high
        before, after = list(words[max(0, first - 4) : first]), list(words[at + 1 : at + 3])
        if not _RHYTHM.isdisjoint(before[-2:]) or not _EARLIER.isdisjoint(before[-2:]):
            continue
        if after[:1] and (after[0] in _OF_A_PERSON or after[0] == "a"):
            continue
        if words[first] in ("a", "an") and (not before or before[-1] not in _OF_A):
            # "50 mg a day"
            continue
        if before[-1:] == ["half"]:
            low, high, first = low / 2, high / 2, first - 1
        yield ("time", *_bounds(before, after, min(low, high) * unit, high * unit), first, at + 1)


def _rhythms(words: Sequence[str]) -> Iterator[tuple[str, float, float, int, int]]:
    listed_times = times_listed(words)
    days = days_listed(words)
    if days is not None:
        yield "rhythm", days / 7, days / 7, 0, len(words)
        return
    amounts = read_amounts(words)
    if listed_times is not None and listed_times > 1:
        yield "rhythm", float(listed_times), float(listed_times), 0, len(words)
    elif amounts.per_day is not None and amounts.per_day[0] > 0:
        low, high = amounts.per_day
        yield "rhythm", 0.0 if amounts.ceiling else low, high, 0, len(words)


def _levels(words: Sequence[str]) -> Iterator[tuple[str, float, float, int, int]]:
    """ "above 5", "3.5 or more": values with a bound and no unit."""
    phones = listed("phones")
    for at, word in enumerate(words):
        if not word[0].isdigit() or word in phones or not word.replace(".", "", 1).isdecimal():
            continue
        before, after = list(words[max(0, at - 3) : at]), list(words[at + 1 : at + 3])
        unit = after[0] if after else ""
        if unit.rstrip("s") in _MINUTES or unit in ("mg", "ml", "g", "micrograms", "units", "times", "tablets"):
            continue
        low, high = _bounds(before, after, float(word), float(word))
        if low != high:
            yield "level", low, high, at, at + 1


def _bounds(before: Sequence[str], after: Sequence[str], low: float, high: float) -> tuple[float, float]:
    negated = not _NEGATIONS.isdisjoint(before)
    least = not _AT_LEAST.isdisjoint(before) or (after[:1] == ["or"] and after[1:2] != [] and after[1] in _MORE)
    most = not _AT_MOST.isdisjoint(before) or list(before[-2:]) == ["up", "to"] or list(after) == ["or", "less"]
    than = list(before[-2:]) == ["more", "than"]
    if (than or least) and negated:
        return 0.0, high
    if than or least:
        return low, _NO_LIMIT
    return (0.0, high) if most else (low, high)
