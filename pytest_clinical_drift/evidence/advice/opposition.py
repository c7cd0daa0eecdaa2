"""Two orders that cannot both be followed: take / do not take, another dose, do / do not do, go / no need to go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice.clause import AWAY, CARE, TOWARD, generic_words, words
from pytest_clinical_drift.evidence.advice.orders import (
    OTHER_ONE,
    Advice,
    advice_of,
    document_of,
    offered,
    spoken_against,
)
from pytest_clinical_drift.evidence.facts.fact import words_of
from pytest_clinical_drift.evidence.mentions.context import reading
from pytest_clinical_drift.evidence.mentions.regimen import Regimen, compare, read_regimen
from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.index import ids_above, term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, Concept, load_data, word_set
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems


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
    before, after = advice_of(earlier), advice_of(later)
    urgent = _sent_away(after) and not _sent_away(before)
    for new in after:
        for old in before:
            if urgent and old.wanted and not new.wanted and new.kind != CARE:
                continue  # an emergency explains what is now to be left off
            if (old.conditional or new.conditional) and not _ruled_out(old, new):
                continue
            found = _oppose(old, new) or _unfinished(old, new)
            if found is not None and not _explains(new.document, new.first) and not _brought(found, news):
                yield found
    yield from _allowed_after_all(earlier, later, news)
    yield from _other_dose(earlier, later, news)


def _allowed_after_all(earlier: str, later: str, news: str) -> Iterator[Conflict]:
    """A medicine that the earlier reply only spoke against, and that the later one orders or allows."""
    against = spoken_against(earlier)
    for term, quote in offered(later):
        yield from _reversal(against, term.concept, quote, news)
    for new in advice_of(later):
        having = new.action in _HAVING or tokenise(new.action) in words().praise
        deferred = not _CLINICIANS.isdisjoint(new.quote.lower().split())
        if not new.wanted or new.kind != TOWARD or not having or deferred:
            continue
        ordered = dict.fromkeys(t.concept for t in _medicines(new) if t.first >= new.first)
        if not _explains(new.document, new.first):
            for medicine in ordered:
                yield from _reversal(against, medicine, new.quote, news)


def _reversal(against: Mapping[str, str], medicine: Concept, quote: str, news: str) -> Iterator[Conflict]:
    """Against what was said of the medicine itself, else of the first thing that it is or contains."""
    wider = (said for concept_id, said in against.items() if concept_id in ids_above(medicine))
    before = against.get(medicine.id) or next(wider, "")
    reason = f"{medicine.name}: first spoken against, then to have"
    found = Conflict(True, reason, (before, quote), True, "medicine", medicine.id)
    if before and not _brought(found, news):
        yield found


_HAVING = frozenset(words().ingest) | {"keep", "buy", "go ahead with", "go for", "say yes to", "use up"}


def _sent_away(orders: Sequence[Advice]) -> bool:
    """Whether a reply sends the patient to hospital at once."""
    return any(o.wanted and not o.conditional and _care_places(o) & {"emergency", "hospital"} for o in orders)


def _ruled_out(old: Advice, new: Advice) -> bool:
    """What was ruled out without a condition, now ordered under one that is no clinician's word."""
    said = new.quote.lower().split()
    lasting = not {"hold", "wait"} & set(tokenise(old.action)) and not old.conditional
    return lasting and not old.wanted and new.wanted and bool(old.medicines) and _CLINICIANS.isdisjoint(said)


_CLINICIANS = word_set("advice", "deferring")


def _unfinished(old: Advice, new: Advice) -> Conflict | None:
    """ "Finish the course" / "no need to finish it"."""
    if old.action == new.action and old.wanted != new.wanted and old.action in ("finish", "complete"):
        return Conflict(True, f"{old.action} / no need to {old.action}", (old.quote, new.quote), True, "medicine")
    return None


def _oppose(old: Advice, new: Advice) -> Conflict | None:
    posture = _posture(old), _posture(new)
    if "" not in posture and posture[0] != posture[1]:
        return Conflict(True, f"{posture[0]} / {posture[1]}", (old.quote, new.quote), True, "activity", "posture")
    if old.wanted == new.wanted or {old.kind, new.kind} - {TOWARD, AWAY, CARE}:
        return None
    medicine = _shared_medicine(old, new) if CARE not in (old.kind, new.kind) else ""
    if medicine:
        by_name = {t.concept.id for t in old.medicines} & {t.concept.id for t in new.medicines}
        kind = "reversed" if medicine in by_name and _is_bare(old) and _is_bare(new) else "medicine"
        return Conflict(True, _reason(old, medicine), (old.quote, new.quote), True, kind, medicine)
    place = _care_places(old) & _care_places(new)
    if place or CARE in (old.kind, new.kind):
        if place and old.wanted and not new.wanted:
            return Conflict(True, f"go / no need to go: {min(place)}", (old.quote, new.quote), True, "care", min(place))
        return None
    shared = _things(old) & _things(new)
    if shared and not _medicines(old) and not _medicines(new):
        thing = min(shared)
        return Conflict(True, _reason(old, thing), (old.quote, new.quote), False, "activity", thing)
    return None


_FLAT, _UPRIGHT = frozenset(("flat", "down")), frozenset(("up", "upright", "straight"))


def _posture(order: Advice) -> str:
    """ "Lie flat" or "sit upright", where an order says so."""
    words_after = set(order.document.words[order.first : order.first + 3])
    if not order.wanted or order.conditional:
        return ""
    if order.action == "lie" and words_after & _FLAT:
        return "lie down"
    return "sit up" if order.action == "sit" and words_after & _UPRIGHT else ""


_SHORT = 12
_LEADING = frozenset(("do", "not", "never", "please", "don", "t", "you", "must", "should"))


