"""Which two directives cannot both be followed, conditions aside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pytest_clinical_drift.evidence.guidance.objects import stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.antonyms import antonyms_opposed, contrary_opposed, manner_opposed
from pytest_clinical_drift.evidence.judges.attributes import attributes_opposed, mixture_opposed
from pytest_clinical_drift.evidence.judges.measures import amounts_opposed, food_opposed, goals_opposed
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.sharing import shared_object
from pytest_clinical_drift.evidence.judges.urgencies import contact_opposed, urgency_opposed
from pytest_clinical_drift.evidence.judges.wordings import (
    act_opposed,
    noun_opposed,
    rhythm_opposed,
    said_opposed,
    scope_opposed,
    watch_opposed,
)

_SCOPE = 2
_FEW_SHARED = {"activity": 0, "treatment": 1}
_WORD = re.compile(r"[a-z]+")
_GENERIC_SHARED = 3
_WAYS = {"more": 1, "less": -1}


def oppositions(
    before: Sequence[Advice],
    after: Sequence[Advice],
    *,
    whole: bool,
    comparable: Callable[[Advice, Advice], bool] | None = None,
) -> Iterator[tuple[Advice, Advice, Opposition]]:
    """Every opposed pair of directives of two texts; `whole` replies need more in common than a few sentences."""
    for first in before:
        for second in after:
            if first.quote == second.quote or (comparable is not None and not comparable(first, second)):
                continue
            if whole and (first.weak or second.weak or not (first.sure or second.sure)):
                continue
            opposition = _opposed(first, second, whole)
            if opposition is None:
                continue
            if both_ways(first, second, before, after):
                continue
            if whole and _same_set(first, second, before, after, opposition):
                continue
            yield first, second, opposition


def both_ways(first: Advice, second: Advice, before: Sequence[Advice], after: Sequence[Advice]) -> bool:
    """Whether one of two replies speaks for and against the thing itself, so that it weighs rather than contradicts."""
    if first.stance * second.stance >= 0:
        return False
    # "stop it, then start again" in one sentence is one plan
    rest = [advice for advice in after if advice.sentence != second.sentence]
    return _also(first, rest) or _also(second, [advice for advice in before if advice.sentence != first.sentence])


def _also(advice: Advice, others: Sequence[Advice]) -> bool:
    return any(
        other.stance == advice.stance
        and other.sure
        and not other.weak
        and not set(other.objects).isdisjoint(advice.objects)
        for other in others
    )


def _same_set(
    first: Advice, second: Advice, before: Sequence[Advice], after: Sequence[Advice], opposition: Opposition
) -> bool:
    """A regimen told in parts (morning and night): one side's amount stands on the other side as well."""
    if opposition.kind not in ("dose", "frequency") or opposition.object is None:
        return False
    if any(sum(one.startswith("drug:") for one in advice.named) > 1 for advice in (first, second)):
        # with several medicines in one sentence the amount may be another's
        return True
    if (first.amounts.per_day is None) != (second.amounts.per_day is None) and not _single_dose(first, second):
        # a single dose beside a day's regimen
        return True
    name = opposition.object
    return _has_amount(second, before, name) or _has_amount(first, after, name)


def _single_dose(first: Advice, second: Advice) -> bool:
    """Whether both state how much is taken at one time, counted in tablets."""
    return all(
        advice.amounts.dose is not None and advice.amounts.dose.dimension == "tablet" for advice in (first, second)
    )


def _has_amount(advice: Advice, others: Sequence[Advice], name: str) -> bool:
    own = advice.amounts
    return any(
        name in other.objects
        and (
            (own.dose is not None and own.dose == other.amounts.dose and own.per_day == other.amounts.per_day)
            or (own.daily is not None and own.daily == other.amounts.daily)
        )
        for other in others
    )


def _opposed(first: Advice, second: Advice, whole: bool) -> Opposition | None:
    found = (
        mixture_opposed(first, second)
        or manner_opposed(first, second)
        or goals_opposed(first, second, whole=whole)
        or _by_object(first, second, whole)
        or urgency_opposed(first, second, whole=whole)
    )
    found = found or antonyms_opposed(first, second, whole=whole)
    if whole:
        return found or said_opposed(first, second) or act_opposed(first, second) or watch_opposed(first, second)
    return (
        found
        or scope_opposed(first, second)
        or noun_opposed(first, second)
        or contact_opposed(first, second)
        or rhythm_opposed(first, second)
    )


