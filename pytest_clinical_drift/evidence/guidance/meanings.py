"""What an action means once object and amounts are known: "take more", "from 5 to 10 mg", "hold it against"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.draft import Draft
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.quantity import Amounts
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import listed

_PUTS_OFF = frozenset(["leave", "leaving", "save", "saving", "keep", "keeping", "hold", "store", "raise", "mention"])
_POSTED = frozenset(["send", "sending", "return", "returning", "post", "posting", "hand", "handing"])
_HELD_IN_PLACE = frozenset(["against", "upright", "firmly", "in", "to", "on"])


def meaning_of(
    sentence: Sentence, draft: Draft, targets: tuple[Mention, ...], amounts: Amounts, end: int
) -> tuple[str, str]:
    """Action and effect, once object and amounts are known: "take more", "from 5 to 10 mg", "hold it against"."""
    action, effect = draft.action, draft.effect
    words = sentence.view.words
    direction = _direction(sentence, draft, targets, amounts, end)
    if direction is not None:
        return direction
    target = targets[0] if targets else None
    later = any(hit.category == "urgency" and hit.value in ("routine", "days") for hit in sentence.hits)
    if (
        later
        and draft.verb in _PUTS_OFF
        and effect in ("act", "for")
        and (target is None or target.kind == "condition")
    ):
        # "leave it for the routine check", "save it for your call next week"
        return "wait", "wait"
    if target is None:
        return action, effect
    left_over = words[target.first - 1] in ("leftover", "spare", "unused", "old", "expired")
    if effect == "against" and left_over and draft.verb in ("put", "take", "move", "keep", "lock"):
        # what is left of it is put away
        return "practise", "act"
    if draft.verb in ("rule", "ruled", "ruling", "exclude") and target.kind == "test":
        # doctors "rule out a blood pressure problem"
        return "practise", "act"
    if action == "schedule" and target.id == "class:vaccine":
        return action, "for"
    if draft.verb in ("hold", "holding") and effect == "against":
        if not target.medicine:
            return "practise", "for"
        if target.end < len(words) and words[target.end] in _HELD_IN_PLACE:
            return "practise", "act"
    if (
        effect == "act"
        and target.kind in ("drug", "class", "food")
        and "with" in words[max(0, target.first - 3) : target.first]
    ):
        return action, "for"
    if effect == "act" and target.kind == "activity" and draft.verb in ("go", "going", "spend", "stay"):
        return action, "for"
    if effect == "act" and target.kind == "food" and draft.verb in ("mix", "mixed", "combine", "combined", "mixing"):
        return action, "for"
    if draft.verb in ("keep", "kept", "keeping") and "apart" in words[draft.end : end] and target.kind != "treatment":
        # "X and Y should be kept apart"
        return "avoid", "against"
    if draft.verb in ("go", "going") and effect == "act" and target.medicine and words[draft.end] == "on":
        # "I'd rather you didn't go on it"
        return "start", "for"
    if effect == "wait" and target.medicine and draft.verb in ("leave", "hold", "wait"):
        # "X will have to wait"
        return "avoid", "against"
    if effect == "against" and draft.verb in _POSTED and target.kind == "test":
        # a screening kit that is sent back is used
        return "take", "for"
    return action, effect


def _direction(
    sentence: Sentence, draft: Draft, targets: tuple[Mention, ...], amounts: Amounts, end: int
) -> tuple[str, str] | None:
    """Whether the words beside the verb or thing turn it into more or less of it."""
    words = sentence.view.words
    near: list[str] = []
    if draft.effect in ("for", "act") and not draft.statement and draft.action in ("take", "eat", "practise", "start"):
        near = words[draft.end : min(draft.end + 3, end)]
    elif draft.statement and draft.effect == "for" and targets:
        near = [
            word for word in words[max(sentence.first, targets[0].first - 2) : targets[0].first] if word != "longer"
        ]
    if draft.effect == "for" and _all_at_once(words[draft.end : end]):
        return "increase", "more"
    if near[:2] == ["any", "more"]:
        # "don't have any more of it"
        return None
    if not listed("more").isdisjoint(near):
        return "increase", "more"
    if not listed("less").isdisjoint(near):
        return "decrease", "less"
    if draft.statement and targets and "added" in words[max(sentence.first, targets[0].first - 4) : targets[0].first]:
        return "increase", "more"
    if draft.effect in ("act", "for") and amounts.changed_from is not None and amounts.dose is not None:
        return ("increase", "more") if amounts.dose.low > amounts.changed_from.low else ("decrease", "less")
    if draft.verb in ("drop", "cut") and draft.effect == "against":
        behind = words[draft.end : end]
        figure = any(word[0].isdigit() or word in ("half", "one", "two") for word in behind)
        return ("decrease", "less") if figure and ("by" in behind or "to" in behind) else None
    return None


def _all_at_once(behind: list[str]) -> bool:
    """ "two doses together", "both tablets at once": more than the usual."""
    if "together" not in behind and "once" not in behind and "go" not in behind:
        return False
    several = behind[:1] != [] and behind[0] in ("two", "2", "both", "three", "3")
    return several and not {"doses", "tablets", "pills", "capsules"}.isdisjoint(behind[:3])
