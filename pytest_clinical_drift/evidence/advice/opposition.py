"""Two orders that cannot both be followed: take / do not take, another dose, do / do not do, go / no need to go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice.orders import Advice, advice_of, document_of
from pytest_clinical_drift.evidence.advice.words import AWAY, CARE, TOWARD, words
from pytest_clinical_drift.evidence.mentions.context import context_flags
from pytest_clinical_drift.evidence.mentions.regimen import Regimen, compare, read_regimen
from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.index import ids_above, term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, load_data, word_set


@dataclass(frozen=True, slots=True)
class Conflict:
    """Whether a later reply contradicts an earlier one."""

    contradiction: bool
    reason: str = ""
    quotes: tuple[str, str] | None = None
    severe: bool = False
    kind: str = ""
    """reversed (medicine, both orders plain), medicine, dose, activity or care."""
    object: str | None = None


NONE = Conflict(False, "no two orders on the same object exclude each other")
_NEWS = word_set("advice", "news")


def oppositions(earlier: str, later: str, news: str = "") -> Iterator[Conflict]:
    """Every opposition between two replies; `news` is what the patient wrote in between."""
    for new in advice_of(later):
        for old in advice_of(earlier):
            if old.wanted == new.wanted or old.conditional or new.conditional:
                continue
            conflict = _oppose(old, new)
            if conflict is not None and not _explains(new.document, new.first) and not _brought(conflict, news):
                yield conflict
    yield from _other_dose(earlier, later, news)


def _oppose(old: Advice, new: Advice) -> Conflict | None:
    if {old.kind, new.kind} - {TOWARD, AWAY, CARE}:
        return None
    quotes = (old.quote, new.quote)
    if CARE in (old.kind, new.kind):
        places = _named("care_places", old) & _named("care_places", new)
        go = f"go / no need to go: {min(places)}" if places else ""
        return Conflict(True, go, quotes, True, "care", min(places)) if places and old.wanted else None
    medicine = _shared_medicine(old, new)
    if medicine:
        by_name = {t.concept.id for t in old.medicines} & {t.concept.id for t in new.medicines}
        kind = "reversed" if medicine in by_name and _is_bare(old) and _is_bare(new) else "medicine"
        return Conflict(True, _reason(old, medicine), quotes, True, kind, medicine)
    things = _named("activities", old) & _named("activities", new)
    if things and not old.medicines and not new.medicines:
        return Conflict(True, _reason(old, min(things)), quotes, False, "activity", min(things))
    return None


_SHORT = 12
_LEADING = frozenset(("do", "not", "never", "please", "don", "t", "you", "must", "should"))


def _is_bare(order: Advice) -> bool:
    """ "Do not take any metoprolol today.": a short sentence that begins with its verb."""
    first, stop = order.document.sentence_span(order.first)
    verb = order.action in words().taking and first < order.first
    leading = set(order.document.words[first : order.first]) - set(tokenise(order.action))
    lasting = order.wanted or {"until", "till"}.isdisjoint(order.document.words[first:stop])
    return verb and lasting and stop - first <= _SHORT and leading <= _LEADING


def _reason(old: Advice, thing: str) -> str:
    name = thing.partition(":")[2] or thing
    return f"{name}: first to have or do it, then not" if old.wanted else f"{name}: first not to have or do it, then to"


_COMPANY = frozenset(("with", "alongside", "beside"))
_OTHER_ONE = frozenset(("second", "another", "other", "extra", "more", "additional"))


def _medicines(order: Advice) -> list[Term]:
    """What an order is about: not the last one of "avoid kava with sertraline", nor that of "no extra apixaban"."""
    return [
        term
        for number, term in enumerate(order.medicines)
        if not (number and order.document.words[term.first - 1] in _COMPANY)
        and (order.wanted or _OTHER_ONE.isdisjoint(order.document.words[max(0, term.first - 2) : term.first]))
    ]


def _shared_medicine(old: Advice, new: Advice) -> str:
    """The medicine both are about: the same, or one of a class that was ruled out."""
    for one in _medicines(old):
        for two in _medicines(new):
            away, toward = (two, one) if old.wanted else (one, two)
            of_a_class = away.concept.kind != DRUG and away.concept.id in ids_above(toward.concept)
            if one.concept is two.concept or of_a_class:
                return toward.concept.id
    return ""


@lru_cache(maxsize=4)
def _names(listed: str) -> dict[tuple[str, ...], str]:
    data = load_data("orders")[listed]
    return {tokenise(str(word)): str(name) for name, several in data.items() for word in several}


def _named(listed: str, order: Advice) -> set[str]:
    """Places of care or activities among the words of an order."""
    said = [*tokenise(order.action), *order.document.words[order.first : order.last + 1]]
    return {
        name
        for phrase, name in _names(listed).items()
        if any(tuple(said[at : at + len(phrase)]) == phrase for at in range(len(said)))
    }


def _explains(document: Document, index: int) -> bool:
    """Whether the sentence of a later order says what has changed."""
    first, stop = document.sentence_span(index)
    said = f" {' '.join(document.words[first:stop])} "
    return any(f" {phrase} " in said for phrase in load_data("orders")["news"])


def _brought(conflict: Conflict, news: str) -> bool:
    """Whether the patient's message brought news of the very thing."""
    if not news:
        return False
    document = document_of(news)  # read only where something was found: most pairs of turns have nothing
    named = any(t.concept.id == conflict.object for t in term_index(document).medicines)
    return named and not _NEWS.isdisjoint(document.words)


def _other_dose(earlier: str, later: str, news: str) -> Iterator[Conflict]:
    """The same medicine in another dose or interval, both complete, neither of them planned or earlier."""
    later_doses = list(_dosed(document_of(later)))
    for old, regimen in _dosed(document_of(earlier)):
        for new, other in later_doses:
            clash = compare(regimen, other, []) if old.concept is new.concept else ""
            quotes = document_of(earlier).sentence(old.first), document_of(later).sentence(new.first)
            conflict = Conflict(True, f"{old.concept.name}: {clash}", quotes, True, "dose", old.concept.id)
            if clash and not _explains(document_of(later), new.first) and not _brought(conflict, news):
                yield conflict


_SPEAKING = frozenset(("you", "your", "take", "have", "give", "the", "use", "i"))
_CHANGING = word_set("advice", "changing")


def _dosed(document: Document) -> Iterator[tuple[Term, Regimen]]:
    """Medicines with a complete regimen, said to the patient and without a change or a limit."""
    for term in term_index(document).medicines:
        regimen = read_regimen(document, term)
        if len(regimen.strengths) != 1 or not regimen.times or regimen.earlier or regimen.planned:
            continue
        said = document.sentence(term.first).lower().split()
        context = context_flags(document, term.first, term.last)
        stated = not (context.negated or context.hypothetical or context.other_person)
        if stated and not _SPEAKING.isdisjoint(said) and _CHANGING.isdisjoint(said):
            yield term, regimen


def rules_conflict(earlier: str, later: str, news: str = "") -> Conflict:
    return next(iter(sorted(oppositions(earlier, later, news), key=lambda c: not c.severe)), NONE)
