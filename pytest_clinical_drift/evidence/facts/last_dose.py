"""Facts about when a medicine was taken last: "last apixaban dose on 13 June"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.dates import dates
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.text import Document

_LAST = frozenset(("last", "final"))


def is_last_dose(fact: Fact) -> bool:
    """Whether the fact says on which date the last dose is due or was taken."""
    return bool(fact.dates) and not _LAST.isdisjoint(fact.document.words)


def compare_dates(fact: Fact, document: Document, mention: Term) -> bool | None:
    """Whether the date beside a mention is the fact's; None where no date stands there."""
    stop = document.sentence_span(mention.first)[1]
    others = term_index(document).medicines_between(mention.last + 1, stop)
    end = next((other.first for other in others if other.concept is not mention.concept), stop)
    beside = [date for date in dates(document) if mention.last < date.first < end]
    if any(wanted.agrees(date) for wanted in fact.dates for date in beside):
        return True
    return False if any(wanted.clashes(date) for wanted in fact.dates for date in beside) else None
