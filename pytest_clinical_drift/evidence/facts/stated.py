"""Diagnoses, findings, procedures, devices, circumstances: what a text states of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_clinical_drift.evidence.facts.details import Details
from pytest_clinical_drift.evidence.facts.fact import Fact, Slot, words_of
from pytest_clinical_drift.evidence.facts.intake import ended, is_modifier
from pytest_clinical_drift.evidence.facts.places import Scope, Span, denied_outright, places_of, scattered
from pytest_clinical_drift.evidence.facts.statement import (
    CLASH,
    DENIED,
    DOUBT,
    OTHER,
    PART,
    PLAIN,
    TRACE,
    VAGUE,
    Statement,
)
from pytest_clinical_drift.evidence.facts.worded import PEOPLE, worded
from pytest_clinical_drift.evidence.mentions.state import Reading, reading
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import places_in, term_index
from pytest_clinical_drift.evidence.terms.stems import loose_stem, loose_stems
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, word_set

_MOST = 60
_ARRANGED = ("procedure", "test", "device")


def statements(fact: Fact, document: Document) -> list[Statement]:
    """Everything a text says of a fact whose core has a name, or of one in plain words."""
    if fact.worded:
        return worded(fact, document)
    found = [_named(fact, document, span) for span in places_of(document, fact.core)]
    found += _excluded(fact, document)
    if found and not any(s.said == PLAIN for s in found):
        elsewhere = (_named(fact, document, span) for span in scattered(document, fact.core))
        found += [s for s in elsewhere if s.said in (PLAIN, PART)]
    found = found or [*_general(fact, document), *_by_head(fact, document)]
    return found or ([s for s in worded(fact, document) if s.said == PART] if len(fact.details) > 1 else [])


def meant(slot: Slot, context: Reading, *, past: bool) -> str:
    """What the context makes of a mention: "" where it says what the fact says."""
    if context.other_person != slot.other:
        return OTHER
    if context.open:
        return DOUBT
    if context.negated != slot.denied:
        return DOUBT if context.hypothetical else DENIED
    if slot.denied:
        return ""
    group = slot.concept.group if slot.concept else ""
    settled = context.hedged or (context.arranged and group in _ARRANGED) or (context.feared and group == "social-risk")
    if context.hypothetical and not settled:
        return DOUBT
    if context.ended and not past:
        return DENIED
    return ""


def _named(fact: Fact, document: Document, span: Span) -> Statement:
    context = reading(document, *span)
    said = meant(fact.core, context, past=fact.past or fact.ended)
    medicine = fact.core.concept is not None and fact.core.concept.kind in (DRUG, DRUG_CLASS)
    if medicine and is_modifier(document, span[1]):
        return Statement(TRACE, (span,), "named, but not as a medicine", "fragments")
    off = document.words[span[0] - 1 : span[0]] == ["off"] or ended(document, span, "stopped")
    if medicine and fact.ended and not said and not off and not context.historical:
        return Statement(CLASH, (span,), "stated as taken, though the fact says it was stopped", "taken", sure=False)
    if said == DENIED and medicine and not denied_outright(document, span):
        said = DOUBT  # "told not to double it"
    if said == DENIED and context.negated and not fact.core.denied and _denies_less(fact, document, span):
        said = DOUBT
    if said == OTHER:
        return Statement(OTHER, (span,), "of someone else", "someone-else")
    if said == DOUBT:
        return Statement(DOUBT, (span,), "named, but not as a fact", "not-asserted")
    if said == DENIED:
        if fact.core.denied:
            return Statement(DENIED, (span,), "stated, though the fact denies it", "affirmed")
        return Statement(DENIED, (span,), "denied", "denied" if denied_outright(document, span) else "denied-loosely")
    if not (fact.past or fact.ended or fact.core.denied) and ended(document, span, "stopped"):
        return Statement(DENIED, (span,), "stated as over", "over", sure=False)
    return from_details(Details(document, fact, span).compare())


_FOR_NOW = word_set("facts", "for_now")


def _denies_less(fact: Fact, document: Document, span: Span) -> bool:
    """Whether a denial leaves the fact standing.

    "No black stools" denies less than "no bleeding", "no bleed at present" not the one of last year, and "no seizures
    since the winter" says that there was one before.
    """
    if "since" in document.words[span[1] + 1 : span[1] + 3]:
        return True
    exact = [
        t
        for i in fact.core.ids
        for t in term_index(document).exact.get(i, ())
        if t.first <= span[1] and span[0] <= t.last
    ]
    if (
        fact.core.ids
        and not exact
        and any(span[0] <= t.first <= span[1] for i in fact.core.ids for t in term_index(document).within.get(i))
    ):
        return True
    first, stop = document.clause_span(span[0])
    if not (fact.dates or fact.details) or _FOR_NOW.isdisjoint(document.words[first:stop]):
        return False
    scope = Scope(document, span[0])
    return not any(scope.inside(p[0]) for slot in fact.details for p in places_of(document, slot))


def from_details(details: Details) -> Statement:
    """The statement that a mention and its surroundings make."""
    spans = tuple(details.spans)
    if details.clash:
        return Statement(CLASH, spans, details.clash, details.rule, sure=details.sure)
    person = [s.text for s in details.fact.details if s.ids & PEOPLE and s.text in details.missing]
    if person and details.fact.core.other:
        return Statement(OTHER, spans, f"not of the {person[0]}", "someone-else")
    if details.missing:
        many = len(details.missing) >= 1 + len(details.spans) or len(details.missing) > 2
        return Statement(PART, spans, "missing: " + ", ".join(details.missing), "part", sure=not many)
    return Statement(PLAIN, spans, "", "plain")


def _excluded(fact: Fact, document: Document) -> Iterator[Statement]:
    """Something that cannot hold together with the core is stated of the patient."""
    if fact.core.denied or fact.core.other:
        return
    index = term_index(document)
    for other_id in sorted(fact.core.against):
        for term in (*index.exact.get(other_id, ()), *index.within.get(other_id, ())):
            context = reading(document, term.first, term.last)
            if context.affirmed and not context.historical and not term.weak:
                yield Statement(CLASH, ((term.first, term.last),), f"{term.concept.name} is stated", "excluded")


def _general(fact: Fact, document: Document) -> Iterator[Statement]:
    """Only a broader name stands there; the qualifiers of the special one may stand beside it."""
    concept = fact.core.concept
    for above in sorted(concept.ancestors) if concept else ():
        for term in term_index(document).exact.get(above, ()):
            if term.weak:
                continue
            span = (term.first, term.last)
            said = meant(fact.core, reading(document, *span), past=fact.past)
            if said == DENIED:
                yield Statement(DENIED, (span,), "denied", "denied", sure=False)
            elif not said:
                compared = Details(document, replace(fact, details=(*fact.inner, *fact.details)), span).compare()
                statement = from_details(compared)
                if statement.said == PLAIN and not fact.inner:
                    statement = replace(statement, said=VAGUE, reason=f"only {term.concept.name}", rule="general-name")
                inner = {slot.text for slot in fact.inner}
                if statement.said == PART and not inner.issuperset(compared.missing):
                    statement = replace(statement, said=VAGUE)
                yield statement


def _by_head(fact: Fact, document: Document) -> Iterator[Statement]:
    """The main word of the name alone: with the fact's own date or figure it states the fact in part."""
    words = [w for w in fact.core.text.lower().split() if w.isalpha() and w not in words_of("filler")]
    if len(words) < 2:
        return
    for place in places_in(loose_stems(document), loose_stem(words[-1]))[:_MOST]:
        span = (place, place)
        if meant(fact.core, reading(document, *span), past=fact.past):
            continue
        compared = Details(document, fact, span).compare()
        if compared.clash or compared.missing or not (fact.dates or fact.amounts or fact.core.denied):
            yield Statement(TRACE, (span,), f"only {words[-1]}", "fragments")
        else:
            yield Statement(PART, tuple(compared.spans), f"only {words[-1]}", "part")
