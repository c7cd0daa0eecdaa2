"""What a document says about one condition: fully named, vaguely named, denied, excluded by another, or nothing."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from pytest_clinical_drift.evidence.contexts.mentions import Reading, happened_before, reading
from pytest_clinical_drift.evidence.facts.kinship import of_the_pair
from pytest_clinical_drift.evidence.facts.undone import was_refused, was_taken_away
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.quantities import amounts
from pytest_clinical_drift.evidence.reading.wording import loose_stem, loose_stems
from pytest_clinical_drift.evidence.terms.index import places_in, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, Concept, word_set
from pytest_clinical_drift.evidence.text import Document, tokenise

FULL, VAGUE, DENIED, EXCLUDED, OTHER, NONE = "full", "vague", "denied", "excluded", "other", "none"
_LOOSE_REACH = 6
_MOST = 200  # places of a word that are tried, so that a text of near-matches stays linear
_TRIVIAL = word_set("condition", "trivial")


@dataclass(frozen=True, slots=True)
class Finding:
    """State of one condition, with the mentions that show it."""

    state: str
    mentions: tuple[Term, ...] = ()
    clash: tuple[Term, ...] = ()
    """Mentions that deny or exclude it."""


def find_condition(
    document: Document,
    concept: Concept,
    *,
    other_person: bool = False,
    past: bool = False,
    planned: bool = False,
    ongoing: bool = False,
) -> Finding:
    """The state of a condition of the patient (or, for facts about relatives, of another person).

    A procedure may be stated as `planned` where the fact is about its date; what is `ongoing` is not stated as past.
    A fact that lies in the `past` is denied only by words about the past ("no history of"), not by its absence now.
    """
    mentions = named(document, concept)
    read = [(term, reading(document, term.first, term.last)) for term in mentions]
    if not other_person:
        read = [
            (
                t,
                replace(c, other_person=False)
                if c.other_person and of_the_pair(document, concept, t.first, t.last)
                else c,
            )
            for t, c in read
        ]
    if other_person:
        read = [(t, replace(c, other_person=True) if _of_kin(document, t) else c) for t, c in read]
        read = [(t, c) for t, c in read if not _of_outsider(document, t)]
    affirmed = [
        t for t, context in read if _holds(context, other_person) or (context.feared and concept.group == "social-risk")
    ]
    denied = [t for t, context in read if _denies(context, other_person) and t.concept.id == concept.id]
    if planned and concept.group in ("procedure", "test", "device"):
        affirmed += [t for t, context in read if context.arranged and t not in affirmed]
    if not past and not other_person:
        over = [t for t in affirmed if reading(document, t.first, t.last).ended]
        affirmed, denied = [t for t in affirmed if t not in over], [*denied, *over]
    if concept.group in ("procedure", "device", "test"):
        refused = [t for t in affirmed if was_refused(document, t) or (not past and was_taken_away(document, t))]
        affirmed, denied = [t for t in affirmed if t not in refused], [*denied, *refused]
    if concept.group == "care-status" or ongoing:
        pasts = [(t, reading(document, t.first, t.last)) for t in affirmed]
        over = [t for t, context in pasts if context.historical and not (ongoing and context.dated)]
        affirmed, denied = [t for t in affirmed if t not in over], [*denied, *over]
    use = not _SUBSTANCE_USE.isdisjoint(concept.name.split())  # "not used it since 2019" ends the use
    before = [] if use else [t for t in denied if happened_before(document, t.last)]
    denied = [t for t in denied if t not in before]
    if before and not affirmed:
        return Finding(VAGUE, tuple(before))
    if past:
        denied = [t for t in denied if _about_the_past(document, t)]
    if affirmed:
        now = [t for t in affirmed if not reading(document, t.first, t.last).historical]
        against = _excluding(document, concept) if not other_person else []
        if denied and now and not _same_place(document, denied, now):
            return Finding(DENIED, tuple(affirmed), tuple(denied))
        if against and now:
            return Finding(EXCLUDED, tuple(affirmed), tuple(against))
        return Finding(FULL, tuple(affirmed))
    against = [] if other_person else _excluding(document, concept)
    if denied:
        return Finding(DENIED, (), tuple(denied))
    if against:
        return Finding(EXCLUDED, (), tuple(against))
    if not other_person:
        opposite = _opposite_denied(document, concept)
        if opposite:
            return Finding(FULL, opposite)
    likely = [t for t, context in read if context.hedged and not context.open]
    if likely:
        return Finding(VAGUE, tuple(likely))
    vague = _vague(document, concept, other_person, past)
    if vague.state != NONE:
        return vague
    return Finding(OTHER, tuple(mentions)) if mentions else Finding(NONE)


_SUBSTANCE_USE = frozenset(("use", "misuse", "abuse", "smoker", "smoking", "drinking"))
_KIN_ADJECTIVES = frozenset(["maternal", "paternal", "familial", "parental"])


def _of_kin(document: Document, term: Term) -> bool:
    """ "maternal bipolar disorder", "paternal history of bipolar disorder" is a parent's."""
    return not _KIN_ADJECTIVES.isdisjoint(document.words[max(0, term.first - 4) : term.first])


