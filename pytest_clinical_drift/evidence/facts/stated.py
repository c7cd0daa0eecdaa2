"""Diagnoses, findings, procedures, devices, circumstances: what a text states of them, by name or in plain words."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from pytest_clinical_drift.evidence.facts.fact import Fact, Slot, words_of
from pytest_clinical_drift.evidence.facts.medications import ended
from pytest_clinical_drift.evidence.facts.statements import (
    Details,
    Said,
    Span,
    Statement,
    denied_outright,
    denies_another,
    near,
    places_of,
    scattered,
)
from pytest_clinical_drift.evidence.mentions.context import MentionContext, context_at
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.lexicon import TermIndex, places_in, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import QUALIFIER, word_set
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems

_OTHERS = word_set("mentions", "others")
_FOR_NOW = word_set("facts", "for_now")
_MOST_WORDS = 0.6
"""Share of its words that says a circumstance in part."""
_MOST = 60
"""Sentences of a fact that are looked at."""


def statements(fact: Fact, document: Document) -> list[Statement]:
    """Everything a text says of a fact whose core has a name, or of one in plain words."""
    if fact.worded:
        return _in_words(fact, document)
    said = [_named(fact, document, span) for span in places_of(document, fact.core)]
    said += _excluded(fact, document)
    if said and not any(s.said == Said.PLAIN for s in said):
        elsewhere = (_named(fact, document, span) for span in scattered(document, fact.core))
        said += [s for s in elsewhere if s.said in (Said.PLAIN, Said.PART)]
    said = said or [*_general(fact, document), *_by_head(fact, document)]
    return said or ([s for s in _in_words(fact, document) if s.said == Said.PART] if len(fact.details) > 1 else [])


# ---- a fact in plain words


def _in_words(fact: Fact, document: Document) -> list[Statement]:
    """The sentences that say most of a fact's words."""
    slots = [fact.core, *fact.details]
    places = chain.from_iterable(places_of(document, slot) for slot in slots)
    sentences = sorted({document.sentences[first] for first, _ in places})
    return [_sentence(fact, document, slots, document.sentence_starts[s]) for s in sentences[:_MOST]]


def _sentence(fact: Fact, document: Document, slots: list[Slot], start: int) -> Statement:
    hits = _hits(document, slots, start)
    contexts = {slot: context_at(document, *span) for slot, span in hits.items()}
    details = Details(document, replace(fact, details=()), next(iter(hits.values()))).compare()
    missing = [slot.text for slot in slots if slot not in hits] + details.missing
    spans = (*hits.values(), *details.spans[1:])
    if next(iter(contexts.values())).other_person and _OTHERS.isdisjoint(fact.document.words):
        return Statement(Said.OTHER, spans, "of someone else", sure=False)
    if len(hits) * 2 >= len(slots) - 1:
        other = _other_quality(document, [slot for slot in slots if slot not in hits], start)
        if other is not None:
            return replace(other, spans=(*spans, *other.spans))
    agreed = not (details.missing or details.clash)  # then its figures count like words
    figures = sum(a.unit is not None for a in fact.amounts) if agreed else 0
    share = (len(hits) + figures) / (len(slots) + figures)
    turned = [context.negated != slot.denied and not fact.result for slot, context in contexts.items()]
    if share == 1 and any(turned):
        return Statement(Said.DENIED, spans, "denied", "denied-words", sure=all(turned) and not fact.core.denied)
    if share == 1 and details.clash:
        return Statement(Said.CLASH, spans, details.clash, details.rule, sure=details.sure)
    if not missing:
        doubtful = any(context.hypothetical or context.open for context in contexts.values())
        return Statement(Said.DOUBT if doubtful else Said.PLAIN, spans)
    said = Said.PART if share >= _MOST_WORDS else Said.TRACE
    return Statement(said, spans, "missing: " + ", ".join(missing), "fragments", sure=not any(turned))


def _hits(document: Document, slots: list[Slot], start: int) -> dict[Slot, Span]:
    """Where a sentence names the slots of a fact; of a long fact, some of them may stand beside it."""
    row = range(*document.row_span(start))
    hits: dict[Slot, Span] = {}
    for slot in slots:
        places = places_of(document, slot)
        close = [span for span in places if span[0] in row]
        if not close and len(slots) > 2:
            close = [span for span in places if near(document, start, span[0])]
        if close:
            meant = (span for span in close if context_at(document, *span).negated == slot.denied)
            hits[slot] = next(meant, close[0])
    return hits


def _other_quality(document: Document, unsaid: list[Slot], start: int) -> Statement | None:
    """A side or a test result that a sentence gives otherwise: "right fistula", "HIV is positive"."""
    qualities = term_index(document).between(QUALIFIER, *document.row_span(start))
    for slot in unsaid:
        if slot.concept is None or slot.concept.group not in ("side", "test result"):
            continue
        others = [term for term in qualities if term.concept.group == slot.concept.group and not term.weak]
        if others and all(term.concept is not slot.concept for term in others):
            reason = f"{others[0].concept.name} instead of {slot.text}"
            place = (others[0].first, others[0].last)
            return Statement(Said.CLASH, (place,), reason, "other-qualifier", sure=False)
    return None


