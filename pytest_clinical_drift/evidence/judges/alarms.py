"""Urgency of two short texts compared as wholes: one sends for help, the other leaves the same situation."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.alarms import Alarm, Alarms, Matter, alarms_of, eased
from pytest_clinical_drift.evidence.guidance.figures import exclude
from pytest_clinical_drift.evidence.judges.protocol import Conflict

_GRAVE = frozenset(["sudden", "suddenly", "severe", "worst", "spreading", "heavy", "heavily", "constant", "worse"])
_MILD = frozenset(["mild", "mildly", "slight", "slightly", "minor", "small", "occasional", "odd", "tiny"])
_APART = 2
"""Levels between sending for help and leaving it."""
_WORDS = 2
"""Topic words in common that make two situations one, where no sign is common to both."""
_COVERED = 0.5
"""Share of the signs an alarm speaks of that the calm text must have named before."""


def alarms_opposed(earlier: str, later: str) -> Conflict | None:
    """Help is called for in one text, and the same situation left for later in the other."""
    before, after = alarms_of(earlier), alarms_of(later)
    for pressing in before.found:
        leaving = after.flat()
        if pressing.presses and leaving is not None and _left(pressing, leaving, before, after):
            return _conflict(pressing, leaving)
    leaving, pressing_now = before.flat(), after.flat()
    if leaving is None or pressing_now is None or leaving.presses or not pressing_now.presses:
        return None
    if pressing_now.level + _APART <= leaving.level and _covered(after.matter, before.matter):
        return _conflict(leaving, pressing_now) if not graver(pressing_now, leaving) else None
    return None


def adds_signs(earlier: str, later: str) -> bool:
    """Whether the later text calls for help in a graver situation than the one the earlier text left."""
    before, after = alarms_of(earlier), alarms_of(later)
    pressing = [alarm for alarm in after.found if alarm.presses]
    return bool(pressing) and not any(
        _covered(alarm.condition or after.matter, before.matter, whole=alarm.condition is not None)
        for alarm in pressing
    )


def _conflict(first: Alarm, second: Alarm) -> Conflict:
    reason = "one text calls for help now, the other leaves it"
    return Conflict(True, reason, (first.quote, second.quote), True, "urgency", None)


def _left(pressing: Alarm, leaving: Alarm, before: Alarms, after: Alarms) -> bool:
    if not left_apart(pressing, leaving):
        return False
    situation = pressing.condition if pressing.condition and pressing.condition.signs else before.matter
    if not _one_matter(situation, after.matter) or graver(pressing, leaving) or eased(after.joined):
        return False
    return not measured_apart(pressing, leaving)


def left_apart(pressing: Alarm, leaving: Alarm) -> bool:
    """Whether one calls for help and the other leaves it, levels apart."""
    return pressing.presses and not leaving.presses and pressing.level + _APART <= leaving.level


def measured_apart(pressing: Alarm, leaving: Alarm) -> bool:
    """Whether both name values that do not meet."""
    return exclude(pressing.figures, leaving.figures)


def _one_matter(one: Matter, other: Matter) -> bool:
    return bool(one.signs & other.signs) or len(one.words & other.words) >= _WORDS


def _covered(alarm: Matter, calm: Matter, *, whole: bool = False) -> bool:
    """Whether the calm text knew of most (or the whole) of what the alarm is about, so that it adds nothing new."""
    signs = alarm.main_signs
    if signs:
        return len(signs & calm.signs) >= (1.0 if whole else _COVERED) * len(signs)
    return len(alarm.words & calm.words) >= max(_WORDS, _COVERED * len(alarm.words))


def graver(pressing: Alarm, leaving: Alarm) -> bool:
    """Whether one speaks of a sudden or severe form, the other of a mild one."""
    mild = not _MILD.isdisjoint(leaving.words) and _GRAVE.isdisjoint(leaving.words)
    return mild and _MILD.isdisjoint(pressing.words)
