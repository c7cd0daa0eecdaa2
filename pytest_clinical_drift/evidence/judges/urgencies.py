"""Urgency of two directives compared: help now against leaving it."""

from __future__ import annotations

import re

from pytest_clinical_drift.evidence.guidance.figures import alike, exclude, meet
from pytest_clinical_drift.evidence.guidance.objects import stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.judges.opposition import Opposition

_CONDITION_SHARED = 2
_MOST_OF_A_SIGN = 0.6
_SIGNS = re.compile(r",|;|\bor\b|\band\b")
_LATER = frozenset(["home", "day", "days", "week", "weeks", "morning", "tomorrow", "appointment", "run", "course"])
_MOMENTS = frozenset(["second", "seconds", "minute", "minutes"])
"""A wait counted in these is a step of an instruction."""
_WORD = re.compile(r"[a-z]+")
_GRAVE = frozenset(
    ["sudden", "suddenly", "severe", "worst", "spreading", "spreads", "heavy", "constant", "uncontrollable"]
)
_MILD = frozenset(["mild", "slight", "slightly", "bit", "little", "minor", "occasional", "light", "small", "normal"])
_SHARED_IN_REPLIES = 4
"""Words two long sentences must share to be about one situation, when no condition or measure is named in both."""


def urgency_opposed(first: Advice, second: Advice, *, whole: bool) -> Opposition | None:
    """One calls for help now, the other leaves the same thing."""
    pressing, leaving = (first, second) if _presses(first) else (second, first)
    if not _presses(pressing) or not (_leaves(leaving) or _at_home(leaving, pressing)):
        if whole or not _far_apart(first, second):
            return None
    elif whole and not _clearly_opposed(pressing, leaving):
        return None
    one_matter = bool(first.topic & second.topic) or _figures_alike(first, second)
    if not one_matter or _graver(pressing, leaving) or _apart(first, second):
        return None
    return Opposition("urgency", "one text calls for help now, the other leaves it", True, None, 2.2)


def _clearly_opposed(pressing: Advice, leaving: Advice) -> bool:
    """In whole replies: no call is needed in the very situation that calls for one."""
    if not same_case(pressing, leaving):
        return False
    if leaving.effect == "wait" and leaving.urgency not in ("days", "routine") and _LATER.isdisjoint(leaving.said):
        # "wait 30 seconds before the next puff"
        return False
    if leaving.effect != "care" or leaving.polarity == "do":
        # left or watched at home: the very situation has to be named, too
        if not pressing.condition:
            return False
        if leaving.condition_kind == "if":
            return len(pressing.condition_topic & leaving.condition_topic) >= _CONDITION_SHARED
        return _figures_alike(pressing, leaving) or (
            _named_alike(pressing, leaving) and _meets_condition(pressing, leaving)
        )
    return not pressing.condition or _meets_condition(pressing, leaving)


def _named_alike(pressing: Advice, leaving: Advice) -> bool:
    return any(name.startswith(("condition:", "measure:")) for name in pressing.named & leaving.named)


def _at_home(advice: Advice, pressing: Advice) -> bool:
    """Looked after at home, or noted for a later date."""
    if advice.polarity != "do" or advice.effect in ("care", "wait", "against"):
        return False
    later = advice.urgency in ("days", "routine") and advice.effect in ("watch", "act")
    needed = _CONDITION_SHARED if advice.condition_topic else 1
    situation = advice.condition_topic or advice.topic
    same = not pressing.condition_topic or len(pressing.condition_topic & situation) >= needed
    return same and (later or not {"home", "yourself"}.isdisjoint(advice.said))


def _meets_condition(pressing: Advice, leaving: Advice) -> bool:
    """Whether what is left is the very situation that calls for help: figures that meet, or most of its words."""
    if meet(pressing.figures, leaving.figures):
        return True
    return len(pressing.condition_topic & (leaving.topic | leaving.condition_topic)) >= _CONDITION_SHARED


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
    if not first.topic & second.topic or _apart(first, second):
        return None
    return Opposition("polarity", "contact is advised and advised against", True, first.object, 1.5)


def same_case(first: Advice, second: Advice) -> bool:
    """Whether two sentences are about one clinical situation: a condition or measure in common and no figures apart."""
    clinical = any(name.startswith(("condition:", "measure:", "test:")) for name in first.named & second.named)
    if _figures_alike(first, second) or len(first.condition_topic & second.condition_topic) >= _CONDITION_SHARED:
        return True
    if not clinical and len(first.topic & second.topic) < _SHARED_IN_REPLIES and not _same_sign(first, second):
        return False
    return meet(first.figures, second.figures) is not False


def _figures_alike(first: Advice, second: Advice) -> bool:
    """Whether both speak of the same values in the same unit, and of one matter."""
    return alike(first.figures, second.figures, one_matter=bool(first.topic & second.topic))


def _apart(first: Advice, second: Advice) -> bool:
    """Whether both name values of one unit that do not meet: five minutes and more, two minutes at most."""
    return exclude(first.figures, second.figures) or exclude(second.figures, first.figures)


def _same_sign(first: Advice, second: Advice) -> bool:
    """Whether one of the signs that a condition lists ("lips look blue, or …") is what the other speaks of."""
    for one, other in ((first, second), (second, first)):
        for sign in _SIGNS.split((one.condition or "").lower()):
            words = stems(_WORD.findall(sign))
            if len(words & other.topic) >= max(_CONDITION_SHARED, _MOST_OF_A_SIGN * len(words)):
                return True
    return False


def _presses(advice: Advice) -> bool:
    if advice.effect != "care" or advice.polarity != "do":
        return False
    if advice.urgency in ("now", "same day"):
        return True
    return advice.urgency is None and "service:emergency" in advice.objects and advice.strength == "should"


def _leaves(advice: Advice) -> bool:
    if advice.effect == "care":
        return advice.polarity != "do" or advice.urgency in ("days", "routine")
    if advice.polarity != "do":
        return False
    if advice.action == "rest":
        return "home" in advice.topic or bool(advice.amounts.lasts and advice.amounts.lasts[1] >= 1)
    return advice.effect == "wait" and _MOMENTS.isdisjoint(advice.said)


def _far_apart(first: Advice, second: Advice) -> bool:
    """Being seen within days and being left for a routine date."""
    soon, late = sorted((first, second), key=lambda advice: advice.urgency == "routine")
    if soon.effect != "care" or soon.urgency != "days" or soon.polarity != "do":
        return False
    return late.urgency == "routine" and late.effect in ("care", "wait") and late.polarity == "do"
