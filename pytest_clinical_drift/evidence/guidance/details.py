"""The details of a directive: what its action means, its amounts, timing, urgency, condition and reason."""

from __future__ import annotations

from typing import cast

from pytest_clinical_drift.evidence.guidance.amounts import read_amounts
from pytest_clinical_drift.evidence.guidance.draft import Draft
from pytest_clinical_drift.evidence.guidance.limits import condition_of, condition_topic, is_deferred, limits_of
from pytest_clinical_drift.evidence.guidance.manner import is_qualified
from pytest_clinical_drift.evidence.guidance.objects import Mention, stems
from pytest_clinical_drift.evidence.guidance.quantity import Amounts
from pytest_clinical_drift.evidence.guidance.record import Advice, Polarity, Urgency
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.targets import targets_of
from pytest_clinical_drift.evidence.guidance.words import HARD, listed

_TIMES = frozenset(["hours", "minutes", "days", "weeks", "months", "times", "pm", "am"])
_HELD_IN_PLACE = frozenset(["against", "upright", "firmly", "in", "to", "on"])
_NAMED = frozenset(("drug", "class", "food", "test", "condition", "measure"))


def complete(sentence: Sentence, draft: Draft, following: int, salient: tuple[Mention, ...]) -> Advice:
    """The finished directive of a draft; `following` is where the next one opens."""
    view = sentence.view
    document = view.document
    end = max(following, draft.end)
    targets = targets_of(sentence, draft, end, salient)
    first, last = _stretch(sentence, draft, end)
    amounts = read_amounts(view.words[first:last])
    action, effect = _meaning(sentence, draft, targets, amounts, end)
    food = _timing(sentence, first, "food_timing") or meal_timing(view.words[first:last])
    if food is None and draft.verb in ("eat", "eating") and not any(m.kind == "food" for m in targets):
        food = "without_food" if draft.mood.negated else "with_food"
    limits = limits_of(sentence, draft)
    condition, condition_kind = condition_of(sentence, limits)
    main = targets[0] if targets else None
    start_token, end_token = view.origin[sentence.first], view.origin[sentence.end - 1]
    return Advice(
        action=action,
        polarity=_polarity(view.words, draft, effect),
        strength=draft.mood.strength,
        object=main.id if main else None,
        object_text=document.quote(view.origin[main.first], view.origin[main.end - 1])
        if main
        else _noun(sentence, draft, end),
        quote=document.quote(start_token, end_token),
        start=document.starts[start_token],
        end=document.ends[end_token],
        dose=amounts.dose_text,
        frequency=amounts.frequency_text,
        timing=food.replace("_", " ") if food else _timing(sentence, first, "times_of_day"),
        duration=f"{amounts.lasts[0]:g} days" if amounts.lasts else None,
        urgency=_urgency(sentence),
        condition=condition,
        reason=_reason(sentence),
        effect=effect,
        objects=tuple(dict.fromkeys(target.id for target in targets)),
        amounts=amounts,
        food=food,
        condition_kind=condition_kind,
        temporary="temporary" in sentence.categories or sentence.heading_limit is not None,
        bounded="bounded" in sentence.categories,
        lasting="lasting" in sentence.categories,
        deferred=is_deferred(sentence, draft),
        qualified=is_qualified(sentence, draft, targets, end, food),
        weak=draft.weak,
        sentence=sentence.number,
        named=frozenset(m.id for m in sentence.mentions if m.kind in _NAMED),
        scope=stems(view.words[draft.first : end]),
        said=_said(sentence, draft, end),
        topic=_topic(sentence),
        condition_topic=condition_topic(sentence, limits),
        figures=_figures(sentence),
        verb=draft.verb,
    )


def _stretch(sentence: Sentence, draft: Draft, end: int) -> tuple[int, int]:
    """Words whose amounts belong to the directive: from the sentence's start for statements, else from the verb."""
    if draft.stretch is not None:
        return draft.stretch
    if draft.statement or draft.targets is not None or draft.end >= end:
        return sentence.first, end if end > draft.end + 1 else sentence.end
    return draft.first, end


def _polarity(words: list[str], draft: Draft, effect: str) -> Polarity:
    if draft.mood.no_need:
        return "no need"
    nothing = effect == "for" and words[draft.end : draft.end + 1] == ["nothing"]
    return "don't" if draft.mood.negated or nothing else "do"


def _meaning(
    sentence: Sentence, draft: Draft, targets: tuple[Mention, ...], amounts: Amounts, end: int
) -> tuple[str, str]:
    """Action and effect, once object and amounts are known: "take more", "from 5 to 10 mg", "hold it against"."""
    action, effect = draft.action, draft.effect
    words = sentence.view.words
    direction = _direction(sentence, draft, targets, amounts, end)
    if direction is not None:
        return direction
    target = targets[0] if targets else None
    if target is None:
        return action, effect
    left_over = words[target.first - 1] in ("leftover", "spare", "unused", "old", "expired")
    if effect == "against" and left_over and draft.verb in ("put", "take", "move", "keep", "lock"):
        # what is left of it is put away
        return "practise", "act"
    if draft.verb in ("rule", "ruled", "ruling", "exclude") and target.kind == "test":
        # doctors "rule out a blood pressure problem"
        return "practise", "act"
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
    if effect == "act" and target.kind == "activity" and draft.verb in ("go", "going"):
        return action, "for"
    if effect == "act" and target.kind == "food" and draft.verb in ("mix", "mixed", "combine", "combined", "mixing"):
        return action, "for"
    if effect == "wait" and target.medicine and draft.verb in ("leave", "hold"):
        return "avoid", "against"
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
    if near[:2] == ["any", "more"]:
        # "don't have any more of it"
        return None
    if not listed("more").isdisjoint(near):
        return "increase", "more"
    if not listed("less").isdisjoint(near):
        return "decrease", "less"
    if draft.effect in ("act", "for") and amounts.changed_from is not None and amounts.dose is not None:
        return ("increase", "more") if amounts.dose.low > amounts.changed_from.low else ("decrease", "less")
    if draft.verb in ("drop", "cut") and draft.effect == "against":
        behind = words[draft.end : end]
        figure = any(word[0].isdigit() or word in ("half", "one", "two") for word in behind)
        return ("decrease", "less") if figure and ("by" in behind or "to" in behind) else None
    return None


