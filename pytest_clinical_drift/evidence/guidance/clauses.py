"""Cuts a reply into the sentences that advice is read from; headings and questions label what follows."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clinical_drift.evidence.guidance.limits import find_limits
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.sentence import Limit, Sentence
from pytest_clinical_drift.evidence.guidance.words import View, advice_words, listed
from pytest_clinical_drift.evidence.text import CELL, HEADING

_LONGEST_QUESTION = 12
_LONGEST_LEAD_IN = 25
_LONGEST_SENTENCE = 250
"""Words; text without any punctuation is cut, so that reading stays linear."""


def sentences_of(view: View, mentions: list[Mention]) -> Iterator[Sentence]:
    """The sentences of a view in order, headings left out (they label what follows)."""
    document = view.document
    total = len(view.words)
    hit_at = mention_at = first = previous = 0
    asked: tuple[int, str] | None = None
    condition_opened = False
    called: str | None = None
    lead_in: str | None = None
    while first < total:
        end = _sentence_end(view, first, total)
        number = document.sentences[view.origin[first]]
        hit_end = hit_at
        while hit_end < len(view.hits) and view.hits[hit_end].first < end:
            hit_end += 1
        mention_end = mention_at
        while mention_end < len(mentions) and mentions[mention_end].first < end:
            mention_end += 1
        kind = document.segment_kinds[document.segments[view.origin[first]]]
        if kind != HEADING or _heading_advises(view, first, end):
            sentence = Sentence(
                view, number, first, end, view.hits[hit_at:hit_end], mentions[mention_at:mention_end], cell=kind == CELL
            )
            sentence.before = previous if first - previous <= _LONGEST_LEAD_IN else first
            _describe(sentence, mentions[max(0, mention_at - 12) : mention_at])
            if asked is not None and asked[0] == number - 1:
                sentence.asked_before = asked[1]
            asked = None
            if sentence.item and lead_in is not None and sentence.heading_limit is None:
                sentence.heading_limit = lead_in
            elif not sentence.item:
                lead_in = _lead_in(view, first, end)
            if sentence.item and condition_opened:
                sentence.limits = [Limit(first, end, "if")]
                sentence.called = called
            elif not sentence.item:
                condition_opened = _opens_conditions(view, end)
                called = _calls(sentence) if condition_opened else None
            if (
                sentence.question
                and view.words[first] not in listed("auxiliaries")
                and end - first <= _LONGEST_QUESTION
            ):
                asked = number, document.quote(view.origin[first], view.origin[end - 1])
            yield sentence
        elif _opens_conditions(view, end):
            sentence = Sentence(view, number, first, end, view.hits[hit_at:hit_end], [])
            condition_opened, called = True, _calls(sentence)
        previous = first
        first, hit_at, mention_at = end, hit_end, mention_end


def _opens_conditions(view: View, end: int) -> bool:
    """Whether a sentence ends as "Call 999 if:" does, so that the list below it names situations, not advice."""
    token = view.origin[end - 1]
    document = view.document
    heading = document.segment_kinds[document.segments[token]] == HEADING
    if heading and view.words[end - 1] in ("if", "when"):
        return True
    if ":" not in document.raw[document.ends[token] : document.ends[token] + 4]:
        return False
    return not listed("heading_limits").isdisjoint(view.words[max(0, end - 4) : end])


def _lead_in(view: View, first: int, end: int) -> str | None:
    """ "If you're ill and can't eat:": the situation that the list below it is for."""
    if view.words[first] not in listed("heading_limits") or end - first > _LONGEST_LEAD_IN:
        return None
    token = view.origin[end - 1]
    document = view.document
    colon = ":" in document.raw[document.ends[token] : document.ends[token] + 4]
    return " ".join(view.words[first:end]) if colon else None


def _calls(sentence: Sentence) -> str | None:
    """How urgent the call is that an opening such as "Call 999 if:" asks for, if it asks for one."""
    if not any(hit.category == "verb" and hit.effect == "care" for hit in sentence.hits):
        return None
    found = {hit.value for hit in sentence.hits if hit.category == "urgency"}
    return next((level for level in ("now", "same_day", "days", "routine") if level in found), None)


def _sentence_end(view: View, first: int, total: int) -> int:
    sentences, segments, origin = view.document.sentences, view.document.segments, view.origin
    number = sentences[origin[first]]
    end = first + 1
    total = min(total, first + _LONGEST_SENTENCE)
    while end < total:
        token = origin[end]
        if sentences[token] != number or (segments[token] != segments[token - 1] and _label_ends(view, token)):
            break
        end += 1
    return end


def _label_ends(view: View, token: int) -> bool:
    """Whether a bold opening that is a sentence of its own ("**Don't drive.** Call Karen") ends before a token."""
    document = view.document
    between = document.raw[document.ends[token - 1] : document.starts[token]]
    return any(mark in between for mark in ".!?")


def _heading_advises(view: View, first: int, end: int) -> bool:
    """A bold line that is an instruction ("**Please don't take the co-amoxiclav.**") rather than a title."""
    if view.words[first] in advice_words().base_forms and _opens_conditions(view, end):
        return True
    start = view.document.ends[view.origin[end - 1]]
    after = view.document.raw[start : start + 3]
    return end - first >= 3 and any(mark in after for mark in ".!")


def _describe(sentence: Sentence, before: list[Mention]) -> None:
    view = sentence.view
    document = view.document
    last = view.origin[sentence.end - 1]
    following = document.gaps[last + 1] if last + 1 < len(document.words) else ""
    tail = document.raw[document.ends[last] : document.ends[last] + 4].partition("\n")[0]
    sentence.question = "?" in following or "?" in tail
    sentence.item = "\n" in view.gaps[sentence.first] and _list_marker(
        document.raw, document.starts[view.origin[sentence.first]]
    )
    past = listed("past")
    sentence.past = any(word in past for word in view.words[sentence.first : sentence.end])
    sentence.categories = frozenset(hit.category for hit in sentence.hits)
    labels = document.labels_of(last)
    if labels:
        sentence.label_mentions = _labelled(sentence, before, labels)
        for label in labels:
            if label.partition(" ")[0] in listed("heading_limits"):
                sentence.heading_limit = label
                break
    if (
        "conditions" in sentence.categories
        or "then" in view.words[sentence.first : sentence.end]
        or view.words[sentence.first]
        in (
            "then",
            "next",
            "afterwards",
            "subsequently",
            "from",
        )
    ):
        sentence.limits = find_limits(sentence)


def _labelled(sentence: Sentence, before: list[Mention], labels: tuple[str, ...]) -> tuple[Mention, ...]:
    """Mentions in the words just before the sentence that make up its labels (a table's row label)."""
    words = sentence.view.words
    known = {word for label in labels for word in label.split()}
    near = [m for m in before if m.first >= sentence.first - 40]
    return tuple([m for m in near if all(word in known for word in words[m.first : m.end])][-2:])


def _list_marker(raw: str, start: int) -> bool:
    line = raw.rfind("\n", 0, start) + 1
    before = raw[line:start].strip()
    if before.startswith("#"):
        return False
    return bool(before.strip("*_")) or (before[:1] == "*" and raw[line : line + 2] == "* ")
