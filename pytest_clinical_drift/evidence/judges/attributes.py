"""Attributes of one medicine compared: time of day, length of the course, every day or only now and then, mixtures."""

from __future__ import annotations

import re

from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.opposition import Opposition

_OTHER_LENGTH = 1.9
_DAYTIME = frozenset(("morning",))
_LATE = frozenset(("evening", "night"))
_AS_NEEDED = re.compile(
    r"\bonly\s+(?:\S+\s+){0,5}?(?:if|when|on (?:bad )?days)\b|\b(?:as|when|if) (?:needed|required|necessary)\b"
)
_REGULAR = re.compile(
    r"\b(?:every (?:single )?(?:day|morning|night|evening)|each day|daily|even (?:when|if|on)"
    r"|whether or not|whether you need)\b"
)
_APART = frozenset(["not", "never", "no", "without", "avoid", "apart", "away", "nor", "hours", "instead"])
_MIXED = ("drug:", "class:", "food:")


def attributes_opposed(first: Advice, second: Advice, name: str, object_id: str, *, whole: bool) -> Opposition | None:
    """Two instructions to use one medicine that differ in when, how long or whether regularly."""
    if first.stance <= 0 or second.stance <= 0 or first.effect != "for" or second.effect != "for":
        return None
    if _regularity_opposed(first, second):
        return Opposition("regularity", f"{name} every day and only now and then", True, object_id, 1.7)
    if first.condition_kind == "if" or second.condition_kind == "if":
        return None
    if _time_opposed(first, second) and not (whole and not (_firm(first) and _firm(second))):
        return Opposition("timing", f"{name} in the morning and at night", False, object_id, 1.4)
    if _length_opposed(first, second):
        reason = f"{name} for {first.duration} and for {second.duration}"
        return Opposition("duration", reason, False, object_id, 1.6)
    return None


def _time_opposed(first: Advice, second: Advice) -> bool:
    times = {first.hour, second.hour}
    often = any(a.amounts.per_day is not None and a.amounts.per_day[1] > 1 for a in (first, second))
    return bool(times & _DAYTIME and times & _LATE) and not often


def _firm(advice: Advice) -> bool:
    """Told flatly: no choice ("or at night"), no trial ("you could move it") and no reason that may be new."""
    words = advice.quote.lower().replace(",", " ").split()
    return advice.strength == "should" and advice.reason is None and {"or", "try", "instead", "if"}.isdisjoint(words)


def _length_opposed(first: Advice, second: Advice) -> bool:
    one, other = first.amounts.lasts, second.amounts.lasts
    if one is None or other is None or not (one[1] and other[1]):
        return False
    if first.temporary or second.temporary:
        return False
    return max(one[0] / other[1], other[0] / one[1]) >= _OTHER_LENGTH


def _regularity_opposed(first: Advice, second: Advice) -> bool:
    for one, other in ((first, second), (second, first)):
        said, needed = one.quote.lower(), other.quote.lower()
        regular = _REGULAR.search(said) and not _AS_NEEDED.search(said) and not one.amounts.ceiling
        if regular and "only" in needed and _AS_NEEDED.search(needed) and not _REGULAR.search(needed):
            return one.condition_kind != "if"
    return False


def mixture_opposed(first: Advice, second: Advice) -> Opposition | None:
    """Two things are not to be combined, and are to be taken together."""
    for apart, together in ((first, second), (second, first)):
        if _keeps_apart(apart) and _takes(together) and _APART.isdisjoint(together.quote.lower().split()):
            common = sorted(one for one in _things(apart) & _things(together) if one.startswith(_MIXED))
            if len(common) >= 2:
                names = " and ".join(one.partition(":")[2] for one in common[:2])
                return Opposition("avoid/use", f"{names} kept apart and taken together", True, common[0], 2.4)
    return None


def _things(advice: Advice) -> frozenset[str]:
    return advice.named | frozenset(advice.objects)


def _keeps_apart(advice: Advice) -> bool:
    if advice.verb in listed("combines"):
        return advice.polarity == "don't"
    if advice.verb in ("leave", "leaving", "allow", "wait") and "between" in advice.said:
        return advice.polarity == "do"
    return advice.verb in ("keep", "keeping") and advice.effect == "act" and "away" in advice.said


def _takes(advice: Advice) -> bool:
    if advice.polarity != "do" or advice.verb in ("stay", "stick", "keep"):
        return False
    return advice.stance > 0 or advice.verb in listed("combines")
