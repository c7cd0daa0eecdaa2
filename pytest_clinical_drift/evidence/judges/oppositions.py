"""Which two directives cannot both be followed, conditions aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_clinical_drift.evidence.guidance.amounts import number
from pytest_clinical_drift.evidence.guidance.objects import covers, related, stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.attributes import attributes_opposed, mixture_opposed
from pytest_clinical_drift.evidence.judges.measures import (
    amounts_opposed,
    dose_ratio,
    food_opposed,
    how_often,
    rhythm_ratio,
)
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.urgencies import contact_opposed, urgency_opposed

# What two directives must have in common to be compared by their words: in whole replies chance overlaps are likely.
_SAID, _SAID_SHARE = 4, 0.6
_SCOPE, _SCOPE_SHARE = 2, 0.34
_GENERIC_SHARED = 3
_OTHER_RHYTHM = 2.0
# giving way ("stop it if you'd rather") lets go of it; "you could stop it" only considers that
_GRANTS = frozenset(["rather", "insist", "prefer", "ahead"])
_WAYS = {"more": 1, "less": -1}


def oppositions(
    before: Sequence[Advice], after: Sequence[Advice], *, whole: bool
) -> Iterator[tuple[Advice, Advice, Opposition]]:
    """Every opposed pair of directives of two texts; `whole` replies need more in common than a few sentences."""
    for first in before:
        for second in after:
            if whole and (first.weak or second.weak):
                continue
            opposition = _opposed(first, second, whole)
            if opposition is not None and not (whole and _same_set(first, second, before, after, opposition)):
                yield first, second, opposition


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
        or _by_object(first, second, whole)
        or urgency_opposed(first, second, whole=whole)
    )
    if whole:
        return found or _by_said(first, second)
    return (
        found
        or _by_scope(first, second)
        or _by_noun(first, second)
        or contact_opposed(first, second)
        or _by_rhythm(first, second)
    )


def shared_object(first: Advice, second: Advice) -> tuple[str, str, str] | None:
    """Ids of both sides that name the same thing or a class and its member, and how they relate."""
    member = None
    for one in first.objects:
        for other in second.objects:
            relation = related(one, other)
            if relation == "same":
                return one, other, relation
            if relation is not None and _rules_out(first, second, one, other):
                member = one, other, relation
    return member


def _rules_out(first: Advice, second: Advice, one: str, other: str) -> bool:
    """Of a class and its member: whether the side that forbids names the wider one, or both mean the patient's own."""
    if {first.action, second.action} <= {"stop", "continue"} and first.stance * second.stance < 0:
        return True
    if first.stance < 0 < second.stance:
        return covers((one,), other)
    if second.stance < 0 < first.stance:
        return covers((other,), one)
    return False


def _by_object(first: Advice, second: Advice, whole: bool) -> Opposition | None:
    shared = shared_object(first, second)
    if shared is None:
        return None if whole else _food_elsewhere(first, second)
    one, other, relation = shared
    medicine = one.startswith(("drug:", "class:"))
    needed = _GENERIC_SHARED if whole else 1 if one.startswith("activity:") else _SCOPE
    if one in listed("generic") and len(first.topic & second.topic) < needed:
        return None
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


def _food_elsewhere(first: Advice, second: Advice) -> Opposition | None:
    """ "come fasted" and "have breakfast" for the same test or medicine, which stands elsewhere in the sentence."""
    common = sorted(name for name in first.named & second.named if name.startswith(("drug:", "class:", "test:")))
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
    if medicine:
        offered = negative.strength == "may" and negative.effect == "against"
        return offered and _GRANTS.isdisjoint(negative.quote.lower().replace(",", " ").split())
    return not listed("partial").isdisjoint(negative.said)