def _noun(sentence: Sentence, draft: Draft, end: int) -> str:
    """The words after the verb, up to the next preposition or mark."""
    view = sentence.view
    stoppers = listed("stoppers")
    if draft.noun is not None:
        return view.document.quote(view.origin[draft.noun[0]], view.origin[draft.noun[1] - 1])
    if draft.end < end and view.words[draft.end] in listed("adjunct") and not view.marks[draft.end]:
        return _subject_noun(sentence, draft)
    at = draft.end
    if (
        view.words[at : at + 2]
        and view.words[at] in ("him", "her", "them", "you")
        and view.words[at + 1 : at + 2] in (["on"], ["off"])
    ):
        # "keep him on the nebuliser"
        at += 2
    start = at
    while at < min(end, draft.end + 6) and (
        at == start or (view.gaps[at] in ("", "-", "'s") and view.words[at] not in stoppers)
    ):
        at += 1
    return view.document.quote(view.origin[start], view.origin[at - 1]) if at > start else ""


def _subject_noun(sentence: Sentence, draft: Draft) -> str:
    """ "tampons are fine to use before …": the words before the copula."""
    view = sentence.view
    start = sentence.clause_first(draft.first)
    for at in range(start + 1, min(start + 6, draft.first)):
        if view.words[at] in ("is", "are"):
            return view.document.quote(view.origin[start], view.origin[at - 1])
    return ""


def meal_timing(words: list[str]) -> str | None:
    """ "straight after a full meal", "an hour before any food": with or without food."""
    meals = listed("meals")
    if meals.isdisjoint(words):
        return None
    for at, word in enumerate(words):
        if word in meals:
            before = set(words[max(0, at - 5) : at])
            if before & {"before", "without", "clear", "between", "hours"} or (
                "hour" in before and "half" not in before
            ):
                return "without_food"
            if before & {"with", "after", "alongside", "during", "through"}:
                return "with_food"
    return None


def _timing(sentence: Sentence, start: int, category: str) -> str | None:
    if category not in sentence.categories:
        return None
    found = [hit for hit in sentence.hits if hit.category == category and start <= hit.first]
    # "before you have eaten" is one phrase, not also "have eaten"
    outer = [hit for hit in found if not any(o.first <= hit.first and hit.end <= o.end and o != hit for o in found)]
    values = {hit.value for hit in outer}
    if "either" in values:
        return "either"
    return outer[0].value if len(values) == 1 else None


def _urgency(sentence: Sentence) -> Urgency | None:
    if "urgency" not in sentence.categories:
        return None
    found = {hit.value for hit in sentence.hits if hit.category == "urgency" and not sentence.limited(hit.first)}
    for level in ("now", "same_day", "days", "routine"):
        if level in found:
            return cast(Urgency, level.replace("_", " "))
    return None


def _topic(sentence: Sentence) -> frozenset[str]:
    found = stems(sentence.view.words[sentence.first : sentence.end])
    return found | stems(sentence.asked_before.lower().split()) if sentence.asked_before else found


def _reason(sentence: Sentence) -> str | None:
    if "reasons" not in sentence.categories:
        return None
    view = sentence.view
    for hit in sentence.hits:
        if hit.category == "reasons" and hit.first > sentence.first and hit.value not in ("as", "otherwise"):
            return view.document.quote(view.origin[hit.first], view.origin[sentence.end - 1])
    return None


def _said(sentence: Sentence, draft: Draft, end: int) -> frozenset[str]:
    """The words of a directive's own clause, little words aside."""
    view = sentence.view
    little = listed("little")
    at = draft.first + 1
    while at < end and not view.marks[at] & HARD:
        at += 1
    return frozenset(
        view.words[index]
        for index in range(draft.first, at)
        if view.words[index] not in little and not sentence.limited(index)
    )


def _figures(sentence: Sentence) -> tuple[float, float] | None:
    """Lowest and highest figure of a sentence, phone numbers and times aside."""
    words = sentence.view.words
    phones = listed("phones")
    values = [
        float(words[at])
        for at in range(sentence.first, sentence.end)
        if words[at][0].isdigit() and words[at].replace(".", "", 1).isdecimal() and len(words[at]) < 6
        and words[at] not in phones and not (at + 1 < sentence.end and words[at + 1] in _TIMES)
    ]  # fmt: skip
    return (min(values), max(values)) if values else None