def _by_object(first: Advice, second: Advice, whole: bool) -> Opposition | None:
    shared = shared_object(first, second)
    if shared is None:
        return contrary_opposed(first, second, whole=whole) or (None if whole else _food_elsewhere(first, second))
    one, other, relation = shared
    medicine = one.startswith(("drug:", "class:"))
    needed = _GENERIC_SHARED if whole else _FEW_SHARED.get(one.partition(":")[0], _SCOPE)
    if one in listed("generic") and len(first.topic & second.topic) < needed:
        return _direction(first, second, "dose", other) if one == "treatment:tablets" else None
    name = other.partition(":")[2]
    found = _stance(first, second, name, medicine, other)
    if found is not None and whole and (_only_partly(first, second, medicine) or _other_food(first, second, other)):
        return None
    if found is not None or relation != "same":
        return found
    found = _direction(first, second, name, other)
    if found is not None or (whole and not medicine):
        return found
    if whole and (first.effect in _WAYS or second.effect in _WAYS):
        # A dose that is raised or lowered on purpose is a change, not two statements of one dose.
        return food_opposed(first, second, name, other)
    found = amounts_opposed(first, second, name, other, medicine) or food_opposed(first, second, name, other)
    return found or attributes_opposed(first, second, name, other, whole=whole)


def stance_opposed(first: Advice, second: Advice) -> Opposition | None:
    """Having and going without the same thing, or without a class and having its member."""
    shared = shared_object(first, second)
    if shared is None or (shared[0] in listed("generic") and not shared[0].startswith("activity:")):
        return None
    one, other, _ = shared
    return _stance(first, second, other.partition(":")[2], one.startswith(("drug:", "class:")), other)


def _food_elsewhere(first: Advice, second: Advice) -> Opposition | None:
    """ "come fasted" and "have breakfast" for the same test or medicine, which stands elsewhere in the sentence."""
    common = sorted(
        name for name in first.named & second.named if name.startswith(("drug:", "class:", "test:", "condition:"))
    )
    return food_opposed(first, second, common[0].partition(":")[2], common[0]) if common else None


def _stances(first: Advice, second: Advice) -> tuple[int, int]:
    """Stances of both; the same qualification on both sides ("at night") cancels out."""
    if first.timing and first.timing == second.timing and first.amounts.dose is None and second.amounts.dose is None:
        return first.literal_stance, second.literal_stance
    return first.stance, second.stance


def _stance(first: Advice, second: Advice, name: str, medicine: bool, object_id: str) -> Opposition | None:
    one, other = _stances(first, second)
    if one * other >= 0:
        return None
    positive, negative = (first, second) if one > 0 else (second, first)
    if negative.polarity == "no need" and negative.effect == "for" and positive.strength == "may":
        return None
    if positive.polarity == "no need" and negative.strength == "may":
        return None
    if positive.action == "carry" and negative.action != "avoid" and medicine:
        return None
    verb = "go without" if other < 0 else "have"
    kind = "start/stop" if {first.action, second.action} & {"stop", "continue", "start"} else "avoid/use"
    reason = f"the later text says to {verb} {name}, the earlier one the opposite"
    return Opposition(kind, reason, medicine, object_id, 3.0)


def _only_partly(first: Advice, second: Advice, medicine: bool) -> bool:
    """Whether, in long replies, going without is only considered, or only meant for a time or an amount."""
    negative = first if first.literal_stance < 0 else second
    if medicine and negative.action == "continue" and negative.polarity == "don't":
        # "isn't one to stay on": a short course may still be right
        positive = second if negative is first else first
        return positive.action not in ("continue", "start")
    if medicine:
        # giving way ("stop it if you'd rather") lets go of it; "you could stop it" only considers that
        offered = negative.strength == "may" and negative.effect == "against"
        words = _WORD.findall(negative.quote.lower())
        return offered and not negative.granted and not listed("only_considers").isdisjoint(words)
    said = negative.said - frozenset(_WORD.findall((negative.reason or "").lower()))
    # "in any form", "no … at all" leave nothing out
    return not (listed("partial") - {"any"} if negative.lasting else listed("partial")).isdisjoint(said)


def _other_food(first: Advice, second: Advice, object_id: str) -> bool:
    """Two foods of one group, of which the side that forbids names only its own: cheese is not milk."""
    kind, _, group = object_id.partition(":")
    if kind != "food" or "allergy" in (first.verb, second.verb):
        return False
    one, two = stems(first.object_text.lower().split()), stems(second.object_text.lower().split())
    negative = one if first.literal_stance < 0 else two
    return not one & two and not stems(group.split()) & negative


def _direction(first: Advice, second: Advice, name: str, object_id: str) -> Opposition | None:
    if first.action in ("seek_care", "monitor") or second.action in ("seek_care", "monitor"):
        return None
    one, other = _way(first), _way(second)
    if _unchanged(first) and other:
        one = -other
    elif _unchanged(second) and one:
        other = -one
    if one * other >= 0:
        return None
    reason = f"the later text says {'more' if other > 0 else 'less'} {name}, the earlier one the opposite"
    return Opposition("direction", reason, True, object_id, 2.5)


def _unchanged(advice: Advice) -> bool:
    """ "Leave your salt as it is"."""
    return advice.action == "continue" and advice.verb in ("leave", "leaving") and advice.polarity == "do"


def _way(advice: Advice) -> int:
    """+1: more of it, -1: less of it, 0: neither."""
    way = _WAYS.get(advice.effect, 0)
    return way if advice.polarity == "do" else -way if advice.polarity == "don't" else 0
