"""Urgency of two directives compared: help now against leaving it."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.judges.opposition import Opposition

_CONDITION_SHARED = 2
_GRAVE = frozenset(
    ["sudden", "suddenly", "severe", "worst", "spreading", "spreads", "heavy", "constant", "uncontrollable"]
)
_MILD = frozenset(["mild", "slight", "slightly", "bit", "little", "minor", "occasional", "light", "small", "normal"])
_SHARED_IN_REPLIES = 4
"""Words two long sentences must share to be about one situation, when no condition or measure is named in both."""


def urgency_opposed(first: Advice, second: Advice, *, whole: bool) -> Opposition | None:
    """One calls for help now, the other leaves the same thing."""
    pressing, leaving = (first, second) if _presses(first) else (second, first)
    if not (_presses(pressing) and _leaves(leaving)):
        if whole or not _far_apart(first, second):
            return None
    elif whole and not _clearly_opposed(pressing, leaving):
        return None
    if not first.topic & second.topic or _graver(pressing, leaving):
        return None
    return Opposition("urgency", "one text calls for help now, the other leaves it", True, None, 2.2)


def _clearly_opposed(pressing: Advice, leaving: Advice) -> bool:
    """In whole replies: no call is needed in the very situation that calls for one."""
    if leaving.effect != "care" or leaving.polarity == "do" or not same_case(pressing, leaving):
        return False
    return not pressing.condition or _meets_condition(pressing, leaving)


def _meets_condition(pressing: Advice, leaving: Advice) -> bool:
    """Whether what is left is the very situation that calls for help: figures that meet, or most of its words."""
    if pressing.figures is not None and leaving.figures is not None:
        return True
    return len(pressing.condition_topic & leaving.topic) >= _CONDITION_SHARED


def _graver(pressing: Advice, leaving: Advice) -> bool:
    """Whether one speaks of a sudden or severe form, the other of a mild one."""
    grave, mild = set(pressing.quote.lower().split()), set(leaving.quote.lower().split())
    return bool(grave & _GRAVE) and bool(mild & _MILD) and not mild & _GRAVE


def contact_opposed(first: Advice, second: Advice) -> Opposition | None:
    """Contacting someone is advised and advised against, about the same matter."""
    if first.effect != "care" or second.effect != "care" or first.polarity == second.polarity:
        return None
    if "do" not in (first.polarity, second.polarity) or not set(first.objects) & set(second.objects):
        return None
    if not first.topic & second.topic:
        return None
    return Opposition("polarity", "contact is advised and advised against", True, first.object, 1.5)


def same_case(first: Advice, second: Advice) -> bool:
    """Whether two sentences are about one clinical situation: a condition or measure in common and no figures apart."""
    clinical = any(name.startswith(("condition:", "measure:", "test:")) for name in first.named & second.named)
    if not clinical and len(first.topic & second.topic) < _SHARED_IN_REPLIES:
        return False
    if first.figures is None or second.figures is None:
        return True
    return first.figures[0] <= second.figures[1] and second.figures[0] <= first.figures[1]


def _presses(advice: Advice) -> bool:
    return advice.effect == "care" and advice.polarity == "do" and advice.urgency in ("now", "same day")


def _leaves(advice: Advice) -> bool:
    if advice.effect == "care":
        return advice.polarity != "do" or advice.urgency in ("days", "routine")
    if advice.polarity != "do":
        return False
    if advice.action == "rest":
        return "home" in advice.topic or bool(advice.amounts.lasts and advice.amounts.lasts[1] >= 1)
    return advice.effect == "wait"


def _far_apart(first: Advice, second: Advice) -> bool:
    """Being seen within days and being left for a routine date."""
    soon, late = sorted((first, second), key=lambda advice: advice.urgency == "routine")
    if soon.effect != "care" or soon.urgency != "days" or soon.polarity != "do":
        return False
    return late.urgency == "routine" and late.effect in ("care", "wait") and late.polarity == "do"
