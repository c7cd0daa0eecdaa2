"""Who cares for whom: "looks after her mother" is not "her mother looks after her"."""

from __future__ import annotations

from typing import NamedTuple

from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, Outcome
from pytest_clinical_drift.evidence.facts.relatives import people, same_people
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_CARER = "word:carer"
_BEFORE, _AFTER = 7, 5
_VERBS = word_set("care_roles", "verbs")
_NOUNS = word_set("care_roles", "nouns")
_PATIENT = word_set("care_roles", "patient")


class Care(NamedTuple):
    """One statement of caring: who gives it and who gets it; nobody stands for the patient."""

    giver: frozenset[str]
    taker: frozenset[str]
    first: int
    last: int


def care_statements(document: Document) -> list[Care]:
    """Every statement of caring that a text makes in a verb or by naming the carer of someone."""
    known: list[Care] | None = document.cache.get("care")
    if known is None:
        terms = term_index(document).exact.get(_CARER, ())
        found = [_care(document, term.first, term.last) for term in terms if not term.weak]
        known = document.cache["care"] = [care for care in found if care is not None]
    return known


def _care(document: Document, first: int, last: int) -> Care | None:
    words = document.words
    start, stop = document.clause_span(first)
    before = words[max(start, first - _BEFORE) : first]
    after = words[last + 1 : min(stop, last + 1 + _AFTER)]
    inside = words[first : last + 1]
    if "whom" in before:
        return None  # "his wife, for whom he is the carer": the order says nothing
    if not _NOUNS.isdisjoint(inside):
        if after[:1] in (["for"], ["to"], ["of"]) or inside[-1] in ("for", "to", "of"):
            return Care(people(before) if _named_last(before) else frozenset(), people(after), first, last)
        owner = _owner(document, first, start)
        if owner:
            return Care(frozenset(), owner, first, last)
        return Care(people(before), frozenset(), first, last) if _is_predicate(before) else None
    if _VERBS.isdisjoint(inside):
        return None
    if after[:1] == ["by"]:
        return Care(people(after), frozenset(), first, last)
    return Care(people(before) if _named_last(before) else frozenset(), people((*inside, *after)), first, last)


def _named_last(before: list[str]) -> bool:
    """Whether a relative, and not the patient, is the last one named before the verb: "her sister cares for"."""
    for place in range(len(before) - 1, -1, -1):
        if before[place] in _PATIENT:
            return False
        if people(before[place : place + 1]):
            # "She and her sister care for", "lives with her sister and cares for": the patient is among them.
            return "and" not in before and "with" not in before[max(0, place - 2) : place]
    return False


def _owner(document: Document, first: int, start: int) -> frozenset[str]:
    """ "her mother's carer": the one who is cared for."""
    for place in range(first, max(start, first - 3), -1):
        if document.gaps[place].startswith("'"):
            return people(document.words[place - 1 : place])
    return frozenset()


def _is_predicate(before: list[str]) -> bool:
    """ "her mother is her main carer": a relative, the verb and whose carer it is."""
    places = [i for i, word in enumerate(before) if word in ("is", "was", "remains", "became")]
    return bool(places) and bool(people(before[max(0, places[-1] - 1) : places[-1]]))


def with_care_roles(fact: Fact, document: Document, outcome: Outcome) -> Outcome:
    """The outcome of a fact about caring, where the text gives the roles to the same people."""
    if outcome.status == CONTRADICTED or not any(_CARER in part.ids for part in fact.words):
        return outcome
    own = care_statements(fact.document)
    told = care_statements(document)
    if len(own) != 1 or not told or not (own[0].giver or own[0].taker):
        return outcome
    wanted = own[0]
    if any(_same(wanted.giver, care.giver) and _same(wanted.taker, care.taker) for care in told):
        return outcome
    rival = next((c for c in told if wanted.taker and _same(wanted.taker, c.taker) and c.giver), None)
    if wanted.giver and rival is None:
        rival = next((c for c in told if not c.taker and c.giver and not wanted.taker), None)
    if rival is not None:
        return Outcome(CONTRADICTED, ((rival.first, rival.last),), "someone else gives the care")
    if all((care.giver or care.taker) for care in told):
        return Outcome(ABSENT, outcome.evidence, "the roles are others")
    return outcome


def _same(wanted: frozenset[str], named: frozenset[str]) -> bool:
    return wanted == named or (bool(wanted) and bool(named) and same_people(wanted, named))