_OUTSIDERS = frozenset(
    ("friend", "friends", "neighbour", "neighbor", "colleague", "flatmate", "housemate", "roommate", "classmate",
     "boss", "patients", "people")
)  # fmt: skip


def _of_outsider(document: Document, term: Term) -> bool:
    """ "her friend's mother had X": no relative of the patient."""
    first = max(document.clause_span(term.first)[0], term.first - 10)
    return not _OUTSIDERS.isdisjoint(document.words[first : term.first])


def named(document: Document, concept: Concept) -> list[Term]:
    """Where a condition, or a kind of it, is named."""
    index = term_index(document)
    found = [*index.exact.get(concept.id, ()), *index.within.get(concept.id, ())]
    if concept.name == "pregnancy":
        # "28/40" counts weeks of a pregnancy.
        found += [Term(concept, a.first, a.last) for a in amounts(document) if a.ratio.endswith("/40") and a.value >= 4]
    return [t for t in found or _loosely_named(document, concept) if not _of_a_figure(document, t)]


def _holds(context: Reading, other_person: bool) -> bool:
    if other_person:
        return context.other_person and not context.negated and not context.hypothetical
    return context.affirmed


def _denies(context: Reading, other_person: bool) -> bool:
    return context.negated and context.other_person if other_person else context.denied


def _same_place(document: Document, denied: list[Term], affirmed: list[Term]) -> bool:
    """A denial in the sentence that affirms it is about something more special."""
    places = {document.sentences[t.first] for t in affirmed}
    return all(document.sentences[t.first] in places for t in denied)


def _excluding(document: Document, concept: Concept) -> list[Term]:
    index = term_index(document)
    found = []
    for other_id in sorted(concept.excludes):
        for term in (*index.exact.get(other_id, ()), *index.within.get(other_id, ())):
            context = reading(document, term.first, term.last)
            lasting = not context.historical or term.concept.group == "social-risk"
            if context.affirmed and lasting and not term.weak:
                found.append(term)
    return found


def _opposite_denied(document: Document, concept: Concept) -> tuple[Term, ...]:
    """ "Smoking: never" states the non-smoker: the only thing it excludes is denied."""
    if concept.group not in ("social-risk", "care-status"):
        return ()
    index = term_index(document)
    for other_id in sorted(concept.excludes):
        denied = [t for t in index.exact.get(other_id, ()) if reading(document, t.first, t.last).denied]
        if denied:
            return (denied[0],)
    return ()


_PAST_WORDS = word_set("condition", "past_words")


def _about_the_past(document: Document, term: Term) -> bool:
    first, stop = document.sentence_span(term.first)
    return not _PAST_WORDS.isdisjoint(document.words[max(first, term.first - 8) : min(stop, term.last + 8)])


def _of_a_figure(document: Document, term: Term) -> bool:
    """ "GAD-7: 14" names a scale; "Haemoglobin: no fall over the past year" is not about the patient falling."""
    scales = term_index(document).between(MEASURE, term.first - 1, term.last + 1)
    if any(m.first <= term.first and term.last < m.last for m in scales):
        return True
    following = term_index(document).between(MEASURE, term.last + 1, term.last + 2)
    if following and document.gaps[term.last + 1] == "-":
        return True  # "BDD-YBOCS"
    if term.concept.name != "fall":
        return False
    first = document.sentence_span(term.first)[0]
    measures = term_index(document).by_kind.get(MEASURE, ())
    return any(
        first <= m.first < term.first and m.last - m.first + 1 + len(document.words[m.first]) > 3 for m in measures
    )


