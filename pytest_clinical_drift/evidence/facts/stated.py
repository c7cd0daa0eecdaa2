"""Diagnoses, findings, procedures, devices, circumstances: what a text states of them, by name or in plain words."""

from collections.abc import Iterator
from dataclasses import replace

from pytest_clinical_drift.evidence.facts.fact import Fact, Said, Slot, Statement, stated_with, words_of
from pytest_clinical_drift.evidence.facts.medications import ended
from pytest_clinical_drift.evidence.facts.places import (
    Details,
    Span,
    Surroundings,
    denial,
    places_of,
    scattered,
)
from pytest_clinical_drift.evidence.mentions.context import MentionContext, context_at
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import places_in, term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import QUALIFIER, word_set
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems

PEOPLE = frozenset(f"word:{name}" for name in word_set("facts", "people"))
_OTHERS = word_set("mentions", "others")
_MOST_WORDS = 0.6
"""Share of its words that says a circumstance in part."""


def worded(fact: Fact, document: Document) -> list[Statement]:
    """A fact in plain words: the sentences that say most of it."""
    slots = [fact.core, *fact.details]
    sentences = sorted({document.sentences[first] for slot in slots for first, _ in places_of(document, slot)})
    return [_sentence(fact, document, slots, document.sentence_starts[s]) for s in sentences[:_MOST]]


def _other_quality(
    document: Document, slots: list[Slot], hits: set[Slot], scope: Surroundings
) -> tuple[Slot, Term] | None:
    """A side or a test result that the sentence gives otherwise: "right fistula", "HIV is positive"."""
    stated_ones = term_index(document).between(QUALIFIER, scope.first, scope.stop)
    for slot in slots:
        if slot in hits or slot.concept is None or slot.concept.group not in ("side", "test result"):
            continue
        others = [t for t in stated_ones if t.concept.group == slot.concept.group and not t.weak]
        if others and all(t.concept is not slot.concept for t in others) and len(hits) * 2 >= len(slots) - 1:
            return slot, others[0]
    return None


def _sentence(fact: Fact, document: Document, slots: list[Slot], start: int) -> Statement:
    scope = Surroundings(document, start)
    hits: list[tuple[Slot, Span]] = []
    for slot in slots:
        places = places_of(document, slot)
        inside = [s for s in places if scope.inside(s[0])]
        if not inside and len(slots) > 2:
            inside = [s for s in places if scope.holds(s[0])]
        if inside:
            hits.append((slot, next((s for s in inside if context_at(document, *s).negated == slot.denied), inside[0])))
    present = {slot for slot, _ in hits}
    details = Details(document, replace(fact, details=()), hits[0][1]).compare()
    missing = [slot.text for slot in slots if slot not in present] + details.missing
    spans = tuple(span for _, span in hits) + tuple(details.spans[1:])
    contexts = [(slot, context_at(document, *span)) for slot, span in hits]
    agreed = not (details.missing or details.clash)  # then its figures count like words
    figures = sum(a.unit is not None for a in fact.amounts) if agreed else 0
    share = (len(slots) - len(missing) + len(details.missing) + figures) / (len(slots) + figures)
    told_of = any(slot.ids & PEOPLE or slot.other for slot in slots) or not _OTHERS.isdisjoint(fact.document.words)
    if contexts[0][1].other_person and not told_of:
        return Statement(Said.OTHER, spans, "of someone else", "someone-else", sure=False)
    turned = [c.negated != s.denied and not fact.result for s, c in contexts]
    other = _other_quality(document, slots, present, scope)
    if other is not None:
        wanted, term = other
        reason = f"{term.concept.name} instead of {wanted.text}"
        return Statement(Said.CLASH, (*spans, (term.first, term.last)), reason, "other-qualifier", sure=False)
    if share == 1 and any(turned):
        return Statement(Said.DENIED, spans, "denied", "denied-words", sure=all(turned) and not fact.core.denied)
    if details.clash and share == 1:
        return Statement(Said.CLASH, spans, details.clash, details.rule, sure=details.sure)
    if not missing:
        doubtful = any(c.hypothetical or c.open for _, c in contexts)
        return Statement(Said.DOUBT if doubtful else Said.PLAIN, spans, "", "plain")
    reason = "missing: " + ", ".join(missing)
    if share >= _MOST_WORDS:
        return Statement(Said.PART, spans, reason, "fragments", sure=not any(turned))
    return Statement(Said.TRACE, spans, reason, "fragments")


_MOST = 60


def statements(fact: Fact, document: Document) -> list[Statement]:
    """Everything a text says of a fact whose core has a name, or of one in plain words."""
    if fact.worded:
        return worded(fact, document)
    said = [_named(fact, document, span) for span in places_of(document, fact.core)]
    said += _excluded(fact, document)
    if said and not any(s.said == Said.PLAIN for s in said):
        elsewhere = (_named(fact, document, span) for span in scattered(document, fact.core))
        said += [s for s in elsewhere if s.said in (Said.PLAIN, Said.PART)]
    said = said or [*_general(fact, document), *_by_head(fact, document)]
    return said or ([s for s in worded(fact, document) if s.said == Said.PART] if len(fact.details) > 1 else [])


