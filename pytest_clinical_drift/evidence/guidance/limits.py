"""Conditions: the stretches of a sentence that say when advice applies, and which of them govern a directive."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.draft import Draft
from pytest_clinical_drift.evidence.guidance.objects import stems
from pytest_clinical_drift.evidence.guidance.sentence import Limit, Sentence
from pytest_clinical_drift.evidence.guidance.words import COLON, COMMA, HARD, Hit, advice_words, listed

CONCESSION = "concession"
"""Kind of a limit that only grants what somebody would like ("if you insist")."""
_PERSONAL = frozenset(("you", "he", "she", "they", "it", "we", "i"))
_EVENTS = frozenset(("attack", "emergency", "crisis", "seizure", "flare", "hypo"))
_ONCE_IN = frozenset(("a", "daily", "weekly", "per", "every", "nightly", "monthly", "or"))
_SPANS = frozenset(("day", "days", "week", "weeks", "month", "months", "year", "years", "hours"))
_IF_POSSIBLE = (("you", "can"), ("at", "all"), ("you", "could"), ("he", "can"), ("she", "can"))
_STANDS_FOR = (["they"], ["it"], ["this"], ["that"])
_ONWARDS = frozenset(["night", "day", "week", "month", "tomorrow", "monday", "onwards", "onward"])
_RESTARTS = frozenset(["restart", "resume", "reintroduce", "recommence", "back", "again"])
"""What follows these is when to begin again, not when to stop."""
_SITUATIONS = ("if", "unless", "while", "when", "during")
_WHENEVER_YOU_LIKE = (["you", "like"], ["you", "want"], ["it", "suits"], ["you", "wish"])


def find_limits(sentence: Sentence) -> list[Limit]:
    """The conditions of a sentence, in order."""
    words = sentence.view.words
    limits: list[Limit] = []
    reach = sentence.first
    if words[sentence.first] in ("then", "next", "afterwards", "subsequently"):
        limits.append(Limit(sentence.first, sentence.first + 1, "stage"))
    elif words[sentence.first] == "from" and not _ONWARDS.isdisjoint(words[sentence.first + 1 : sentence.first + 6]):
        # "From the eighth night on, …"
        limits.append(Limit(sentence.first, sentence.first + 1, "stage"))
    # "wait until", "see if" are verbs of their own.
    inside_verbs = {at for hit in sentence.hits if hit.category == "verb" for at in range(hit.first + 1, hit.end)}
    granted = {hit.first for hit in sentence.hits if hit.category == "concessions"}
    for hit in sentence.hits:
        if hit.category != "conditions" or hit.first < reach or hit.first in inside_verbs:
            continue
        opener = words[hit.first]
        if _is_no_condition(sentence, hit, opener):
            continue
        clause = opener in listed("clause_cues") or hit.end - hit.first > 1 or hit.value in ("if", "until", "while")
        if opener in ("before", "after"):
            clause = words[hit.end : hit.end + 1] != [] and words[hit.end] in _PERSONAL
            stage = _stage_end(words, hit.end, sentence.end)
            if not clause and stage is None:
                continue
            end = _limit_end(sentence, hit.first) if clause else stage or hit.end
            counted = clause and opener == "after" and hit.first > sentence.first and words[hit.first - 1] in _SPANS
            # "for six months after you feel better" counts the time, it is no later stage
            limits.append(Limit(hit.first, end, "even" if counted else hit.value))
            reach = end
            continue
        clause = clause and words[hit.end - 1] not in _EVENTS
        end = _limit_end(sentence, hit.first) if clause else hit.end
        own = {"taking", "on"} & set(words[hit.end : hit.end + 4])
        if hit.value == "if" and words[hit.end - 2 : hit.end] == ["long", "as"] and own:
            # "for as long as you're taking it" is the case now
            limits.append(Limit(hit.first, end, "while"))
            reach = end
            continue
        kind = "even" if "even" in words[max(sentence.first, hit.first - 3) : hit.first] else hit.value
        limits.append(Limit(hit.first, end, CONCESSION if hit.first in granted else kind))
        reach = end
    return limits + _next_steps(sentence, limits)


def _next_steps(sentence: Sentence, limits: list[Limit]) -> list[Limit]:
    """ "for five days, then stop": what stands behind ", then" is a later stage, unless it answers a condition."""
    words, marks = sentence.view.words, sentence.view.marks
    answered = {limit.end for limit in limits}
    return [
        Limit(at, at + 1, "stage")
        for at in range(sentence.first + 1, sentence.end - 1)
        if words[at] == "then" and marks[at] & (COMMA | HARD) and at not in answered
    ]


def _is_no_condition(sentence: Sentence, hit: Hit, opener: str) -> bool:
    """ "once a day", "at once", "whenever you like", and "should" that asks for nothing but its verb."""
    words = sentence.view.words
    if opener == "once":
        if hit.first > sentence.first and words[hit.first - 1] in ("than", "only", "just", "least", "this"):
            return True
        at_once = hit.first > sentence.first and words[hit.first - 1] == "at"
        return at_once or (hit.end < sentence.end and words[hit.end] in _ONCE_IN)
    if words[hit.first : hit.first + 2] == ["the", "moment"]:
        return hit.first > sentence.first and words[hit.first - 1] in ("at", "for")
    if opener == "while":
        return hit.first > sentence.first and words[hit.first - 1] == "a"
    if opener == "if" and hit.first > sentence.first and words[hit.first - 1] == "as":
        return True
    if any(h.category == "times_of_day" and h.first == hit.first for h in sentence.hits):
        # "when you wake up" is a time of day
        return True
    if any(h.category == "urgency" and h.value == "routine" and h.first == hit.first for h in sentence.hits):
        # "when you next see her" is a date
        return True
    if opener == "if" and tuple(words[hit.end : hit.end + 2]) in _IF_POSSIBLE:
        return hit.end + 2 >= sentence.end or bool(sentence.view.marks[hit.end + 2])
    if opener == "if" and words[hit.end : hit.end + 1] in (["possible"], ["anything"]):
        return True
    if opener == "should":
        return hit.first != sentence.first and not sentence.opens(hit.first)
    if opener in ("when", "if", "as") and words[hit.end : hit.end + 1] in (["needed"], ["required"], ["necessary"]):
        return True
    if opener == "when" and words[hit.end : hit.end + 2] == ["you", "need"]:
        return True
    return opener in ("when", "whenever") and words[hit.end : hit.end + 2] in _WHENEVER_YOU_LIKE


def _stage_end(words: list[str], at: int, end: int) -> int | None:
    """Where a time or an event of treatment that follows "after" or "before" ends ("after the third day")."""
    stages = listed("stages")
    for index in range(at, min(at + 4, end)):
        if words[index] in stages:
            return index + 1
    return None


def _limit_end(sentence: Sentence, at: int) -> int:
    """Where a condition that opens at `at` ends: at its comma when it opens the clause, else with the sentence."""
    view = sentence.view
    words, marks = view.words, view.marks
    joined = words[at - 1] in ("and", "but", "so", "only", "even", "or") and (
        at - 1 == sentence.first or bool(marks[at - 1])
    )
    opening = at == sentence.first or bool(marks[at] & (COLON | HARD | COMMA)) or joined or _early(sentence, at)
    said = {hit.first for hit in sentence.hits if hit.category == "frames"}
    judged = {hit.first for hit in sentence.hits if hit.category in ("predicates", "adjectives")}
    for index in range(at + 1, sentence.end):
        mark = marks[index]
        if not mark:
            if _advice_opens(sentence, at, index, opening, said):
                return index
            copula = not opening and index > at + 2 and words[index] in ("is", "are")
            if copula and words[index - 1] not in _PERSONAL and not judged.isdisjoint(range(index + 1, index + 4)):
                # "two tablets while you're away | are fine"
                return index
        elif (
            mark & (HARD | COLON)
            or (")" in view.gaps[index] and "(" in view.gaps[at])
            or (mark & COMMA and _comma_ends(sentence, index, opening))
        ):
            return index
    return sentence.end


def _early(sentence: Sentence, at: int) -> bool:
    """ "On evenings when …": nothing that advises stands before the condition."""
    return at - sentence.first <= 3 and not any(
        hit.category in ("verb", "frames", "predicates", "thing") and hit.first < at for hit in sentence.hits
    )


def _advice_opens(sentence: Sentence, at: int, index: int, opening: bool, said: set[int]) -> bool:
    """Whether, with no comma, advice begins: "If it is bad | you can take …", "see if it settles | and ring …"."""
    word = sentence.view.words[index]
    if opening:
        modal = sentence.view.words[index + 1 : index + 2] not in (["might"], ["may"], ["could"], ["would"])
        return index > at + 2 and word in ("you", "i", "we") and modal and (index in said or index + 1 in said)
    following = sentence.view.words[index + 1 : index + 2]
    return word == "and" and following != [] and following[0] in listed("care_verbs")


def _comma_ends(sentence: Sentence, index: int, opening: bool) -> bool:
    words = sentence.view.words
    word = words[index]
    following = words[index + 1] if index + 1 < sentence.end else ""
    base = advice_words().base_forms
    if opening:
        return not (word in ("or", "and") and (following not in base or following in ("feel", "have")))
    return word in listed("ends_condition") or (
        word == "and" and following in base and following not in ("have", "feel")
    )


def limits_of(sentence: Sentence, draft: Draft) -> list[Limit]:
    """Limits that govern a directive: those before it, and those after it up to the next semicolon."""
    marks = sentence.view.marks
    return [
        limit
        for limit in sentence.limits
        if limit.kind != CONCESSION
        and not (sentence.view.words[limit.first] == "then" and _opening(draft) < limit.first)
        and (
            (limit.first < draft.end and not _turned(sentence, limit.end, draft.first))
            or (
                limit.first >= draft.end
                and not any(mark & HARD for mark in marks[draft.end : limit.first + 1])
                and _RESTARTS.isdisjoint(sentence.view.words[draft.end : limit.first])
            )
        )
    ]


def _opening(draft: Draft) -> int:
    """Where a directive opens: with what it is about, when that stands first."""
    return min([draft.first, *(target.first for target in draft.targets or ())])


def _turned(sentence: Sentence, first: int, last: int) -> bool:
    """Whether ", but" stands between a limit and the directive behind it."""
    return any(
        sentence.view.words[at] == "but" and sentence.view.marks[at] & COMMA
        for at in range(first, min(last, sentence.end))
    )


def condition_of(sentence: Sentence, limits: list[Limit]) -> tuple[str | None, str | None]:
    """The words that limit a directive, and their kind."""
    view = sentence.view
    situation = sentence.heading_limit is not None and sentence.heading_limit.startswith(_SITUATIONS)
    for wanted in ("if",) if situation else ("if", "stage", "until", "while"):
        for limit in limits:
            if limit.kind == wanted:
                return view.document.quote(view.origin[limit.first], view.origin[limit.end - 1]), wanted
    if sentence.asked_before is not None:
        return sentence.asked_before, "if"
    if sentence.heading_limit is not None:
        return sentence.heading_limit, "if" if sentence.heading_limit.startswith(_SITUATIONS) else "stage"
    return None, None


def condition_topic(sentence: Sentence, limits: list[Limit]) -> frozenset[str]:
    """Stems and figures of what limits a directive: two limits with a figure in common name one situation."""
    words = [word for limit in limits for word in sentence.view.words[limit.first : limit.end]]
    words += (sentence.asked_before or "").lower().replace("?", "").split()
    words += (sentence.heading_limit or "").split()
    if not words:
        return frozenset()
    if any(sentence.view.words[limit.first + 1 : limit.first + 2] in _STANDS_FOR for limit in limits):
        # "If they slow down": what they are stands in the sentence before
        words += sentence.view.words[sentence.before : sentence.first]
    return stems(words) | {word for word in words if word[0].isdigit() and word != "0"}


def is_deferred(sentence: Sentence, draft: Draft) -> bool:
    """Whether the advice waits for a clinician's word ("until the clinic tells you", "unless your doctor says")."""
    words = sentence.view.words
    if "clinicians" in sentence.categories:
        for limit in sentence.limits:
            if not listed("deferral").isdisjoint(words[limit.first : limit.end]) and any(
                hit.category == "clinicians" and limit.first <= hit.first < limit.end for hit in sentence.hits
            ):
                return True
    if not draft.mood.negated:
        return False
    said = " ".join(words[sentence.first : sentence.end])
    return any(phrase in said for phrase in advice_words().on_your_own)
