"""Notes on how a medicine is taken: missed for days, listed as an allergy, stopped by its status, warned about."""

from __future__ import annotations

from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.quantities import amounts
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document


def missed_for_days(document: Document, mention: Term) -> bool:
    """ "has missed his clozapine for four days"; a single missed dose is another matter."""
    if not {"missed", "skipped", "omitted"} & set(document.words[max(0, mention.first - 3) : mention.first]):
        return False
    stop = min(document.sentence_span(mention.first)[1], mention.last + 12)
    return any(
        mention.last < a.first < stop and a.dimension == "time" and a.base >= _DAY and _for(document, a.first)
        for a in amounts(document)
    )


_DAY = 24  # hours


def _for(document: Document, first: int) -> bool:
    return not {"for", "past", "last"}.isdisjoint(document.words[max(0, first - 3) : first])


def listed_as_allergy(label: str) -> bool:
    """Under "Allergies:"; under "Medication and allergies:" the words beside the medicine must say which it is."""
    return "allerg" in label and not any(word in label for word in ("medication", "medicine", "treatment", "drugs and"))


def status_says_stopped(document: Document, mention: Term) -> bool:
    """{"name": "X", "status": "discontinued"}."""
    line = document.lines[mention.last]
    after = [i for i in range(mention.last + 1, min(len(document), mention.last + 7)) if document.lines[i] == line]
    return any(
        document.words[i] == "status" and document.words[i + 1 : i + 2] and document.words[i + 1] in _OVER
        for i in after
    )


_OVER = frozenset(("discontinued", "stopped", "ceased", "past", "inactive", "former", "previous", "withdrawn"))


def is_warning(document: Document, mention: Term) -> bool:
    """ "advised not to mix X with alcohol", "not to take X if she has a fever": how to take it, not that it is not."""
    first, stop = document.clause_span(mention.first)
    before = document.words[max(first, mention.first - 10) : mention.first]
    after = document.words[mention.last + 1 : min(stop, mention.last + 8)]
    advised = not _ADVISING.isdisjoint(before) and "not" in before
    return advised and (before[-1:] != ["take"] or not _UNDER.isdisjoint(after))


_ADVISING = word_set("intake", "advising")
_UNDER = frozenset(("if", "when", "while", "unless", "until", "with", "more", "before", "after", "together", "without"))
