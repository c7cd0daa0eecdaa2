"""Which interludes suit a case, and which are near to its facts."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from pytest_clinical_drift.cases.interludes import Thread, stretch
from pytest_clinical_drift.cases.model import Case, facts_of, spoken
from pytest_clinical_drift.evidence.entities import content_stems
from pytest_clinical_drift.evidence.quantities.amounts import amounts
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.lexicon import find_terms
from pytest_clinical_drift.evidence.terms.vocabulary import (
    CONDITION,
    DRUG,
    DRUG_CLASS,
    MEASURE,
    Concept,
    load_vocabulary,
)
from pytest_clinical_drift.metrics import SEED

_COMPARED = frozenset({DRUG, DRUG_CLASS, CONDITION, MEASURE})
_REACTIONS = ("allergy", "intolerance")
_NAME = re.compile(r"\b[^\W\d_][\w'’-]{2,}")
_OPENING = re.compile(r"(?:(?:[A-Z]\w{1,3}\.? )?[A-Z][\w'’-]+ ?)+")
"""The name with which a patient's record opens."""
_TIME = "time"
"""Seven days are not an entry of a case: everybody has them."""


class _Named(NamedTuple):
    """What a text names: vocabulary entries, and values with their unit or measure."""

    concepts: frozenset[Concept]
    values: frozenset[str]

    def ids(self, *kinds: str) -> frozenset[str]:
        return frozenset(concept.id for concept in self.concepts if concept.kind in kinds)

    def classes(self) -> frozenset[str]:
        return frozenset(str(name) for concept in self.concepts for name in concept.data.get("classes", ()))


def stretched_cases(cases: Sequence[Case], turns: int, bank: Sequence[Thread]) -> list[Case]:
    """Every case with interludes that suit it; InputError names the case that cannot be stretched so far."""
    return [
        stretch(case, turns, bank, SEED, fits=spares(case), skips=shares_medicine(case), interferes=near(case))
        for case in cases
    ]


def shares_medicine(case: Case) -> Callable[[Thread], bool]:
    """Whether a thread names a medicine of the record or the messages, whoever takes it there."""
    said = _named(case.patient_summary, *(entry.message for _, _, entry in spoken(case))).ids(DRUG)
    return lambda thread: not said.isdisjoint(_named(*thread.messages, *thread.entries).ids(DRUG))


def spares(case: Case) -> Callable[[Thread], bool]:
    """Whether a thread leaves the case alone: it names nothing of its facts, of what is forbidden or demanded.

    A medicine of the same class, or the same kind of result with another value, is not an entry of the case, unless
    the class is forbidden or the patient reacts to it.
    """
    facts, entries = [fact for fact, _ in facts_of(case)], [entry for _, _, entry in spoken(case)]
    changes = [update.becomes for turn in case.turns for update in turn.updates if update.becomes]
    forbidden = [name for fact in facts for name in fact.forbids]
    forbidden += [wish.text for entry in entries for wish in entry.expect.must_not]
    demanded = [wish.text for entry in entries for wish in entry.expect.must]
    statements = [*(text for fact in facts for text in (fact.text, *fact.aliases)), *changes, *forbidden, *demanded]
    own = _named(*statements)
    reactions = [fact.text for fact in facts if fact.kind in _REACTIONS]
    refused = _named(*forbidden, *reactions).ids(DRUG, DRUG_CLASS)
    opening = _OPENING.match(case.patient_summary)
    patient = _capitalised(opening.group()) if opening else frozenset()
    said = _capitalised(" ".join((case.patient_summary, *statements, *(entry.message for entry in entries))))
    wordings = [stems for text in statements if (stems := content_stems(text))]
    words = load_vocabulary("word_sets")["interludes"]

    def leaves_alone(thread: Thread) -> bool:
        named = _named(*thread.messages, *thread.entries)
        # a measure says something by itself only with its value
        shared = [concept for concept in named.concepts & own.concepts if concept.kind != MEASURE]
        people = {name for name in _capitalised(thread.person or "") if name.lower() not in words["titles"]}
        return (
            all(concept.id in words["generic"] for concept in shared)
            and named.values.isdisjoint(own.values)
            and not any(concept.ancestors & refused or concept.id in refused for concept in named.concepts)
            and people.isdisjoint(said)
            and patient.isdisjoint(_capitalised(" ".join(thread.messages)))
            and not any(stems <= held for stems in wordings for held in _stems(thread))
        )

    return leaves_alone


def near(case: Case) -> Callable[[Thread], tuple[str, ...]]:
    """Facts that a thread may be mistaken for: of the same class of medicine, the same measure, an allergy too."""
    facts = [(fact, _named(fact.text, *fact.aliases)) for fact, _ in facts_of(case)]

    def mistaken(thread: Thread) -> tuple[str, ...]:
        if thread.type != "interference":
            return ()
        entries = _named(*thread.entries)
        allergy = any(word in entry.lower() for entry in thread.entries for word in _REACTIONS)
        return tuple(
            fact.id
            for fact, named in facts
            if entries.classes() & named.classes()
            or entries.ids(MEASURE) & named.ids(MEASURE)
            or (allergy and fact.kind in _REACTIONS)
        )

    return mistaken


@lru_cache(maxsize=4096)
def _named(*texts: str) -> _Named:
    concepts, values = set(), set()
    for text in texts:
        found = {term.concept for term in find_terms(text) if term.concept.kind in _COMPARED}
        concepts |= found
        for amount in amounts(read(text)):
            if amount.unit is not None and amount.dimension != _TIME:
                values.add(f"{amount.base:g} {amount.dimension}")
            values.update(f"{concept.id} {amount.value:g}" for concept in found if concept.kind == MEASURE)
    return _Named(frozenset(concepts), frozenset(values))


@lru_cache(maxsize=4096)
def _stems(thread: Thread) -> tuple[frozenset[str], ...]:
    """The words of each message, by their stems: a fact without an entry of its own is stated by all of its words."""
    return tuple(content_stems(message) for message in thread.messages)


def _capitalised(text: str) -> frozenset[str]:
    return frozenset(word for word in _NAME.findall(text) if word[0].isupper())