def _other_food(first: Advice, second: Advice, object_id: str) -> bool:
    """Two foods of one group, of which the side that forbids names only its own: cheese is not milk."""
    kind, _, group = object_id.partition(":")
    if kind != "food":
        return False
    one, two = stems(first.object_text.lower().split()), stems(second.object_text.lower().split())
    negative = one if first.literal_stance < 0 else two
    return not one & two and not stems(group.split()) & negative


def _direction(first: Advice, second: Advice, name: str, object_id: str) -> Opposition | None:
    if first.action in ("seek_care", "monitor") or second.action in ("seek_care", "monitor"):
        return None
    one, other = _way(first), _way(second)
    if one * other >= 0:
        return None
    reason = f"the later text says {'more' if other > 0 else 'less'} {name}, the earlier one the opposite"
    return Opposition("direction", reason, True, object_id, 2.5)


def _way(advice: Advice) -> int:
    """+1: more of it, -1: less of it, 0: neither."""
    way = _WAYS.get(advice.effect, 0)
    return way if advice.polarity == "do" else -way if advice.polarity == "don't" else 0


def _by_said(first: Advice, second: Advice) -> Opposition | None:
    """Nearly the same words with and without negation."""
    if not _negates(first, second):
        return None
    same = len(first.said & second.said)
    if same < _SAID or same < _SAID_SHARE * min(len(first.said), len(second.said)):
        return None
    return Opposition("polarity", "the same action is advised and advised against", False)


def _by_scope(first: Advice, second: Advice) -> Opposition | None:
    """The same topic words under the verb, with and without negation."""
    if not _negates(first, second) or first.action != second.action:
        return None
    if (first.objects or second.objects) and shared_object(first, second) is None:
        return None
    common, smaller = len(first.scope & second.scope), min(len(first.scope), len(second.scope))
    if common < _SCOPE or common < _SCOPE_SHARE * smaller:
        return None
    return Opposition("polarity", "the same action is advised and advised against", False)


def _negates(first: Advice, second: Advice) -> bool:
    return (
        first.effect == second.effect
        and first.polarity != second.polarity
        and "do" in (first.polarity, second.polarity)
    )


def _by_noun(first: Advice, second: Advice) -> Opposition | None:
    """Going for and going without the same thing, which no vocabulary entry names."""
    if first.objects or second.objects or first.stance * second.stance >= 0:
        return None
    if _no_noun(first) or _no_noun(second):
        return None
    one, other = _noun_stems(first), _noun_stems(second)
    common = one & other
    if not common or 2 * len(common) < min(len(one), len(other)):
        return None
    return Opposition("start/stop", f"the later text says the opposite about {second.object_text}", False, None, 1.2)


def _noun_stems(advice: Advice) -> frozenset[str]:
    """Stems of the object's words; of the whole sentence where it is only a pronoun."""
    words = advice.object_text.lower().split()
    return advice.topic if len(words) == 1 and words[0] in listed("object_pronouns") else stems(words)


def _no_noun(advice: Advice) -> bool:
    """Whether what follows the verb is a time or place rather than its object."""
    opening = advice.object_text.lower().split()[:1]
    if not opening or opening[0] in listed("adjunct") or opening[0] == "again":
        return True
    return number(opening[0]) is not None and opening[0] not in ("a", "an")


def _by_rhythm(first: Advice, second: Advice) -> Opposition | None:
    """The same act at very different rhythms, its object being no vocabulary entry."""
    if first.objects or second.objects or first.polarity != "do" or second.polarity != "do":
        return None
    common = first.topic & second.topic
    if not common:
        return None
    ratio = dose_ratio(first.amounts, second.amounts) if len(common) >= _SCOPE else None
    if ratio is not None and ratio >= _OTHER_RHYTHM:
        return Opposition("dose", f"different amounts: {first.dose} and {second.dose}", False)
    gap = rhythm_ratio(first.amounts, second.amounts)
    if gap is None or gap < _OTHER_RHYTHM:
        return None
    return Opposition("frequency", f"{how_often(first.amounts)} and {how_often(second.amounts)}", False)
