"""Blanket denials of allergies: "NKDA", "Allergies: none", "no known drug allergies"."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, Concept
from pytest_clinical_drift.evidence.text import Document

_GENERAL = ("condition:allergy", "condition:drug allergy")
_NONE_KNOWN = Concept(
    "condition:allergy", CONDITION, "no known allergies", "", frozenset(), frozenset(), frozenset(), (), {}
)
_NO_DRUG_KNOWN = replace(_NONE_KNOWN, id="condition:drug allergy")


def blanket_denials(document: Document) -> list[Term]:
    """Mentions that deny allergies altogether."""
    index = term_index(document)
    found = [Term(_NO_DRUG_KNOWN, i, i) for i in index.places("nkda")]
    found += [Term(_NONE_KNOWN, i, i) for i in index.places("nka")]
    found += [
        Term(_NONE_KNOWN, i, i)
        for word in ("none", "nil")
        for i in index.places(word)
        if "allerg" in document.label_of(i) and (i == 0 or document.segments[i - 1] != document.segments[i])
    ]
    for concept_id in _GENERAL:
        for term in index.exact.get(concept_id, ()):
            before = document.words[max(0, term.first - 3) : term.first]
            if "other" in before or "others" in before:
                continue
            after = document.words[term.last + 1 : term.last + 3]
            if "except" in after or "other" in after or "apart" in after or _to_something(document, term):
                continue
            context = reading(document, term.first, term.last)
            if context.denied or _none_follows(document, term):
                found.append(term)
    return found


_ANYTHING = frozenset(
    ("any", "medicine", "medicines", "medication", "medications", "drug", "drugs", "anything", "known", "antibiotics")
)


def _to_something(document: Document, term: Term) -> bool:
    """ "no allergy to latex" speaks of one thing; "no allergies to any medicines" of all."""
    after = document.words[term.last + 1 : term.last + 3]
    return after[:1] == ["to"] and _ANYTHING.isdisjoint(after)


def _none_follows(document: Document, term: Term) -> bool:
    """ "Allergies: none", "Allergies | nil known"."""
    after = term.last + 1
    if after >= len(document) or document.lines[after] != document.lines[term.last]:
        return False
    return document.words[after] in ("none", "nil", "nkda", "nka", "no") and document.gaps[after] not in ("", ",")
