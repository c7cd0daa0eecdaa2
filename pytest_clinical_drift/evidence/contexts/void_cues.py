"""Cues that a plain rule of scope reads wrongly beside a fact: a denial or a doubt that is about something else."""

from __future__ import annotations

from pytest_clinical_drift.evidence.text import Document

_SINCE = "since"


def void_denial(document: Document, quote: str, cue_last: int, first: int) -> bool:
    """ "none since 2021" after an event; refusing something is not lacking it."""
    after = document.words[cue_last + 1 : cue_last + 2]
    if quote in ("cannot", "can not", "unable to") and document.words[first].endswith("s"):
        # "cannot switch off, cries in the car": a new predicate after the comma.
        return any(gap.startswith(",") for gap in document.gaps[cue_last + 1 : first + 1])
    if quote == "none" and after and after[0] in _ELSEWHERE:
        return True  # "walking stick outside, none indoors"
    following = document.words[first + 1 : first + 3]
    if quote == "no" and len(following) == 2 and following[0] in _LIMITS and _is_hour(following[1]):
        return True  # "no coffee after noon": when, not whether
    if quote == "no" and cue_last < first - 2 and document.words[first - 1] == "from":
        return True  # "no shocks from the device", which is there
    if cue_last < first - 3 and _is_setting(document, first):
        return True
    return (quote == "none" and after == [_SINCE]) or (cue_last < first and quote.startswith(("refus", "declin")))


_ELSEWHERE = frozenset(("indoors", "inside", "outdoors", "outside", "at", "in", "on"))
_LIMITS = frozenset(("after", "past", "before"))


def _is_hour(word: str) -> bool:
    return word[:1].isdigit() or word in (
        "noon",
        "midday",
        "lunch",
        "lunchtime",
        "dinner",
        "bed",
        "bedtime",
        "midnight",
    )


_WITHIN = frozenset(("in", "during", "throughout"))
_GIVEN = frozenset(("this", "these", "her", "his", "your", "their", "current"))


def _is_setting(document: Document, first: int) -> bool:
    """ "has not needed steroids in this pregnancy": when it was, which is there."""
    before = document.words[max(0, first - 2) : first]
    return len(before) == 2 and before[0] in _WITHIN and before[1] in _GIVEN


_PURPOSES = ("to prevent", "prevention of", "prophylaxis", "protect against")


def void_doubt(document: Document, quote: str, cue_last: int, first: int, negated: bool) -> bool:
    """ "no change to her sertraline"; "does not meet criteria for" is a denial, not a doubt."""
    if quote.startswith(_PURPOSES) and any("," in gap for gap in document.gaps[cue_last + 1 : first + 1]):
        return True  # "X to prevent clots, and Y": Y is not what is prevented
    before = document.words[max(0, cue_last - len(quote.split()) - 2) : cue_last]
    if quote.startswith("criteria"):
        return negated or any(word.startswith(("meet", "met", "fulfil")) for word in before)
    return quote.startswith("change") and "no" in before
