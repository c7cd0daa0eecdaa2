"""Two short texts that lean opposite ways on the same matter, which no vocabulary entry names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice import document_of
from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.leanings import Clause, clauses_of
from pytest_clinical_drift.evidence.guidance.objects import Mention, mentions_of, stem, stems
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import view_of
from pytest_clinical_drift.evidence.judges.protocol import Conflict

_SHARED = 2
_SHARE = 0.3
"""Topic words in common: at least so many, and this part of the shorter clause's."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """A clause with the way it leans towards each of its topic words."""

    ways: dict[str, int]
    conditional: bool
    quote: str


def nouns_opposed(earlier: str, later: str) -> Conflict | None:
    """A clause of each text, about the same matter, that lean opposite ways."""
    for first in _leanings(earlier):
        for second in _leanings(later):
            found = lean_apart(first, second)
            if found is not None:
                return found
    return None


def lean_apart(first: Leaning, second: Leaning) -> Conflict | None:
    """Two clauses about the same matter that lean opposite ways."""
    common = first.ways.keys() & second.ways.keys()
    if len(common) < max(_SHARED, _SHARE * min(len(first.ways), len(second.ways))):
        return None
    if second.conditional and not first.conditional:
        return None
    if not all(first.ways[word] * second.ways[word] < 0 for word in common):
        return None
    reason = f"the texts lean opposite ways on {', '.join(sorted(common))}"
    return Conflict(True, reason, (first.quote, second.quote), False, "polarity", None)


@lru_cache(maxsize=512)
def _leanings(text: str) -> tuple[Leaning, ...]:
    document = document_of(text)
    if not document.words:
        return ()
    view = view_of(document)
    return tuple(leaning for sentence in sentences_of(view, mentions_of(view)) for leaning in leanings_in(sentence))


def leanings_in(sentence: Sentence) -> Iterator[Leaning]:
    """The clauses of one sentence that lean some way."""
    if sentence.question:
        return
    view = sentence.view
    quote = view.document.quote(view.origin[sentence.first], view.origin[sentence.end - 1])
    conditional = any(limit.kind in ("if", "stage") for limit in sentence.limits)
    for clause in clauses_of(sentence):
        ways = _ways(sentence, clause)
        if ways:
            yield Leaning(ways, conditional, quote)


def _illness(mention: Mention) -> bool:
    """Whether it is what somebody has, not a procedure or device."""
    if mention.kind != "condition" or mention.concept is None:
        return False
    return mention.concept.data.get("group") not in ("procedure", "device", "test", "care-status", "social-risk")


def _ways(sentence: Sentence, clause: Clause) -> dict[str, int]:
    words = sentence.view.words
    said = {at for cue in clause.cues for at in range(cue.first, cue.end)}
    # medicines are compared as such, with what may excuse a change; what somebody has is not advised on
    named = [mention for mention in sentence.mentions if mention.medicine or _illness(mention)]
    said.update(at for mention in named for at in range(mention.first, mention.end))
    found: dict[str, int] = {}
    for at in range(clause.first, clause.end):
        if at in said or not stems([words[at]]):
            continue
        way = clause.leaning(at, at + 1)
        if way:
            found.setdefault(stem(words[at]), way)
    return found
