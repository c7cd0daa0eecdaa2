"""Allergies and intolerances: the substance, the reaction, and what denies them."""

from collections.abc import Iterator

from pytest_clinical_drift.evidence.facts.fact import Fact, Slot, content_of
from pytest_clinical_drift.evidence.facts.statements import (
    Said,
    Span,
    Statement,
    denies_another,
    near,
    places_of,
    stated,
    stated_with,
    together,
)
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, word_set
from pytest_clinical_drift.evidence.terms.words import loose_stem

_WORDS = ("allerg", "anaphyla", "hypersens", "intoleran", "nkda", "nka", "nkfa")
_UNSPECIFIC = ("allerg", "intoleran", "sensitiv")
_MEDICINES = frozenset(("drug", "drugs", "medication", "medicine", "medicines", "medications", "medicinal"))
_NOT_KNOWN = word_set("facts", "not_known")
_NO = frozenset(("no", "nil", "without", "denies", "not", "none"))
_NONE = frozenset(("none", "nil", "no", "nkda", "nka"))
_MORE = frozenset(("other", "otherwise", "further", "new", "own", "additional", "except"))


def statements(fact: Fact, document: Document) -> list[Statement]:
    substance = fact.core.concept
    drug = substance is not None and substance.kind in (DRUG, DRUG_CLASS)
    if fact.core.denied:
        return list(_of_none(fact.core, document, one=drug))
    reactions = [s for s in fact.details if s.concept is None or not any(m in s.concept.name for m in _UNSPECIFIC)]
    said: list[Statement | None] = [_of_mention(document, span, reactions) for span in _mentions(document, fact.core)]
    intolerance = any(word.startswith("intoleran") for word in (fact.kind or "", *fact.document.words))
    said += _none_known(document, drug=drug, intolerance=intolerance)
    return [statement for statement in said if statement is not None]


def _mentions(document: Document, slot: Slot) -> list[Span]:
    """Where the substance stands: by concept, or by the word before "allergy" in the name of a known allergy."""
    spans = list(places_of(document, slot))
    if slot.concept is not None and slot.concept.name.endswith(" allergy"):
        words = frozenset(loose_stem(w) for w in content_of(tokenise(slot.text)) if not w.startswith("allerg"))
        spans += [(a, b) for a, b in together(document, words) if not any(x <= a <= y for x, y in spans)]
    return sorted(spans)


def _of_mention(document: Document, span: Span, reactions: list[Slot]) -> Statement | None:
    row = range(*document.row_span(span[0]))
    context = context_at(document, *span)
    words = document.words[row.start : row.stop]
    labels = " ".join(document.labels_of(span[0])[:2])
    listed = any(mark in labels for mark in ("allerg", "reaction", "intoleran"))
    places = [stated(document, reaction, span[0]) for reaction in reactions]
    harmed = [place for place in places if place is not None]
    named = listed or any(first in row for first, _ in harmed) or _speaks_of_allergy(words)
    if context.other_person:  # "her brother takes penicillin" says nothing of an allergy
        return Statement(Said.OTHER, (span,), "of someone else", "someone-else") if named else None
    if not named:
        return _not_as_allergy(document, span, words)
    if context.negated and _denies_allergy(document, span):
        last = span[1] + _speaks_of_allergy(document.words[span[1] + 1 : span[1] + 2])
        if denies_another(document, (span[0], last)):  # "no penicillin allergy review"
            return Statement(Said.DOUBT, (span,), "named, but not as a fact", "not-asserted")
        return Statement(Said.DENIED, (span,), "denied", "denied")
    missing = [reaction for reaction in reactions if stated(document, reaction) is None]
    for reaction in missing:
        around = [place for place in places_of(document, reaction) if near(document, span[0], place[0])]
        denied = [place for place in around if context_at(document, *place).denied]
        if denied:
            return Statement(Said.CLASH, (span, denied[0]), f"{reaction.text} is denied", "denied", sure=False)
    return stated_with((span, *harmed), [reaction.text for reaction in missing])


