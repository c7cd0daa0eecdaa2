"""The details of a directive: what its action means, its amounts, timing, urgency, condition and reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, cast

from pytest_clinical_drift.evidence.guidance.amounts import read_amounts
from pytest_clinical_drift.evidence.guidance.counts import counted
from pytest_clinical_drift.evidence.guidance.draft import Draft
from pytest_clinical_drift.evidence.guidance.figures import Figure, read_figures
from pytest_clinical_drift.evidence.guidance.kin import with_kin
from pytest_clinical_drift.evidence.guidance.limits import condition_of, condition_topic, is_deferred, limits_of
from pytest_clinical_drift.evidence.guidance.manner import is_qualified, not_supposed
from pytest_clinical_drift.evidence.guidance.meanings import meaning_of
from pytest_clinical_drift.evidence.guidance.objects import Mention, stems
from pytest_clinical_drift.evidence.guidance.record import Advice, Polarity, Urgency
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.targets import targets_of
from pytest_clinical_drift.evidence.guidance.timing import clock_time, meal_timing, timing_of
from pytest_clinical_drift.evidence.guidance.words import HARD, listed

_NAMED = frozenset(("drug", "class", "food", "test", "condition", "measure"))


class Setting(NamedTuple):
    """What all directives of a sentence have in common."""

    urgency: Urgency | None
    reason: str | None
    topic: frozenset[str]
    figures: tuple[Figure, ...]
    group: frozenset[str]


def setting_of(sentence: Sentence) -> Setting:
    """The setting of a sentence, read once for all its directives."""
    words = sentence.view.words
    figures = read_figures(words[sentence.first : sentence.end])
    return Setting(_urgency(sentence), _reason(sentence), _topic(sentence), figures, _group(words, sentence))


def complete(
    sentence: Sentence, draft: Draft, following: int, salient: tuple[Mention, ...], setting: Setting
) -> Iterator[Advice]:
    """The finished directives of a draft, one for each medicine that has its own amount ("X 5 mg and Y 40 mg").

    `following` is where the next draft opens.
    """
    end = max(following, draft.end)
    draft.mood = not_supposed(sentence, draft)
    targets = targets_of(sentence, draft, end, salient)
    for own, stretch in _each_with_its_amount(sentence, draft, targets, end):
        yield _directive(sentence, replace(draft, stretch=stretch) if stretch else draft, own, end, setting)


def _each_with_its_amount(
    sentence: Sentence, draft: Draft, targets: tuple[Mention, ...], end: int
) -> list[tuple[tuple[Mention, ...], tuple[int, int] | None]]:
    if draft.effect != "for" or len(targets) < 2 or not all(m.medicine and m.first >= draft.end for m in targets):
        return [(targets, None)]
    stops = [*(m.first for m in targets[1:]), end]
    stretches = [(m.first, stop) for m, stop in zip(targets, stops, strict=True)]
    words = sentence.view.words
    if not all(read_amounts(words[first:stop]).regimen for first, stop in stretches):
        return [(targets, None)]
    return [((m,), stretch) for m, stretch in zip(targets, stretches, strict=True)]


def _directive(sentence: Sentence, draft: Draft, targets: tuple[Mention, ...], end: int, setting: Setting) -> Advice:
    view = sentence.view
    document = view.document
    first, last = _stretch(sentence, draft, end)
    amounts = counted(view.words, targets, read_amounts(view.words[first:last]))
    action, effect = meaning_of(sentence, draft, targets, amounts, end)
    food = timing_of(sentence, first, "food_timing") or meal_timing(view.words[first:last])
    if food is None and draft.verb in ("eat", "eating") and not any(m.kind == "food" for m in targets):
        food = "without_food" if draft.mood.negated else "with_food"
    hour = timing_of(sentence, first, "times_of_day") or clock_time(view.words[first:last])
    limits = limits_of(sentence, draft)
    condition, condition_kind = condition_of(sentence, limits)
    if draft.mood.negated and effect == "against" and condition_kind in ("if", "stage") and not sentence.heading_limit:
        # "don't stop it when you feel better": kept up even then
        condition_kind = "even"
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
        timing=food.replace("_", " ") if food else hour,
        hour=hour,
        duration=f"{amounts.lasts[0]:g} days" if amounts.lasts else None,
        urgency=setting.urgency,
        condition=condition,
        reason=setting.reason,
        effect=effect,
        objects=with_kin(sentence, draft, targets, effect),
        amounts=amounts,
        food=food,
        condition_kind=condition_kind,
        temporary="temporary" in sentence.categories or sentence.heading_limit is not None,
        bounded="bounded" in sentence.categories,
        lasting=_lasting(sentence, draft),
        deferred=is_deferred(sentence, draft),
        qualified=is_qualified(sentence, draft, targets, end, food),
        weak=draft.weak,
        sentence=sentence.number,
        named=_named(sentence, draft, targets),
        scope=stems(view.words[draft.first : end]),
        said=_said(sentence, draft, end),
        topic=setting.topic,
        condition_topic=condition_topic(sentence, limits),
        figures=setting.figures,
        granted="pressure" in sentence.categories or "concessions" in sentence.categories,
        group=setting.group,
        sure=all(m in sentence.mentions or m in sentence.label_mentions for m in targets),
        verb=draft.verb,
        goal=sentence.goal,
    )


def _named(sentence: Sentence, draft: Draft, targets: tuple[Mention, ...]) -> frozenset[str]:
    """What the sentence names; of several medicines with their own amounts only the one meant."""
    own = draft.stretch is not None and len(targets) == 1
    return frozenset(
        m.id for m in sentence.mentions if m.kind in _NAMED and not (own and m.medicine and m.id != targets[0].id)
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


def _urgency(sentence: Sentence) -> Urgency | None:
    if sentence.called is not None:
        return cast(Urgency, sentence.called.replace("_", " "))
    if "urgency" not in sentence.categories:
        return None
    opens = {limit.first for limit in sentence.limits}
    found = {
        hit.value
        for hit in sentence.hits
        if hit.category == "urgency"
        and (not sentence.limited(hit.first) or (hit.value == "routine" and hit.first in opens))
    }
    for level in ("now", "same_day", "days", "routine"):
        if level in found:
            return cast(Urgency, level.replace("_", " "))
    return None


def _lasting(sentence: Sentence, draft: Draft) -> bool:
    """Whether it is meant for good; "don't stop it altogether" says how far, not how long."""
    if "lasting" not in sentence.categories:
        return False
    return any(
        hit.category == "lasting"
        and not sentence.limited(hit.first)
        and not (draft.mood.negated and hit.value in ("altogether", "at all"))
        and (draft.mood.negated or hit.value != "again")
        for hit in sentence.hits
    )


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


def _group(words: list[str], sentence: Sentence) -> frozenset[str]:
    """Groups of people named in general: "children under 16", "people with asthma", not "your children"."""
    groups = listed("groups")
    return frozenset(
        words[at]
        for at in range(sentence.first, sentence.end)
        if words[at] in groups and (at == sentence.first or words[at - 1] not in listed("own"))
    )