def _is_bare(order: Advice) -> bool:
    """ "Do not take any metoprolol today.": a short sentence that begins with its order."""
    first, stop = order.document.sentence_span(order.first)
    leading = set(order.document.words[first : order.first]) - set(tokenise(order.action))
    lasting = order.wanted or {"until", "till"}.isdisjoint(order.document.words[first:stop])
    return lasting and not order.conditional and stop - first <= _SHORT and leading <= _LEADING


def _reason(old: Advice, thing: str) -> str:
    name = thing.partition(":")[2] or thing
    return f"{name}: first to have or do it, then not" if old.wanted else f"{name}: first not to have or do it, then to"


def _medicines(order: Advice) -> list[Term]:
    """The medicines that an order is about; in "avoid St John's wort with sertraline" only the first."""
    return [t for n, t in enumerate(order.medicines) if not (n and order.document.words[t.first - 1] in _COMPANY)]


_COMPANY = frozenset(("with", "alongside", "beside"))


def _shared_medicine(old: Advice, new: Advice) -> str:
    """The medicine both are about: the same, or one of a class that was ruled out."""
    for one in _medicines(old):
        for two in _medicines(new):
            away, toward = (one, two) if not old.wanted else (two, one)
            order = old if away is one else new
            before = order.document.words[max(0, away.first - 2) : away.first]
            if before != ["any", "more"] and not OTHER_ONE.isdisjoint(before):
                continue  # "no second antihistamine", "no extra apixaban"
            if one.concept is two.concept:
                return one.concept.id
            if away.concept.kind != DRUG and away.concept.id in ids_above(toward.concept):
                return toward.concept.id
            meant = new if toward is two else old
            if meant.document.words[meant.first] in ("it", "them") and toward.concept.id in ids_above(away.concept):
                return away.concept.id  # "don't bin it", of an antidepressant
    return ""


@lru_cache(maxsize=1)
def _places() -> dict[tuple[str, ...], str]:
    data = load_data("orders")["care_places"]
    return {tokenise(str(word)): str(name) for name, listed in data.items() for word in listed}


@lru_cache(maxsize=1)
def _activities() -> dict[str, str]:
    data = load_data("orders")["activities"]
    return {loose_stem(str(word)): str(name) for name, listed in data.items() for word in listed}


def _care_places(order: Advice) -> set[str]:
    said = order.document.words[order.first : order.last + 1]
    return {
        name
        for phrase, name in _places().items()
        for at in range(len(said))
        if tuple(said[at : at + len(phrase)]) == phrase
    }


def _things(order: Advice) -> set[str]:
    """Stems of the first few nouns that an order governs; known activities by their name."""
    stems = loose_stems(order.document)[order.first : order.last + 1]
    verb = tokenise(order.action)[-1:]
    known = _activities()
    filler = words_of("filler")
    judged = {w for phrase in (*words().praise, *words().blame) for w in phrase}
    tokens = order.document.words[order.first : order.last + 1]
    if order.action == "leave":
        return set()
    capitals = {w for i, w in enumerate(tokens, order.first) if len(w) == 3 and order.document.spelled(i).isupper()}
    kept = [
        known.get(s, s)
        for s, w in list(zip(stems, tokens, strict=True))[:8]
        if s not in generic_words()
        and w not in filler
        and w not in judged
        and (len(w) > 3 or w in capitals or s in known)
        and w.isalpha()
    ]
    own = [known[s] for w in verb if (s := loose_stem(w)) in known]
    return {*kept[:3], *own}


def _explains(document: Document, index: int) -> bool:
    """Whether the sentence of a later order says what has changed."""
    first, stop = document.sentence_span(index)
    said = f" {' '.join(document.words[first:stop])} "
    return any(f" {phrase} " in said for phrase in load_data("orders")["news"])


def _brought(found: Conflict, news: str) -> bool:
    """Whether the patient's message brought news of the very thing."""
    if not news:
        return False
    told = document_of(news)  # read only where something was found: most pairs of turns have nothing
    named = any(t.concept.id == found.object for t in term_index(told).medicines)
    return named and not _NEWS.isdisjoint(told.words)


def _other_dose(earlier: str, later: str, news: str) -> Iterator[Conflict]:
    """The same medicine in another dose or interval, both complete, neither of them planned or earlier."""
    later_doses = list(_dosed(document_of(later)))
    for old, regimen in _dosed(document_of(earlier)):
        for new, other in later_doses:
            if old.concept is not new.concept:
                continue
            missing: list[str] = []
            clash = compare(regimen, other, missing)
            quotes = document_of(earlier).sentence(old.first), document_of(later).sentence(new.first)
            found = Conflict(True, f"{old.concept.name}: {clash}", quotes, True, "dose", old.concept.id)
            if clash and not _explains(document_of(later), new.first) and not _brought(found, news):
                yield found


_SPEAKING = frozenset(("you", "your", "take", "have", "give", "the", "use", "i"))
_CHANGING = word_set("advice", "changing")


def _dosed(document: Document) -> Iterator[tuple[Term, Regimen]]:
    """Medicines with a complete regimen, said to the patient and without a change or a limit."""
    for term in term_index(document).medicines:
        regimen = read_regimen(document, term)
        if len(regimen.strengths) != 1 or not regimen.times or regimen.earlier or regimen.planned:
            continue
        words = document.sentence(term.first).lower().split()
        context = reading(document, term.first, term.last)
        stated = not (context.negated or context.hypothetical or context.other_person)
        if stated and not _SPEAKING.isdisjoint(words) and _CHANGING.isdisjoint(words):
            yield term, regimen


def rules_conflict(earlier: str, later: str, news: str = "") -> Conflict:
    return next(iter(sorted(oppositions(earlier, later, news), key=lambda c: not c.severe)), NONE)
