"""What a document says about one condition: fully named, vaguely named, denied, excluded by another, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_clinical_drift.evidence.contexts.mentions import Reading, happened_before, reading
from pytest_clinical_drift.evidence.facts.kinds import RELATIVES
from pytest_clinical_drift.evidence.facts.kinship import of_the_pair
from pytest_clinical_drift.evidence.facts.loose_names import loosely_named
from pytest_clinical_drift.evidence.facts.relatives import is_said_of_relative
from pytest_clinical_drift.evidence.facts.undone import was_refused, was_taken_away
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.quantities import amounts
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, Concept, word_set
from pytest_clinical_drift.evidence.text import Document

FULL, VAGUE, DENIED, EXCLUDED, OTHER, NONE = "full", "vague", "denied", "excluded", "other", "none"


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
    outsider: bool = False,
) -> Finding:
    """The state of a condition of the patient (or, for facts about relatives, of another person).

    A procedure may be stated as `planned` where the fact is about its date; what is `ongoing` is not stated as past.
    With `outsider` the fact itself is about a friend or a colleague, who is otherwise no relative.
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
        read = [(t, c) for t, c in read if outsider or not _of_outsider(document, t)]
    affirmed = [
        t for t, context in read if _holds(context, other_person) or (context.feared and concept.group == "social-risk")
    ]
    denied = [t for t, context in read if _denies(context, other_person) and t.concept.id == concept.id]
    denied = [t for t in denied if not _in_plan(document, t.first)]
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
    before = [] if use else [t for t in denied if happened_before(document, t.last) and not _is_without(document, t)]
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


_PLANS = tuple(word_set("condition", "plan_labels"))


def _in_plan(document: Document, first: int) -> bool:
    """ "Plan: no weighing at home": what is agreed on, not how things are."""
    return any(label.startswith(_PLANS) for label in document.labels_of(first)[:1])


def _is_without(document: Document, term: Term) -> bool:
    """ "migraine without aura since her teens": what never belonged to it."""
    return "without" in document.words[max(0, term.first - 2) : term.first + 1]


_SUBSTANCE_USE = frozenset(("use", "misuse", "abuse", "smoker", "smoking", "drinking"))
_KIN_ADJECTIVES = frozenset(["maternal", "paternal", "familial", "parental"])


def _of_kin(document: Document, term: Term) -> bool:
    """ "maternal bipolar disorder", "paternal history of bipolar disorder" is a parent's."""
    before = document.words[max(0, term.first - 4) : term.first]
    following = document.words[term.last + 1 : term.last + 2]
    if is_said_of_relative(document.words, term.first, document.clause_span(term.first)[0]):
        return True
    if following and following[0] in RELATIVES and not document.gaps[term.last + 1]:
        return True  # "an alcoholic father"
    return not _KIN_ADJECTIVES.isdisjoint(before) or (before[-1:] == ["to"] and not RELATIVES.isdisjoint(before))


OUTSIDERS = frozenset(
    ("friend", "friends", "neighbour", "neighbor", "colleague", "flatmate", "housemate", "roommate", "classmate",
     "boss", "patients", "people")
)  # fmt: skip


def _of_outsider(document: Document, term: Term) -> bool:
    """ "her friend's mother had X": no relative of the patient."""
    first = max(document.clause_span(term.first)[0], term.first - 10)
    return not OUTSIDERS.isdisjoint(document.words[first : term.first])


def named(document: Document, concept: Concept) -> list[Term]:
    """Where a condition, or a kind of it, is named."""
    known: dict[str, list[Term]] = document.cache.setdefault("named", {})
    places = known.get(concept.id)
    if places is None:
        places = known[concept.id] = _named(document, concept)
    return places


def _named(document: Document, concept: Concept) -> list[Term]:
    index = term_index(document)
    found = [*index.exact.get(concept.id, ()), *index.within.get(concept.id, ())]
    if concept.name == "pregnancy":
        # "28/40" counts weeks of a pregnancy.
        found += [Term(concept, a.first, a.last) for a in amounts(document) if a.ratio.endswith("/40") and a.value >= 4]
    if concept.name in _WEIGHT_VERBS:
        found += _weight_changes(document, concept)
    return [t for t in found or loosely_named(document, concept) if not _of_a_figure(document, t)]


# "has lost 6 kg", "put on a stone": a change of weight by its amount.
_WEIGHT_VERBS = {
    "weight loss": frozenset(("lost", "losing", "dropped", "shed")),
    "unintentional weight loss": frozenset(("lost", "losing", "dropped", "shed")),
    "weight gain": frozenset(("gained", "gaining", "on")),
}


def _weight_changes(document: Document, concept: Concept) -> list[Term]:
    verbs = _WEIGHT_VERBS[concept.name]
    return [
        Term(concept, amount.first - back, amount.last)
        for amount in amounts(document)
        if amount.dimension == "weight"
        for back in (1, 2, 3)
        if back <= amount.first and document.words[amount.first - back] in verbs
    ]


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
    """ "GAD-7: 14" names a scale; "Platelets: a fall since May" is not about the patient falling."""
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


__all__ = [
    "DENIED",
    "EXCLUDED",
    "FULL",
    "NONE",
    "OTHER",
    "VAGUE",
    "Finding",
    "find_condition",
    "loosely_named",
    "named",
]
