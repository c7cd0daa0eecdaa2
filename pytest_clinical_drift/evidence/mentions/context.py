"""Context of a mention: denied, uncertain or only asked about, past, or about another person.

In the line of NegEx and ConText: cues (data/vocabulary/cues.yaml) act on the words after or before them until something
ends their reach. Here the reach is worked out from the sentence itself (lists, verbs, new subjects, brackets, labels,
table cells) instead of a fixed window, and a cue inside the mention itself never counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from pytest_clinical_drift.evidence.mentions.cues import HISTORICAL, HYPOTHETICAL, NEGATED, OTHER_PERSON, cue_table
from pytest_clinical_drift.evidence.mentions.scopes import scopes_over
from pytest_clinical_drift.evidence.reading.text import Document, once, read
from pytest_clinical_drift.evidence.terms.lexicon import phrases_between
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary, word_set

_BEFORE_AN_ITEM = ("\n", ":", ",", ";")
_OPEN_REACH = 8
_LIGHT = frozenset(map(str, load_vocabulary("fact_words")["light"]))
_UNSTATED = word_set("mentions", "unstated")
_ENDINGS = tuple(sorted(word_set("mentions", "endings")))


@dataclass(frozen=True, slots=True)
class MentionContext:
    """How a mention is meant; all False: stated of the patient, now."""

    negated: bool = False
    hypothetical: bool = False
    """Uncertain, conditional, feared, screened for, planned or only asked about."""
    historical: bool = False
    """Past, stopped or resolved."""
    other_person: bool = False
    cues: tuple[tuple[str, str], ...] = ()
    """The words it was decided by, each behind its role (negated, hypothetical, historical or other_person)."""
    ended: bool = False
    """Stated to be over: resolved, cured, gone."""
    open: bool = False
    """The text says that it does not know: not asked, not recorded, result awaited."""

    @property
    def affirmed(self) -> bool:
        """Stated of the patient, now or in the past."""
        return not (self.negated or self.hypothetical or self.other_person or self.open)

    @property
    def denied(self) -> bool:
        """Stated not to be so, of the patient."""
        return self.negated and not (self.hypothetical or self.other_person or self.open)


def mention_context(text: str, start: int, end: int) -> MentionContext:
    """Context of the mention `text[start:end]`; several mentions of one text cost one reading."""
    document = _recent(text)
    first = document.token_at(max(0, start))
    last = document.token_at(max(start, end) - 1)
    if last >= len(document) or document.starts[last] >= end:
        last -= 1
    return context_at(document, first, last) if 0 <= first <= last else MentionContext()


_recent = lru_cache(maxsize=16)(read)


@once
def context_at(document: Document, first: int, last: int) -> MentionContext:
    """Context of the mention from token `first` to token `last`, both included."""
    words = document.words
    gaps = document.gaps
    hits = [
        (scope.role, "?" if scope.cue_first < 0 else document.quote(scope.cue_first, scope.cue_last))
        for scope in scopes_over(document, first, last)
    ]
    item = gaps[first][:1] in _BEFORE_AN_ITEM  # "Denies: tremor, rigidity" denies what it lists
    labels = [(_role_of(label), label) for label in document.labels_of(first)]
    cues = (*hits, *(found for found in labels if found[0] and (item or found[0] != NEGATED)))
    roles = {role for role, _ in cues}
    negated = NEGATED in roles
    following = words[last + 1] if last + 1 < len(words) and gaps[last + 1] in ("", "-") else ""
    is_open = following in _UNSTATED or _left_open(document, last)
    if negated and first > 1 and words[first - 2] == "no" and words[first - 1] in ("other", "further", "additional"):
        # "no other contraception" says nothing about the one named before
        negated = False
        is_open = True
    past = [quote.lower() for role, quote in cues if role == HISTORICAL]
    ended = any(root in quote for quote, root in product(past, _ENDINGS))
    return MentionContext(
        negated, HYPOTHETICAL in roles, HISTORICAL in roles, OTHER_PERSON in roles, cues, ended, is_open
    )


@lru_cache(maxsize=1024)
def _role_of(label: str) -> str:
    """The role that a label gives what stands below it, or ""."""
    table = cue_table()
    last = label.rpartition(" ")[2]
    kin = last in table.kin and (last == "partner" or last not in table.offspring)
    return table.labels.get(label) or (OTHER_PERSON if kin and label.count(" ") < 3 else "")


def _left_open(document: Document, last: int) -> bool:
    """Whether "not asked", "pending" or the like follows with nothing but light words in between."""
    line = document.lines[last]
    for cue in phrases_between(document, "unknown", last + 1, min(len(document), last + _OPEN_REACH)):
        light = _LIGHT.issuperset(document.words[last + 1 : cue.first])
        marked = any("." in gap or ";" in gap for gap in document.gaps[last + 1 : cue.first + 1])
        told = document.words[cue.last + 1 : cue.last + 2] == ["to"]  # "not mentioned to the dentist"
        if document.lines[cue.first] == line and light and not (marked or told):
            return True
    return False
