"""Whether a prohibition is about how or when a thing is used rather than whether."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.amounts import read_amounts
from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import listed

_SUPPOSED_WITHIN = 7
"""Words from "I don't suppose" to what is not supposed."""
_LEADS_ON = frozenset(["so", "but", "and", "because", "twice", "about", "of", "harm", "wrong", "problem", "why"])


def is_qualified(sentence: Sentence, draft: Draft, targets: tuple[Mention, ...], end: int, food: str | None) -> bool:
    """Whether a negated use is about how, not whether: "don't take two", "no need to take it with food"."""
    words = sentence.view.words
    if draft.mood.negated and any(words[target.end : target.end + 1] == ["without"] for target in targets):
        # "never go swimming without your inhaler"
        return True
    forbids = draft.effect == "against" and draft.action == "avoid" and not draft.mood.negated
    if forbids:
        return _by_the_clock(words[draft.end : end])
    if draft.effect != "for" or not (draft.mood.negated or draft.mood.no_need):
        return False
    if _by_the_clock(words[draft.end : end]):
        return True
    behind = [target for target in targets if target.first >= draft.end]
    start = max([draft.end, *(target.end for target in behind)])
    if food is not None or read_amounts(words[start:end]).regimen:
        return True
    if any(hit.category == "times_of_day" and start <= hit.first < end for hit in sentence.hits):
        return True
    if behind and read_amounts(words[draft.end : behind[0].first]).dose is not None:
        return True
    after = words[start : min(end, start + 3)]
    if draft.action == "carry" and behind and after[:1] != [] and after[0] in ("in", "near", "by", "inside", "next"):
        # "don't keep it in the car" is about where
        return True
    if after[:2] != ["any", "more"] and not listed("manner").isdisjoint(after[:2]):
        return True
    if after[:1] == ["at"] and "dose" in words[start : min(end, start + 5)]:
        return True
    return after[:1] in (["with"], ["after"], ["before"]) and not listed("with_meals").isdisjoint(after)


def not_supposed(sentence: Sentence, draft: Draft) -> Mood:
    """The mood of a directive; what "I don't suppose" that somebody needs is not needed."""
    mood = draft.mood
    if mood.negated or mood.no_need or draft.weak:
        return mood
    words = sentence.view.words
    first = max(sentence.first + 1, draft.first - _SUPPOSED_WITHIN)
    supposes = listed("supposes")
    if supposes.isdisjoint(words[first : draft.first]):
        return mood
    for at in range(first, draft.first):
        if words[at] not in supposes or not sentence.same_clause(at, draft.first):
            continue
        before = words[max(sentence.first, at - 2) : at]
        if "not" in before and _LEADS_ON.isdisjoint(words[at : draft.first]):
            return Mood("should", False, True)
    return mood


def _by_the_clock(words: list[str]) -> bool:
    """ "after 4 pm", "later than noon", "too close to bedtime": a limit on the hour."""
    for at, word in enumerate(words[:6]):
        if word in ("after", "past", "later", "before") and not listed("clock").isdisjoint(words[at + 1 : at + 5]):
            return True
    return False
