"""Directives compared by their words, where no vocabulary entry names what they are about."""

from __future__ import annotations

import re

from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.objects import stem, stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.measures import dose_ratio, how_often, rhythm_ratio
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.sharing import shared_object

# What two directives must have in common to be compared by their words: in whole replies chance overlaps are likely.
_SAID, _SAID_SHARE = 4, 0.6
_SCOPE, _SCOPE_SHARE = 2, 0.34
_OTHER_RHYTHM, _FAR_RHYTHM = 2.0, 4.0
_WORD = re.compile(r"[a-z]+")


def said_opposed(first: Advice, second: Advice) -> Opposition | None:
    """Nearly the same words with and without negation."""
    if not _negates(first, second):
        return None
    same = len(first.said & second.said)
    if same < _SAID or same < _SAID_SHARE * min(len(first.said), len(second.said)):
        return None
    return Opposition("polarity", "the same action is advised and advised against", False)


def scope_opposed(first: Advice, second: Advice) -> Opposition | None:
    """The same topic words under the verb, with and without negation."""
    if not _negates(first, second) or first.action != second.action:
        return None
    if first.objects and second.objects and shared_object(first, second) is None:
        return None
    common, smaller = len(first.scope & second.scope), min(len(first.scope), len(second.scope))
    if common < _SCOPE or common < _SCOPE_SHARE * smaller:
        return None
    if _compound(first, second) or _compound(second, first):
        return None
    return Opposition("polarity", "the same action is advised and advised against", False)


def _compound(one: Advice, other: Advice) -> bool:
    """ "cold and fever syrup" is not the "fever syrup" that the other text speaks of."""
    words = _WORD.findall(one.quote.lower())
    shared = one.scope & other.scope
    for at in range(2, len(words)):
        if words[at - 1] == "and" and stem(words[at]) in shared and at + 1 < len(words):
            joined = stem(words[at - 2])
            if stem(words[at + 1]) in shared and joined in one.scope and joined not in other.topic:
                return True
    return False


def _negates(first: Advice, second: Advice) -> bool:
    return (
        first.effect == second.effect
        and first.polarity != second.polarity
        and "do" in (first.polarity, second.polarity)
    )


def noun_opposed(first: Advice, second: Advice) -> Opposition | None:
    """Going for and going without the same thing, which no vocabulary entry names."""
    if first.objects or second.objects or not (first.stance * second.stance < 0 or _touches(first, second)):
        return None
    if _no_noun(first) or _no_noun(second):
        return None
    one, other = _noun_stems(first), _noun_stems(second)
    common = one & other
    if not common or 2 * len(common) < min(len(one), len(other)):
        return None
    return Opposition("start/stop", f"the later text says the opposite about {second.object_text}", False, None, 1.2)


def _touches(first: Advice, second: Advice) -> bool:
    """ "Leave the blister alone" against anything that is done to it."""
    for left, done in ((first, second), (second, first)):
        if left.verb in ("leave", "leaving") and left.stance < 0 and done.effect == "act" and done.polarity == "do":
            return done.verb not in ("leave", "keep", "cover", "protect", "clean", "wash")
    return False


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


def rhythm_opposed(first: Advice, second: Advice) -> Opposition | None:
    """The same act at very different rhythms, its object being no vocabulary entry."""
    if (first.objects and second.objects) or not (_sets_rhythm(first) and _sets_rhythm(second)):
        return None
    common = first.topic & second.topic
    if not common or ("care" in (first.effect, second.effect) and first.effect != second.effect):
        return None
    ratio = dose_ratio(first.amounts, second.amounts) if len(common) >= _SCOPE else None
    if ratio is not None and ratio >= _OTHER_RHYTHM:
        return Opposition("dose", f"different amounts: {first.dose} and {second.dose}", False)
    dated = first.amounts.per_day is None or second.amounts.per_day is None
    gap = rhythm_ratio(first.amounts, second.amounts)
    if gap is None or gap < _OTHER_RHYTHM or (dated and first.effect != second.effect):
        return None
    return Opposition("frequency", f"{how_often(first.amounts)} and {how_often(second.amounts)}", False)


def _sets_rhythm(advice: Advice) -> bool:
    """Whether it says how often; "no need to do it more than once a month" does."""
    return advice.polarity == "do" or (advice.amounts.per_day is not None and "more" in advice.said)


def act_opposed(first: Advice, second: Advice) -> Opposition | None:
    """In whole replies: the same verb and thing ("rinse his mouth") with and without negation."""
    if not _negates(first, second) or first.effect not in ("act", "watch", "for", "care"):
        return None
    if stem(first.verb) != stem(second.verb) or first.objects or second.objects:
        return None
    negative = second if first.polarity == "do" else first
    limits = listed("partial") if negative.polarity == "don't" else listed("more") | {"every", "daily", "again"}
    if not limits.isdisjoint(negative.said - (first.said & second.said)):
        return None
    common = stems(_WORD.findall(first.object_text.lower())) & stems(_WORD.findall(second.object_text.lower()))
    if not common or len(first.scope & second.scope) < _SCOPE:
        return None
    return Opposition("polarity", "the same action is advised and advised against", False)


def watch_opposed(first: Advice, second: Advice) -> Opposition | None:
    """In whole replies: checking the same thing at very different rhythms, with no situation named."""
    if first.effect != "watch" or second.effect != "watch" or not (_sets_rhythm(first) and _sets_rhythm(second)):
        return None
    if any(a.condition_kind in ("if", "stage", "while") or a.temporary for a in (first, second)):
        return None
    same = bool(set(first.objects) & set(second.objects)) or (
        not first.objects and not second.objects and stem(first.verb) == stem(second.verb)
    )
    gap = rhythm_ratio(first.amounts, second.amounts) if same else None
    if gap is None or gap < _FAR_RHYTHM:
        return None
    return Opposition("frequency", f"{how_often(first.amounts)} and {how_often(second.amounts)}", False)