def meant(slot: Slot, context: MentionContext, *, past: bool) -> str:
    """What the context makes of a mention: "" where it says what the fact says."""
    if context.other_person != slot.other:
        return Said.OTHER
    if context.open:
        return Said.DOUBT
    if context.negated != slot.denied:
        return Said.DOUBT if context.hypothetical else Said.DENIED
    if slot.denied:
        return ""
    if context.hypothetical:
        return Said.DOUBT
    if context.ended and not past:
        return Said.DENIED
    return ""


def _named(fact: Fact, document: Document, span: Span) -> Statement:
    context = context_at(document, *span)
    said = meant(fact.core, context, past=fact.past or fact.ended)
    off = document.words[span[0] - 1 : span[0]] == ["off"] or ended(document, span)
    if said == Said.DENIED and not fact.core.denied and _denies_less(fact, document, span):
        said = Said.DOUBT
    if said == Said.OTHER:
        index = term_index(document)
        exact = any(span[0] <= t.first <= t.last <= span[1] for i in fact.core.ids for t in index.exact.get(i, ()))
        return Statement(Said.OTHER, (span,), "of someone else", "someone-else", sure=exact)
    if said == Said.DOUBT:
        return Statement(Said.DOUBT, (span,), "named, but not as a fact", "not-asserted")
    if said == Said.DENIED:
        if fact.core.denied:
            return Statement(Said.DENIED, (span,), "stated, though the fact denies it", "affirmed")
        return Statement(Said.DENIED, (span,), "denied", denial(document, span))
    if not (fact.past or fact.ended or fact.core.denied) and off:
        return Statement(Said.DENIED, (span,), "stated as over", "over", sure=False)
    return from_details(Details(document, fact, span).compare())


_FOR_NOW = word_set("facts", "for_now")


def _denies_less(fact: Fact, document: Document, span: Span) -> bool:
    """Whether a denial leaves the fact standing.

    "No black stools" denies less than "no bleeding", "no bleed at present" not the one of last year, and "no seizures
    since the winter" says that there was one before.
    """
    first, stop = document.clause_span(span[0])
    for_now = bool(fact.dates or fact.details) and not _FOR_NOW.isdisjoint(document.words[first:stop])
    if for_now or "since" in document.words[span[1] + 1 : span[1] + 3]:
        return True
    index = term_index(document)
    exact = any(t.first <= span[1] and span[0] <= t.last for i in fact.core.ids for t in index.exact.get(i, ()))
    return not exact and any(span[0] <= t.first <= span[1] for i in fact.core.ids for t in index.within(i))


def from_details(details: Details) -> Statement:
    spans = tuple(details.spans)
    if details.clash:
        return Statement(Said.CLASH, spans, details.clash, details.rule, sure=details.sure)
    person = [s.text for s in details.fact.details if s.ids & PEOPLE and s.text in details.missing]
    if person and details.fact.core.other:
        return Statement(Said.OTHER, spans, f"not of the {person[0]}", "someone-else", sure=False)
    many = len(details.missing) >= 1 + len(details.spans) or len(details.missing) > 2
    return replace(stated_with(spans, details.missing), sure=not many)


def _excluded(fact: Fact, document: Document) -> Iterator[Statement]:
    """Something that cannot hold together with the core is stated of the patient."""
    if fact.core.denied or fact.core.other:
        return
    index = term_index(document)
    for other_id in sorted(fact.core.against):
        for term in (*index.exact.get(other_id, ()), *index.within(other_id)):
            context = context_at(document, term.first, term.last)
            if context.affirmed and not context.historical and not term.weak:
                yield Statement(Said.CLASH, ((term.first, term.last),), f"{term.concept.name} is stated", "excluded")


def _general(fact: Fact, document: Document) -> Iterator[Statement]:
    """Only a broader name stands there; the qualifiers of the special one may stand beside it."""
    concept = fact.core.concept
    for above in sorted(concept.ancestors) if concept else ():
        for term in term_index(document).exact.get(above, ()):
            if term.weak:
                continue
            span = (term.first, term.last)
            said = meant(fact.core, context_at(document, *span), past=fact.past)
            if said == Said.DENIED:
                yield Statement(Said.DENIED, (span,), "denied", "denied", sure=False)
            elif not said:
                compared = Details(document, replace(fact, details=(*fact.inner, *fact.details)), span).compare()
                statement = from_details(compared)
                if statement.said == Said.PLAIN and not fact.inner:
                    statement = replace(
                        statement, said=Said.VAGUE, reason=f"only {term.concept.name}", rule="general-name"
                    )
                inner = {slot.text for slot in fact.inner}
                if statement.said == Said.PART and not inner.issuperset(compared.missing):
                    statement = replace(statement, said=Said.VAGUE)
                yield statement


def _by_head(fact: Fact, document: Document) -> Iterator[Statement]:
    """The main word of the name alone: with the fact's own date or figure it states the fact in part."""
    words = [w for w in fact.core.text.lower().split() if w.isalpha() and w not in words_of("filler")]
    if len(words) < 2:
        return
    for place in places_in(loose_stems(document), loose_stem(words[-1]))[:_MOST]:
        span = (place, place)
        if meant(fact.core, context_at(document, *span), past=fact.past):
            continue
        compared = Details(document, fact, span).compare()
        if compared.clash or compared.missing or not (fact.dates or fact.amounts or fact.core.denied):
            yield Statement(Said.TRACE, (span,), f"only {words[-1]}", "fragments")
        else:
            yield Statement(Said.PART, tuple(compared.spans), f"only {words[-1]}", "part")
