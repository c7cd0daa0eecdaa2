"""Directives of two whole replies under the looser bar of short texts, where both speak of one situation.

In a long conversation the same medicine is named in turn after turn, so naming it is not enough: the two sentences must
have more in common, such as the symptom, the food or the event they are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.judges.excuses import Excuses
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.oppositions import oppositions
from pytest_clinical_drift.evidence.judges.situations import common_ground, same_figures
from pytest_clinical_drift.evidence.judges.stages import on_a_sick_day, unbroken

_NEEDED = {"food": 0, "frequency": 1, "dose": 1, "direction": 1, "avoid/use": 1, "start/stop": 1, "urgency": 2}
"""Words two sentences must have in common beside what they are about."""
_OTHERWISE, _NOTHING_NAMED = 3, 2
_EVEN = re.compile(r"\beven (?:if|when|on|in|at|during|while|after|though|once)\b")


def closely_opposed(
    before: Sequence[Advice], after: Sequence[Advice], excuses: Excuses
) -> Iterator[tuple[Opposition, Advice, Advice]]:
    """Opposed directives that only the sentences themselves show; `excuses` are those of the whole replies."""
    close_up = excuses.close_up()
    for first, second, opposition in oppositions(before, after, whole=False, comparable=_of_one_matter):
        if not _grounded(first, second, opposition):
            continue
        if excuses.rests_on_news(second) or close_up.excused(first, second, opposition):
            continue
        yield opposition, first, second


def _of_one_matter(first: Advice, second: Advice) -> bool:
    return not first.topic.isdisjoint(second.topic)


def _grounded(first: Advice, second: Advice, opposition: Opposition) -> bool:
    if opposition.kind == "frequency" and "care" in (first.effect, second.effect) and not _of_a_test(opposition):
        # how soon to ring is compared as urgency
        return False
    if opposition.kind in ("dose", "frequency") and _in_another_situation(first, second):
        return False
    if opposition.kind in ("avoid/use", "start/stop") and _without_exception(first) and not on_a_sick_day(second):
        return True
    needed = _NEEDED.get(opposition.kind, _OTHERWISE)
    if opposition.object is None:
        needed = max(needed, _NOTHING_NAMED)
        if opposition.kind in ("dose", "frequency") and _other_medicine(first, second):
            return False
    if (first.weak or second.weak) and not (opposition.object and opposition.kind in ("dose", "frequency")):
        # praise or blame is no advice, yet "once a month is plenty" sets an amount
        return False
    ground = common_ground(first, second)
    return len(ground) >= needed or (opposition.kind == "urgency" and bool(ground) and same_figures(first, second))


def _in_another_situation(first: Advice, second: Advice) -> bool:
    """ "every hour while she's ill": an amount for a situation that the earlier sentence does not speak of."""
    return second.condition_kind in ("if", "stage", "while") and first.topic.isdisjoint(second.condition_topic)


def _of_a_test(opposition: Opposition) -> bool:
    return opposition.object is not None and opposition.object.startswith("test:")


def _without_exception(advice: Advice) -> bool:
    """ "every day, even when you feel well": a rule that names its exceptions and allows none."""
    return unbroken(advice) or _EVEN.search(advice.quote.lower()) is not None


def _other_medicine(first: Advice, second: Advice) -> bool:
    """Whether one of the two names a medicine that the other does not: the amount may be that one's."""
    one, other = (
        {name for name in (*advice.named, *advice.objects) if name.startswith(("drug:", "class:"))}
        for advice in (first, second)
    )
    return one.isdisjoint(other) and bool(one | other)
