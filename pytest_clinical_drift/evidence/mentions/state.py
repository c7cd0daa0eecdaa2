"""Whose a finding is: "her best friend has X", "X belongs to his brother", "her asthmatic brother"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.mentions.cues import HISTORICAL, HYPOTHETICAL
from pytest_clinical_drift.evidence.mentions.doses import STATUS_FILE
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.phrases import cues_of
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set

_OPEN_REACH = 8
_LIGHT = frozenset(map(str, load_data("fact_words")["light"]))


@dataclass(frozen=True, slots=True)
class Reading:
    """The context of one mention."""

    negated: bool
    hypothetical: bool
    historical: bool
    other_person: bool
    dated: bool
    """Past only by a date or "last year", which need not mean that it is over."""
    ended: bool
    """Stated to be over: resolved, cured, gone."""
    arranged: bool
    """Uncertain only because it lies ahead: planned, booked, due."""
    hedged: bool
    """Uncertain only because it is called likely: asserted with less than full weight."""
    open: bool
    """The text says that it does not know: not asked, not recorded, result awaited."""

    @property
    def affirmed(self) -> bool:
        """Stated of the patient, now or in the past."""
        return not (self.negated or self.hypothetical or self.other_person or self.open)

    @property
    def denied(self) -> bool:
        """Stated not to be so, of the patient."""
        return self.negated and not (self.hypothetical or self.other_person or self.open)


def reading(document: Document, first: int, last: int) -> Reading:
    """The context of the mention from token `first` to `last`."""
    known: dict[tuple[int, int], Reading] = document.cache.setdefault("readings", {})
    found = known.get((first, last))
    if found is None:
        found = _read(document, first, last)
        known[(first, last)] = found
    return found


_UNSTATED = word_set("mentions", "unstated")


def _read(document: Document, first: int, last: int) -> Reading:
    context = context_at(document, first, last)
    negated = context.negated or _is_free(document, last)
    labels = document.labels_of(first)
    hypothetical = context.hypothetical or any(map(_is_advisory, labels))
    words = document.words
    following = words[last + 1] if last + 1 < len(words) and document.gaps[last + 1] in ("", "-") else ""
    is_open = _left_open(document, last) or following in _UNSTATED
    if negated and first > 1 and words[first - 2] == "no" and words[first - 1] in ("other", "further", "additional"):
        negated, is_open = False, True  # "no other contraception" says nothing about the one named before
    other_person = context.other_person
    past = [quote.lower() for role, quote in context.cues if role == HISTORICAL]
    doubts = [quote.lower() for role, quote in context.cues if role == HYPOTHETICAL]
    unsure_only = hypothetical and bool(doubts) and not (negated or other_person)
    return Reading(
        negated,
        hypothetical,
        context.historical,
        other_person,
        dated=bool(past) and all(_is_time(quote) for quote in past),
        ended=any(root in quote for quote in past for root in _ENDINGS),
        arranged=unsure_only and all(d.startswith(_AHEAD) for d in doubts),
        hedged=unsure_only and all(_LIKELY & set(d.split()) for d in doubts),
        open=is_open,
    )


_ENDINGS = tuple(sorted(word_set("mentions", "endings")))
_TIME_WORDS = word_set("mentions", "time_words")


def _is_time(quote: str) -> bool:
    return any(word in _TIME_WORDS or word.isdigit() for word in quote.split())


_LIKELY = frozenset(("likely", "probable", "probably", "presumed", "presumably", "apparent", "appears", "seems"))
_AHEAD = tuple(sorted(word_set("mentions", "ahead")))


_STILL_TO_ASK = tuple(sorted(word_set("mentions", "still_to_ask")))
_ADVISORY = tuple(f" {phrase} " for phrase in sorted(word_set("mentions", "advisory_labels")))


@lru_cache(maxsize=1024)
def _is_advisory(label: str) -> bool:
    """ "Points to watch", "Red flags to monitor", "To ask": what stands there is looked out for, not reported."""
    if label.startswith(_STILL_TO_ASK):
        return True
    # "There are no red flags: no weakness, …" reports what was found.
    return " no " not in f" {label}" and label.count(" ") < 4 and any(phrase in f" {label} " for phrase in _ADVISORY)


def _is_free(document: Document, last: int) -> bool:
    """ "seizure-free", "cataract surgery never" with nothing behind."""
    following, gap = document.words[last + 1 : last + 2], document.gaps[last + 1 : last + 2]
    never = following == ["never"] and gap == [""] and document.clause_span(last)[1] == last + 2
    return never or (following == ["free"] and gap == ["-"])


def _left_open(document: Document, last: int) -> bool:
    """Whether "not asked", "pending" or the like follows with nothing but light words in between."""
    line = document.lines[last]
    stop = min(len(document), last + _OPEN_REACH)
    for cue in cues_of(document, STATUS_FILE).between("unknown", last + 1, stop):
        if document.lines[cue.first] != line:
            break
        between = document.words[last + 1 : cue.first]
        if document.words[cue.last + 1 : cue.last + 2] == ["to"]:
            continue  # "not mentioned to the dentist"
        if all(word in _LIGHT for word in between) and not any(
            "." in gap or ";" in gap for gap in document.gaps[last + 1 : cue.first + 1]
        ):
            return True
    return False
