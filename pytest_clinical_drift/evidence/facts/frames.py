"""What a fact speaks of (a medicine, a measurement, an allergy or anything else) and what stands at its centre."""

from __future__ import annotations

from pytest_clinical_drift.evidence.facts.fact import MEASURED, REACTS, STATED, TAKEN, content_of, words_of
from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import TermIndex
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, DRUG_CLASS, MEASURE

_DOING = frozenset(("missed", "carries", "carrying", "declines", "refuses", "refusing", "due", "awaiting"))
GENERAL = frozenset(("drug allergy", "food allergy", "allergy"))
_ALLERGY = ("allerg", "anaphyla", "hypersensitiv", "intoleran")
_CAUSED = frozenset(("to", "from", "with", "on", "after", "by", "caused", "causes", "reaction"))
_REACTIONS = frozenset(("immunological", "skin", "symptom", "reaction", "dermatological"))


def frame_of(
    document: Document, kind: str | None, medicines: list[Term], conditions: list[Term], measured: bool
) -> str:
    words = document.words
    if kind in ("allergy", "intolerance"):
        return REACTS
    if kind in (None, "negative", "history", "safety", "other") and _names_allergy(words, conditions):
        return REACTS
    if measured and kind in (None, "measurement", "other"):
        return MEASURED
    if medicines and kind in (None, "medication", "negative", "device"):
        described = not (_dosed(document) or frequencies(document) or kind == "medication")
        if described and not _DOING.isdisjoint(words):
            return STATED
        if kind is None and conditions and not _dosed(document) and not _CAUSED.isdisjoint(words):
            return REACTS if conditions[0].concept.group in _REACTIONS else STATED
        other = content_of(words[medicines[0].last + 1 :])
        headed = (
            kind in (None, "negative")
            and not _dosed(document)
            and any(w not in words_of("filler") and w.isalpha() for w in other[:1])
        )
        if (words_of("stopped").isdisjoint(words) or kind == "medication") and not headed:
            return TAKEN
    return REACTS if conditions and not {"causes", "caused"}.isdisjoint(words) else STATED


def _names_allergy(words: list[str], conditions: list[Term]) -> bool:
    """Whether the fact speaks of an allergy, and not of an illness with the word in its name (allergic rhinitis)."""
    illness = {
        i
        for t in conditions
        if not t.concept.name.endswith(("allergy", "allergic reaction"))
        for i in range(t.first, t.last + 1)
    }
    return any(
        word.startswith(_ALLERGY) and not (i in illness and word.startswith("allerg")) for i, word in enumerate(words)
    )


def _dosed(document: Document) -> bool:
    return any(a.unit is not None and a.unit.data["kind"] == "dose" for a in amounts(document))


def core_of(
    document: Document, frame: str, medicines: list[Term], conditions: list[Term], measures: list[Term], *, ended: bool
) -> Term | None:
    if frame == TAKEN or (medicines and (frame == REACTS or ended)):
        return medicines[0]
    if frame == MEASURED:
        return measures[0]
    if frame == REACTS:
        return next(
            (c for c in conditions if c.concept.name.endswith(" allergy") and c.concept.name not in GENERAL), None
        )
    return next(iter(conditions or sorted([*medicines, *measures], key=lambda t: t.first)), None)


def is_inside(term: Term, other: Term) -> bool:
    return other.first <= term.first and term.last <= other.last


def named_medicines(index: TermIndex) -> list[Term]:
    """Medicines and classes that a short text names; a class word beside its drug adds nothing."""
    found = (
        list(index.medicines) or [t for kind in (DRUG, DRUG_CLASS) for t in index.by_kind.get(kind, ()) if t.weak][:1]
    )
    drugs = [t for t in found if t.concept.kind == DRUG]
    return [t for t in found if t.concept.kind == DRUG or not any(t.concept.id in d.concept.ancestors for d in drugs)]


def conditions_of(document: Document, index: TermIndex) -> list[Term]:
    whole = (0, len(document) - 1)
    found = [t for t in index.by_kind.get(CONDITION, ()) if not t.weak or (t.first, t.last) == whole]
    return [t for t in found if not any(t.concept.id in o.concept.ancestors for o in found if o is not t)]


def measures_of(document: Document, index: TermIndex) -> list[tuple[Term, Amount]]:
    found: list[tuple[Term, Amount]] = []
    for term in index.by_kind.get(MEASURE, ()):
        if document.words[term.last + 1 : term.last + 2] in (["loss"], ["gain"]):
            continue
        following = [a for a in amounts(document) if term.last < a.first <= term.last + 5]
        preceding = [a for a in amounts(document) if a.last + 1 == term.first]
        amount = next(iter(following or preceding), None)
        taken = any(m.first == term.first and m.last >= term.last for m in index.medicines)
        if amount is None or (taken and (amount.unit is None or amount.unit.data["kind"] != "result")):
            continue
        found.append((term, amount))
    return found
