"""Facts that no relative has something: "no family history of bowel cancer"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.condition import FULL, find_condition, named
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.no_words import none_after
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, NOTHING, RETAINED, Outcome
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_HISTORY = word_set("no_relative", "history")
_NONE = word_set("no_relative", "none")
_REACH = 8


def no_relative(fact: Fact, document: Document) -> Outcome:
    """A relative who has it speaks against the fact; a denial of it, or of any family history, states it."""
    denied: list[tuple[int, int]] = []
    for concept in fact.conditions:
        finding = find_condition(document, concept, other_person=True)
        if finding.state == FULL:
            term = finding.mentions[0]
            return Outcome(CONTRADICTED, ((term.first, term.last),), "a relative has it")
        for term in named(document, concept):
            context = reading(document, term.first, term.last)
            if context.hypothetical or context.open:
                continue
            if (context.negated and (context.other_person or _of_family(document, term))) or (
                _of_family(document, term) and none_after(document, term.last)
            ):
                denied.append((term.first, term.last))
    denied = denied or _nothing_in_family(document)
    return Outcome(RETAINED, (denied[0],)) if denied else NOTHING


def _of_family(document: Document, term: Term) -> bool:
    """The family is named around a mention, in its sentence or a label above it."""
    start, stop = document.sentence_span(term.first)
    around = document.words[max(start, term.first - _REACH) : min(stop, term.last + 1 + _REACH)]
    return not _HISTORY.isdisjoint(around) or any(
        not _HISTORY.isdisjoint(label.split()) for label in document.labels_of(term.first)[:2]
    )


def _nothing_in_family(document: Document) -> list[tuple[int, int]]:
    """ "FHx: nil", "family history unremarkable", "no relevant family history"."""
    found = []
    for term in term_index(document).exact.get("word:family", ()):
        stop = document.sentence_span(term.last)[1]
        following = term.last + 1
        if document.words[following : following + 1] == ["history"]:
            following += 1
        elif document.words[term.last] in ("family", "families"):
            continue
        of_something = document.words[following : following + 1] in (["of"], ["for"])
        plain = document.words[following : min(stop, following + 3)]
        before = document.words[max(0, term.first - 3) : term.first]
        if not of_something and (not _NONE.isdisjoint(plain) or "no" in before or none_after(document, following - 1)):
            found.append((term.first, following - 1))
    return found
