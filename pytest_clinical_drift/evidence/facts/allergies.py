"""Allergies and intolerances: the substance, the reaction, and what denies them."""

from collections.abc import Iterator

from pytest_clinical_drift.evidence.facts.fact import Fact, Said, Slot, Statement, content_of, stated_with
from pytest_clinical_drift.evidence.facts.places import Span, Surroundings, denial, places_of, stated, together
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, word_set
from pytest_clinical_drift.evidence.terms.words import loose_stem

_WORDS = ("allerg", "anaphyla", "hypersens", "intoleran", "nkda", "nka", "nkfa")
_UNSPECIFIC = ("allerg", "intoleran", "sensitiv")
_BLANKET = frozenset(("nkda", "nka", "nkfa"))


def statements(fact: Fact, document: Document) -> list[Statement]:
    if fact.core.denied:
        return list(_of_none(fact, document))
    reactions = [s for s in fact.details if s.concept is None or not any(m in s.concept.name for m in _UNSPECIFIC)]
    statements_ = [_of_mention(document, span, reactions) for span in _mentions(document, fact.core)]
    kept = [s for s in statements_ if s is not None]
    drug = fact.core.concept is not None and fact.core.concept.kind in (DRUG, DRUG_CLASS)
    intolerance = any(word.startswith("intoleran") for word in fact.document.words) or fact.kind == "intolerance"
    return kept + list(none_known(document, drug=drug, intolerance=intolerance))


def _mentions(document: Document, slot: Slot) -> list[Span]:
    """Where the substance stands: by concept, or by the word before "allergy" in the name of a known allergy."""
    spans = list(places_of(document, slot))
    if slot.concept is not None and slot.concept.name.endswith(" allergy"):
        words = frozenset(loose_stem(w) for w in content_of(tokenise(slot.text)) if not w.startswith("allerg"))
        spans += [(a, b) for a, b in together(document, words) if not any(x <= a <= y for x, y in spans)]
    return sorted(spans)


def _of_mention(document: Document, span: Span, reactions: list[Slot]) -> Statement | None:
    scope = Surroundings(document, span[0])
    context = context_at(document, *span)
    words = document.words[scope.first : scope.stop]
    labels = " ".join(document.labels_of(span[0])[:2])
    listed = any(mark in labels for mark in ("allerg", "reaction", "intoleran"))
    named = listed or any(word.startswith(_WORDS) for word in words)
    harmed = [s for s in (stated(document, r, scope) for r in reactions) if s is not None]
    direct = bool(harmed) and any(scope.inside(first) for first, _ in harmed)
    if context.other_person:
        return Statement(Said.OTHER, (span,), "of someone else", "someone-else") if named or direct else None
    if not named and not direct:
        item = document.gaps[span[0]][-1:] in (":", "\n", ",", ";") or document.words[span[0] - 1] in ("and", "plus")
        if context.affirmed and item and not _MEDICINES.isdisjoint(document.label_of(span[0]).split()):
            return Statement(Said.DENIED, (span,), "listed among the medicines", "taken")
        avoided = any(word.startswith(("avoid", "react", "intoleran", "suit")) for word in words)
        said = Said.VAGUE if avoided else Said.TRACE
        return Statement(said, (span,), "named, but not as an allergy", "not-as-allergy")
    if context.negated and _denied_here(document, span):
        last = span[1] + any(word.startswith(_WORDS) for word in document.words[span[1] + 1 : span[1] + 2])
        return Statement(Said.DENIED, (span,), "denied", denial(document, (span[0], last)))
    missing = [r.text for r in reactions if stated(document, r, scope) is None and stated(document, r) is None]
    for reaction in reactions:
        denied = [p for p in places_of(document, reaction) if scope.holds(p[0]) and context_at(document, *p).denied]
        if denied and reaction.text in missing:
            return Statement(Said.CLASH, (span, denied[0]), f"{reaction.text} is denied", "denied", sure=False)
    return stated_with((span, *harmed), missing)


def _denied_here(document: Document, span: Span) -> bool:
    """The denial is about the allergy: "no penicillin allergy", "not allergic to penicillin"."""
    first, stop = document.clause_span(span[0])
    near = document.words[max(first, span[0] - 5) : min(stop, span[1] + 3)]
    return any(word.startswith(("allerg", "react", "intoleran", "sensit")) for word in near)


_MEDICINES = frozenset(("drug", "drugs", "medication", "medicine", "medicines", "medications", "medicinal"))
_NOT_KNOWN = word_set("facts", "not_known")


_NO = frozenset(("no", "nil", "without", "denies", "not", "none"))
_NONE = frozenset(("none", "nil", "no", "nkda", "nka"))
_MORE = frozenset(("other", "otherwise", "further", "new", "own", "additional", "except"))


def none_known(document: Document, *, drug: bool = True, intolerance: bool = False) -> Iterator[Statement]:
    """ "NKDA", "no known allergies", "Allergies and reactions: none": of medicines, or of anything.

    An intolerance is no allergy: only reactions or intolerances that are denied speak against it.
    """
    for place, word in enumerate(document.words):
        if word in _NONE and _none_under(document, place, ("reaction", "intoleran") if intolerance else ("allerg",)):
            said = {*document.label_of(place).split(), *document.words[place : place + 3]}
        elif not intolerance and word in ("allergies", "allergy") and _denies_all(document, place):
            said = {*document.words[max(0, place - 4) : place + 4]}
        elif not intolerance and word in _BLANKET:
            said = {"drug"} if word == "nkda" else set()
        else:
            continue
        if _MORE.isdisjoint(said) and (_MEDICINES.isdisjoint(said) or drug) and not (drug and "food" in said):
            yield Statement(Said.DENIED, ((place, place),), "no known allergies", "none-known")


def _none_under(document: Document, place: int, marks: tuple[str, ...]) -> bool:
    """Whether "none" is all that stands behind a label: "Allergies and reactions: none known"."""
    first, stop = document.clause_span(place)
    labelled = document.gaps[place] in (":", "\n") and any(mark in document.label_of(place) for mark in marks)
    return labelled and not term_index(document).medicines_between(first, stop)


def _denies_all(document: Document, place: int) -> bool:
    """Whether "allergies" stands behind a denial that names no medicine."""
    scope = Surroundings(document, place)
    before = document.words[max(scope.first, place - 4) : place]
    no = next((place - back for back, w in enumerate(reversed(before), 1) if w in _NO), -1)
    after = document.words[place + 1 : place + 2]
    named = no >= 0 and (term_index(document).medicines_between(no + 1, place) or not _NOT_KNOWN.isdisjoint(after))
    return no >= 0 and not named and not context_at(document, place, place).other_person


def _of_none(fact: Fact, document: Document) -> Iterator[Statement]:
    """The fact says that there are none, or none to one medicine: stated so, or such an allergy is named."""
    yield from (stated_with(statement.spans, []) for statement in none_known(document))
    substance, index = fact.core.concept, term_index(document)
    one = substance is not None and substance.kind in (DRUG, DRUG_CLASS)
    for span in places_of(document, fact.core) if one else [(t.first, t.last) for t in index.medicines]:
        scope, context = Surroundings(document, span[0]), context_at(document, *span)
        beside = document.words[max(scope.first, span[0] - 4) : min(scope.stop, span[1] + 4)]
        if not any(word.startswith(_WORDS) for word in beside):
            continue
        if one and context.denied:
            yield stated_with((span,), [])
        elif context.affirmed:
            yield Statement(Said.CLASH, (span,), f"allergy to {document.quote(*span)}", "allergy-stated", sure=False)