def _vague(document: Document, concept: Concept, other_person: bool, past: bool = False) -> Finding:
    index = term_index(document)
    denied: list[Term] = []
    wider = concept.ancestors
    if other_person and concept.group == "psychiatric":
        wider = wider | {"condition:mental illness"}  # "mental illness on her father's side"
    for above in sorted(wider):
        for term in index.exact.get(above, ()):
            if term.weak:
                continue
            context = reading(document, term.first, term.last)
            if _holds(context, other_person):
                return Finding(VAGUE, (term,))
            if _denies(context, other_person) and not (past and not _about_the_past(document, term)):
                denied.append(term)
    return Finding(DENIED, (), tuple(denied)) if denied else Finding(NONE)


@lru_cache(maxsize=4096)
def _wordings(concept: Concept) -> tuple[tuple[str, ...], ...]:
    """The stems of every wording of a concept that has two content words or more."""
    found = []
    for wording in [concept.name, *map(str, concept.data.get("synonyms", ())), *map(str, concept.data.get("lay", ()))]:
        words = [word for word in tokenise(wording) if word not in _TRIVIAL]
        keys = tuple(dict.fromkeys(map(loose_stem, words)))
        if len(keys) >= 2 and _DENIALS.isdisjoint(words):  # a denial holds for what follows it: "no friends"
            found.append(keys)
    return tuple(dict.fromkeys(found))


def _loosely_named(document: Document, concept: Concept) -> list[Term]:
    """All words of one wording close together in one sentence, in any order: "sleep apnoea (obstructive)"."""
    found: list[Term] = []
    stems = loose_stems(document)
    present = cast("frozenset[str] | None", document.cache.get("loose stem set"))
    if present is None:
        present = frozenset(stems)
        document.cache["loose stem set"] = present
    for keys in _wordings(concept):
        if not present.issuperset(keys):
            continue
        places_of = {key: places_in(stems, key) for key in keys}
        rarest = min(keys, key=lambda key: len(places_of[key]))
        for start in places_of[rarest][:_MOST]:
            places = [start]
            for key in keys:
                if key == rarest:
                    continue
                nearest = _nearest(document, places_of[key], start)
                if nearest is None:
                    break
                places.append(nearest)
            else:
                if len(set(places)) == len(places) and _unbroken(document, min(places), max(places)):
                    found.append(_as_mention(document, concept, places))
    return found


def _nearest(document: Document, places: list[int], start: int) -> int | None:
    at = bisect_left(places, start)
    near = [p for p in places[max(0, at - 1) : at + 1] if abs(p - start) <= _LOOSE_REACH]
    near = [p for p in near if document.sentences[p] == document.sentences[start]]
    return min(near, key=lambda p: abs(p - start), default=None)


_DENIALS = word_set("condition", "denials")


def _as_mention(document: Document, concept: Concept, places: list[int]) -> Term:
    """A mention over all the words; where a denial stands among them, only what it denies."""
    first, last = min(places), max(places)
    inside = [i for i in range(first, last) if document.words[i] in _DENIALS]
    if inside:
        after = [p for p in places if p > inside[0]]
        return Term(concept, after[0], after[0]) if after else Term(concept, last, last)
    return Term(concept, first, last)


def _unbroken(document: Document, first: int, last: int) -> bool:
    """No boundary of a statement between the words, nor a "will" that leaves it open."""
    if not _OPEN.isdisjoint(document.words[first : last + 1]):
        return False
    return not any(";" in gap or "." in gap for gap in document.gaps[first + 1 : last + 1])


_OPEN = frozenset(("will", "would", "may", "might", "could", "if"))


__all__ = ["DENIED", "EXCLUDED", "FULL", "NONE", "OTHER", "VAGUE", "Finding", "find_condition", "named"]
