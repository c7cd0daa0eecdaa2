"""Medicines that are ruled out along with a named one: "no ibuprofen or anything like it"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_clinical_drift.evidence.guidance.draft import Draft
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import spelled_out
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, load_data

_WITHIN = 9
"""Words behind the medicine in which its kind may be named."""


def with_kin(sentence: Sentence, draft: Draft, targets: Sequence[Mention], effect: str) -> tuple[str, ...]:
    """Ids that a directive is about; one that forbids a medicine and "anything like it" is about its class as well."""
    named = dict.fromkeys(target.id for target in targets)
    forbids = (effect == "for" and draft.mood.negated) or (effect == "against" and not draft.mood.negated)
    if forbids and not draft.mood.no_need:
        for target in targets:
            if target.kind == DRUG and _and_its_kind(sentence, target.end):
                named.update(dict.fromkeys(_classes(target)))
    return tuple(named)


@lru_cache(maxsize=1)
def _phrases() -> tuple[tuple[str, ...], ...]:
    return tuple(spelled_out(phrase) for phrase in load_data("advice")["and_its_kind"])


def _and_its_kind(sentence: Sentence, at: int) -> bool:
    if not 0 <= at < sentence.end:
        return False
    behind = tuple(sentence.view.words[at : min(at + _WITHIN, sentence.end)])
    return any(behind[start : start + len(phrase)] == phrase for phrase in _phrases() for start in range(len(behind)))


def _classes(target: Mention) -> Iterator[str]:
    """The classes a drug is entered under; wider ones would rule out too much."""
    if target.concept is not None:
        for name in target.concept.data.get("classes", ()):
            yield f"{DRUG_CLASS}:{name}"