# ---- a fact whose core has a name


def _meant(slot: Slot, context: MentionContext, *, past: bool) -> str:
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
    return Said.DENIED if context.ended and not past else ""


def _named(fact: Fact, document: Document, span: Span) -> Statement:
    index = term_index(document)
    said = _meant(fact.core, context_at(document, *span), past=fact.past or fact.ended)
    if said == Said.DENIED and fact.core.denied:
        return Statement(Said.DENIED, (span,), "stated, though the fact denies it", "affirmed")
    if said == Said.OTHER:
        return Statement(Said.OTHER, (span,), "of someone else", sure=_is_exact(fact, index, span))
    if said == Said.DOUBT or (said == Said.DENIED and _denies_less(fact, document, span)):
        return Statement(Said.DOUBT, (span,), "named, but not as a fact")
    if said == Said.DENIED:
        rule = "denied" if denied_outright(document, span) else "denied-loosely"
        return Statement(Said.DENIED, (span,), "denied", rule)
    off = document.words[span[0] - 1 : span[0]] == ["off"] or ended(document, span)
    if off and not (fact.past or fact.ended or fact.core.denied):
        return Statement(Said.DENIED, (span,), "stated as over", "over", sure=False)
    return Details(document, fact, span).compare().statement()


def _is_exact(fact: Fact, index: TermIndex, span: Span) -> bool:
    """Whether the very name of the core stands there, and not that of something narrower."""
    exact = chain.from_iterable(index.exact.get(name, ()) for name in fact.core.ids)
    return any(term.first <= span[1] and span[0] <= term.last for term in exact)


def _denies_less(fact: Fact, document: Document, span: Span) -> bool:
    """Whether a denial leaves the fact standing.

    "No black stools" denies less than "no bleeding", "no bleed at present" not the one of last year, and "no seizures
    since the winter" says that there was one before.
    """
    index = term_index(document)
    said = document.words[slice(*document.clause_span(span[0]))]
    for_now = bool(fact.dates or fact.details) and not _FOR_NOW.isdisjoint(said)
    within = chain.from_iterable(map(index.within, fact.core.ids))
    narrower = any(span[0] <= term.first <= span[1] for term in within)
    since = "since" in document.words[span[1] + 1 : span[1] + 3]
    return denies_another(document, span) or for_now or since or (narrower and not _is_exact(fact, index, span))


def _excluded(fact: Fact, document: Document) -> Iterator[Statement]:
    """Something that cannot hold together with the core is stated of the patient."""
    index = term_index(document)
    for other_id in sorted(fact.core.against) if not (fact.core.denied or fact.core.other) else ():
        for term in (*index.exact.get(other_id, ()), *index.within(other_id)):
            context = context_at(document, term.first, term.last)
            if context.affirmed and not context.historical and not term.weak:
                yield Statement(Said.CLASH, ((term.first, term.last),), f"{term.concept.name} is stated", "excluded")


def _general(fact: Fact, document: Document) -> Iterator[Statement]:
    """Only a broader name stands there; the qualifiers of the special one may stand beside it."""
    concept = fact.core.concept
    exact = term_index(document).exact
    inner = {slot.text for slot in fact.inner}
    broader = sorted(concept.ancestors) if concept is not None else []
    for term in chain.from_iterable(exact.get(name, ()) for name in broader):
        span = (term.first, term.last)
        said = _meant(fact.core, context_at(document, *span), past=fact.past)
        if said == Said.DENIED and not term.weak:
            yield Statement(Said.DENIED, (span,), "denied", "denied", sure=False)
        elif not (said or term.weak):
            details = Details(document, replace(fact, details=(*fact.inner, *fact.details)), span).compare()
            statement = details.statement()
            if statement.said == Said.PLAIN and not inner:
                statement = replace(statement, said=Said.VAGUE, reason=f"only {term.concept.name}")
            elif statement.said == Said.PART and not inner.issuperset(details.missing):
                statement = replace(statement, said=Said.VAGUE)
            yield statement


def _by_head(fact: Fact, document: Document) -> Iterator[Statement]:
    """The main word of the name alone: with the fact's own date or figure it states the fact in part."""
    words = [w for w in fact.core.text.lower().split() if w.isalpha() and w not in words_of("filler")]
    if len(words) > 1 and (fact.dates or fact.amounts or fact.core.denied):
        for place in places_in(loose_stems(document), loose_stem(words[-1]))[:_MOST]:
            details = Details(document, fact, (place, place)).compare()
            told = _meant(fact.core, context_at(document, place, place), past=fact.past) == ""
            if told and not (details.clash or details.missing):
                yield Statement(Said.PART, tuple(details.spans), f"only {words[-1]}", "part")