def _not_as_allergy(document: Document, span: Span, words: list[str]) -> Statement:
    """What a mention says with no word of an allergy in its row: listed as a medicine, avoided, or only named."""
    item = document.gaps[span[0]][-1:] in (":", "\n", ",", ";") or document.words[span[0] - 1] in ("and", "plus")
    medicine = not _MEDICINES.isdisjoint(document.label_of(span[0]).split())
    if item and medicine and context_at(document, *span).affirmed:
        return Statement(Said.DENIED, (span,), "listed among the medicines", "taken")
    avoided = any(word.startswith(("avoid", "react", "intoleran", "suit")) for word in words)
    said = Said.VAGUE if avoided else Said.TRACE
    return Statement(said, (span,), "named, but not as an allergy", "not-as-allergy")


def _denies_allergy(document: Document, span: Span) -> bool:
    """Whether a denial is about the allergy: "no penicillin allergy", "not allergic to penicillin"."""
    first, stop = document.clause_span(span[0])
    beside = document.words[max(first, span[0] - 5) : min(stop, span[1] + 3)]
    return any(word.startswith(("allerg", "react", "intoleran", "sensit")) for word in beside)


def _speaks_of_allergy(words: list[str]) -> bool:
    return any(word.startswith(_WORDS) for word in words)


def _none_known(document: Document, *, drug: bool = True, intolerance: bool = False) -> Iterator[Statement]:
    """ "NKDA", "no known allergies", "Allergies and reactions: none": of medicines, or of anything.

    An intolerance is not an allergy: only reactions or intolerances that are denied speak against it.
    """
    for place, word in enumerate(document.words):
        if word in _NONE and _none_under(document, place, ("reaction", "intoleran") if intolerance else ("allerg",)):
            said = {*document.label_of(place).split(), *document.words[place : place + 3]}
        elif not intolerance and word in ("allergies", "allergy") and _denies_all(document, place):
            said = {*document.words[max(0, place - 4) : place + 4]}
        elif not intolerance and word in ("nkda", "nka", "nkfa"):
            said = {"drug"} if word == "nkda" else set()
        else:
            continue
        if _MORE.isdisjoint(said) and (_MEDICINES.isdisjoint(said) or drug) and not (drug and "food" in said):
            yield Statement(Said.DENIED, ((place, place),), "no known allergies", "none-known")


def _none_under(document: Document, place: int, marks: tuple[str, ...]) -> bool:
    """Whether "none" is all that stands behind a label: "Allergies and reactions: none known"."""
    labelled = document.gaps[place] in (":", "\n") and any(mark in document.label_of(place) for mark in marks)
    return labelled and not term_index(document).medicines_between(*document.clause_span(place))


def _denies_all(document: Document, place: int) -> bool:
    """Whether "allergies" stands behind a denial that names no medicine: not "no information on allergies"."""
    before = range(place - 1, max(document.row_span(place)[0], place - 4) - 1, -1)
    no = next((at for at in before if document.words[at] in _NO), -1)
    if no < 0 or not _NOT_KNOWN.isdisjoint(document.words[place + 1 : place + 2]):
        return False
    named = term_index(document).medicines_between(no + 1, place)
    return not named and not context_at(document, place, place).other_person


def _of_none(core: Slot, document: Document, *, one: bool) -> Iterator[Statement]:
    """The fact says that there are none, or none to one medicine: stated so, or such an allergy is named."""
    yield from (stated_with(statement.spans, []) for statement in _none_known(document))
    for span in places_of(document, core) if one else [(t.first, t.last) for t in term_index(document).medicines]:
        first, stop = document.row_span(span[0])
        context = context_at(document, *span)
        if not _speaks_of_allergy(document.words[max(first, span[0] - 4) : min(stop, span[1] + 4)]):
            continue
        if one and context.denied:
            yield stated_with((span,), [])
        elif context.affirmed:
            yield Statement(Said.CLASH, (span,), f"allergy to {document.quote(*span)}", "allergy-stated", sure=False)
