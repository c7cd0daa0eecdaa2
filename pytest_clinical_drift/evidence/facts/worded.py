"""Circumstances in plain words: the sentences that say most of them."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.evidence.facts.details import Details
from pytest_clinical_drift.evidence.facts.fact import Fact, Slot
from pytest_clinical_drift.evidence.facts.intake import ended
from pytest_clinical_drift.evidence.facts.places import Scope, Span, places_of, refused, refuses
from pytest_clinical_drift.evidence.facts.statement import CLASH, DENIED, DOUBT, OTHER, PART, PLAIN, TRACE, Statement
from pytest_clinical_drift.evidence.mentions.state import reading
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, QUALIFIER, word_set

PEOPLE = frozenset(f"word:{name}" for name in word_set("facts", "people"))
_MOST = 60
_OTHERS = word_set("mentions", "others")
_MOST_WORDS = 0.6
"""Share of its words that says a circumstance in part."""


def worded(fact: Fact, document: Document) -> list[Statement]:
    """A fact in plain words: the sentences that say most of it."""
    slots = [fact.core, *fact.details]
    sentences = sorted({document.sentences[first] for slot in slots for first, _ in places_of(document, slot)})
    found = [_sentence(fact, document, slots, document.sentence_starts[s]) for s in sentences[:_MOST]]
    best = max((len(s.spans) for s in found), default=0)
    return [s for s in found if len(s.spans) == best or s.said in (PLAIN, DENIED, CLASH)]


def _results(fact: Fact) -> list[str]:
    return [
        slot.text
        for slot in (fact.core, *fact.details)
        if slot.concept is not None and slot.concept.group == "test result"
    ]


def _other_quality(
    fact: Fact, document: Document, slots: list[Slot], found: set[Slot], scope: Scope
) -> tuple[Slot, Term] | None:
    """A side or a test result that the sentence gives otherwise: "right fistula", "HIV is positive"."""
    stated_ones = term_index(document).between(QUALIFIER, scope.first, scope.stop)
    for slot in slots:
        if slot in found or slot.concept is None or slot.concept.group not in ("side", "test result"):
            continue
        others = [t for t in stated_ones if t.concept.group == slot.concept.group and not t.weak]
        if others and all(t.concept is not slot.concept for t in others) and len(found) * 2 >= len(slots) - 1:
            return slot, others[0]
    return None


def _broader(concept_id: str) -> frozenset[str]:
    concept = lexicon().concepts.get(concept_id)
    return concept.ancestors if concept else frozenset()


def _sentence(fact: Fact, document: Document, slots: list[Slot], start: int) -> Statement:
    scope = Scope(document, start)
    hits: list[tuple[Slot, Span]] = []
    for slot in slots:
        places = places_of(document, slot)
        inside = [s for s in places if scope.inside(s[0])]
        if not inside and len(slots) > 2:
            inside = [s for s in places if scope.holds(s[0])]
        if inside:
            hits.append((slot, next((s for s in inside if reading(document, *s).negated == slot.denied), inside[0])))
    found = {slot for slot, _ in hits}
    details = Details(document, replace(fact, details=()), hits[0][1]).compare()
    above = frozenset(a for slot in found for i in slot.ids for a in _broader(i))
    missing = [
        slot.text for slot in slots if slot not in found and not (slot.ids and slot.ids <= above)
    ] + details.missing
    if fact.result and all(context.negated for _, context in ((s, reading(document, *span)) for s, span in hits)):
        missing = [name for name in missing if name not in _results(fact)]  # "no HIV" is a negative test
    spans = tuple(span for _, span in hits) + tuple(details.spans[1:])
    contexts = [(slot, reading(document, *span)) for slot, span in hits]
    agreed = not (details.missing or details.clash)  # then its figures count like words
    figures = sum(a.unit is not None for a in fact.amounts) if agreed else 0
    share = (len(slots) - len(missing) + len(details.missing) + figures) / (len(slots) + figures)
    told_of = any(slot.ids & PEOPLE or slot.other for slot in slots) or not _OTHERS.isdisjoint(fact.document.words)
    if contexts[0][1].other_person and not told_of:
        return Statement(OTHER, spans, "of someone else", "someone-else", sure=False)
    refusing = refuses(fact.document.words)
    turned = [
        c.negated != s.denied and not fact.result and not (refusing or (s.denied and refused(document, span[0])))
        for (s, c), (_, span) in zip(contexts, hits, strict=True)
    ]
    other = _other_quality(fact, document, slots, found, scope)
    if other is not None:
        wanted, term = other
        return Statement(
            CLASH,
            (*spans, (term.first, term.last)),
            f"{term.concept.name} instead of {wanted.text}",
            "other-qualifier",
            sure=False,
        )
    if fact.core.denied and not turned[0] and contexts[0][0] is fact.core and not fact.result:
        return Statement(PLAIN, spans, "", "plain")  # "no inhibitor" says more than "no factor VIII inhibitor"
    if share == 1 and any(turned):
        return Statement(DENIED, spans, "denied", "denied-words", sure=all(turned) and not fact.core.denied)
    if details.clash and share == 1:
        return Statement(CLASH, spans, details.clash, details.rule, sure=details.sure)
    if not missing and not (fact.past or fact.ended) and ended(document, spans[0], "stopped"):
        return Statement(DENIED, spans, "stated as over", "over", sure=False)
    if not missing:
        doubtful = any(c.hypothetical or c.open for _, c in contexts)
        return Statement(DOUBT if doubtful else PLAIN, spans, "", "plain")
    reason = "missing: " + ", ".join(missing)
    named = any(slot.concept is not None and slot.concept.kind in (DRUG, DRUG_CLASS) for slot in found)
    if share >= _MOST_WORDS or (
        named and not details.missing and all(slot.concept is None for slot in slots if slot not in found)
    ):
        return Statement(PART, spans, reason, "fragments", sure=not any(turned))
    return Statement(TRACE, spans, reason, "fragments")
