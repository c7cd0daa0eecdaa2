"""What can never fire: a rule that forbids a thing of which nobody has heard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from pytest_clinical_drift.cases.faults import Location, did_you_mean
from pytest_clinical_drift.cases.files import place_of
from pytest_clinical_drift.cases.model import Case, CriticalEntity
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.advice.targets import target_of
from pytest_clinical_drift.evidence.advice.words import OTHER
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.lexicon import find_terms, fold, lexicon
from pytest_clinical_drift.evidence.terms.stems import loose_stem
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, all_forms
from pytest_clinical_drift.lint.remark import Findings, error

Fault = tuple[str, str, Location]
"""Fact or turn, what is wrong, and where it stands in the case."""


def unknown_terms(case: Case) -> Findings:
    """Unknown names in `forbids`, and names in `must_not` that are nearly known ones."""
    for place, text, _ in _faults(case):
        yield error(place, text)


def refuse_unknown_terms(path: Path, cases: Iterable[Case]) -> None:
    """InputError with file and line where a rule of a case can never fire."""
    for case in cases:
        for place, text, location in _faults(case):
            place = place if place.startswith("turn ") else f"fact {place}"
            raise InputError(f"{place_of(path, case.id, location)}: {place}: {text}")


def _faults(case: Case) -> Iterator[Fault]:
    for fact, location in _facts(case):
        for at, name in enumerate(fact.forbids):
            if word := _unknown_word(name, case):
                meant = _meant(name, word) or "; correct it, or use the word in a message of the case"
                text = f"forbids {name!r}, but {word!r} is neither in the vocabulary nor in this case{meant}"
                yield fact.id, text, (*location, "forbids", at)
    for turn in case.turns:
        for at, wish in enumerate(turn.expect.must_not):
            for name in (wish.text, *wish.any_of):
                # A free sentence, which a judge may read all the same: only a slip of the pen is an error.
                word = _unknown_word(name, case) if target_of(name).kind != OTHER else None
                if word and (meant := _meant(name, word)):
                    text = f"must_not {name!r}: {word!r} is neither in the vocabulary nor in this case{meant}"
                    yield f"turn {turn.turn}", text, ("turns", turn.turn - 1, "expect", "must_not", at)


def _facts(case: Case) -> Iterator[tuple[CriticalEntity, Location]]:
    for at, fact in enumerate(case.critical_entities):
        yield fact, ("critical_entities", at)
    for turn in case.turns:
        for at, fact in enumerate(turn.introduces):
            yield fact, ("turns", turn.turn - 1, "introduces", at)


def _unknown_word(name: str, case: Case) -> str | None:
    """The first word of what is forbidden that neither the vocabulary nor the patient uses."""
    target = target_of(name)
    if target.ids or find_terms(name):
        return None
    words = [word for word in read(name).words if loose_stem(word) in target.stems]
    return next((word for word in words if not lexicon().knows(fold(word)) and not _said(word, case)), None)


def _said(word: str, case: Case) -> bool:
    texts = (case.patient_summary, *(fact.text for fact, _ in _facts(case)), *(turn.message for turn in case.turns))
    return any(loose_stem(word) == loose_stem(said) for text in texts for said in read(text).words)


def _meant(name: str, word: str) -> str:
    return did_you_mean(name, _medicines()) or did_you_mean(word, _medicines())


@lru_cache(maxsize=1)
def _medicines() -> tuple[str, ...]:
    return tuple(sorted({form.text.lower() for form in all_forms() if form.concept.kind in (DRUG, DRUG_CLASS)}))
