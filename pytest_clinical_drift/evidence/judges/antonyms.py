"""The same act with an opposite word ("on his back", "on his front"), and stopping at once against tapering."""

from __future__ import annotations

from functools import lru_cache

from pytest_clinical_drift.evidence.guidance.objects import related, stem
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_SHARED, _SHARED_IN_REPLIES = 2, 3
"""Other topic words that the two sentences must have in common."""


@lru_cache(maxsize=1)
def _pairs() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return tuple((frozenset(one), frozenset(other)) for one, other in load_data("advice")["opposite_words"])


@lru_cache(maxsize=1)
def _all_words() -> frozenset[str]:
    return frozenset().union(*(words for pair in _pairs() for words in pair))


def antonyms_opposed(first: Advice, second: Advice, *, whole: bool) -> Opposition | None:
    """Both tell to do something, in words that exclude each other."""
    if first.polarity != "do" or second.polarity != "do" or "care" in (first.effect, second.effect):
        return None
    if _all_words().isdisjoint(first.said) or _all_words().isdisjoint(second.said):
        return None
    for one, other in _pairs():
        for here, there in ((one, other), (other, one)):
            if _only(first, here, there) and _only(second, there, here):
                words = {stem(word) for word in one | other}
                common = (first.topic & second.topic) - words
                if len(common) >= _needed(first, second, whole):
                    said = sorted(first.said & here)[0], sorted(second.said & there)[0]
                    return Opposition("polarity", f"one text says {said[0]}, the other {said[1]}", False, None, 1.1)
    return None


def _needed(first: Advice, second: Advice, whole: bool) -> int:
    """Topic words to be shared: one situation, or acts of which little is said, need fewer."""
    situation = first.condition_topic & second.topic or second.condition_topic & first.topic
    if situation or (not whole and _bodily(first, second)):
        return 1
    return _SHARED_IN_REPLIES if whole else _SHARED


def _bodily(first: Advice, second: Advice) -> bool:
    """Whether both are about what to do with body or things, so that little else is said."""
    return {first.action, second.action} <= {"practise", "rest", "carry"}


def _only(advice: Advice, here: frozenset[str], there: frozenset[str]) -> bool:
    return not here.isdisjoint(advice.said) and there.isdisjoint(advice.said)


def contrary_opposed(first: Advice, second: Advice, *, whole: bool) -> Opposition | None:
    """Two things that exclude each other are both advised: bed rest and walking."""
    if first.stance <= 0 or second.stance <= 0 or first.strength != "should" or second.strength != "should":
        return None
    passing = any(advice.temporary or advice.condition for advice in (first, second))
    if whole and (passing or not first.topic & second.topic):
        return None
    contrary: dict[str, list[str]] = load_data("advice")["contrary"]
    for one, other in ((first, second), (second, first)):
        for name in one.objects:
            against = set(contrary.get(name, ())) & set(other.objects)
            if against:
                names = name.partition(":")[2], min(against).partition(":")[2]
                reason = f"one text advises {names[0]}, the other {names[1]}"
                return Opposition("polarity", reason, False, name, 1.3)
    return None


def manner_opposed(first: Advice, second: Advice) -> Opposition | None:
    """One tapers a medicine, the other stops it at once."""
    for slow, fast in ((first, second), (second, first)):
        if not (_tapers(slow) and _stops_at_once(fast)):
            continue
        for name in slow.objects:
            if name.startswith(("drug:", "class:")) and any(related(name, other) for other in fast.objects):
                reason = f"{name.partition(':')[2]} is to be tapered, and to be stopped at once"
                return Opposition("start/stop", reason, True, name, 2.6)
    return None


def _tapers(advice: Advice) -> bool:
    if advice.polarity != "do" or advice.effect not in ("less", "against"):
        return False
    return not listed("gradual").isdisjoint(advice.said) or advice.verb in listed("gradual")


def _stops_at_once(advice: Advice) -> bool:
    if advice.polarity != "do" or advice.action != "stop" or not listed("gradual").isdisjoint(advice.said):
        return False
    return not listed("abrupt").isdisjoint(advice.said)
