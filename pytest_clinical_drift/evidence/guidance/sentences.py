"""The sentences of a text, kept for those who read them one after the other."""

from __future__ import annotations

from functools import lru_cache

from pytest_clinical_drift.evidence.advice import document_of
from pytest_clinical_drift.evidence.guidance.clauses import sentences_of
from pytest_clinical_drift.evidence.guidance.objects import mentions_of
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import view_of


@lru_cache(maxsize=32)
def sentences_in(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text as advice reads them; few texts are kept, since sentences are large."""
    document = document_of(text)
    if not document.words:
        return ()
    view = view_of(document)
    return tuple(sentences_of(view, mentions_of(view)))
