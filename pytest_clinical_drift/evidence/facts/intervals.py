"""How often something of a patient's life happens, as stated beside it: "about twice a week", "10 a day"."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.reading.frequencies import Frequency, frequencies_between
from pytest_clinical_drift.evidence.reading.quantities import amounts
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_COUNT_REACH = 4  # tokens from a count to the interval that it goes with
_TAKEN_UP = frozenset(("these", "they", "this", "it"))


def rates_beside(document: Document, places: list[tuple[int, int]], reach: int, *, timed: bool) -> list[Frequency]:
    """The interval nearest to each of the places, in its sentence; parts of the day only where the fact is `timed`."""
    found: list[Frequency] = []
    for first, last in places:
        start, stop = document.sentence_span(first)
        end = last
        if not found and stop < len(document) and document.words[stop] in _TAKEN_UP:
            # "… panic attacks. They come about twice a week."
            stop, end = document.sentence_span(stop)[1], stop + 4
        beside = [
            rate
            for rate in frequencies_between(document, max(start, first - reach), min(max(stop, end + 1), end + reach))
            if rate.per_day > 0 and (timed or not rate.time)
            if not _of_another_noun(document, rate, first, last) and _is_stated(document, rate)
        ]
        if beside:
            nearest = min(beside, key=lambda rate: _distance(document, rate, first, last))
            found += counted(document, nearest)
    return found


def _distance(document: Document, rate: Frequency, first: int, last: int) -> int:
    """Tokens from an interval to what it may belong to; an "and" between them puts it further off."""
    low, high = (rate.last + 1, first) if rate.last < first else (last + 1, rate.first)
    return max(0, high - low) + 3 * ("and" in document.words[low:high])


def _is_stated(document: Document, rate: Frequency) -> bool:
    context = reading(document, rate.first, rate.last)
    return not (context.negated or context.hypothetical)


def counted(document: Document, rate: Frequency) -> list[Frequency]:
    """ "about 10 a day", "three to four panic attacks per week": a number shortly before says how many times."""
    if document.words[rate.first] not in ("a", "per"):
        return [rate]
    counts = [
        a
        for a in amounts(document)
        if 0 < rate.first - a.last <= _COUNT_REACH + 2 and a.unit is None and not a.ratio
        if document.sentences[a.first] == document.sentences[rate.first]
    ]
    if not counts or rate.first - counts[-1].last > _COUNT_REACH:
        return [rate]
    ranged = len(counts) > 1 and document.words[counts[-2].last + 1 : counts[-1].first] in (["to"], ["or"], [])
    values = {a.value for a in (counts[-2:] if ranged else counts[-1:])} | {counts[-1].high}
    return [replace(rate, per_day=rate.per_day * value, first=counts[-1].first) for value in sorted(values)]


def _of_another_noun(document: Document, rate: Frequency, first: int, last: int) -> bool:
    """ "weekly blood tests" beside a complaint: how often something else takes place."""
    after = rate.last + 1
    if rate.first != rate.last or after >= len(document) or first <= after <= last or document.gaps[after]:
        return False
    return document.words[rate.first] in _ADJECTIVES and document.words[after] not in _AFTER_RATE


_ADJECTIVES = frozenset(("daily", "weekly", "fortnightly", "monthly", "yearly", "annual", "nightly", "quarterly"))
_AFTER_RATE = word_set("figures", "after_rate")
