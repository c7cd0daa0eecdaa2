"""Facts that a medicine must not be stopped or missed: "prednisolone 10 mg daily, must not be stopped suddenly"."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from pytest_clinical_drift.evidence.facts.outcome import PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document, read

_STOPS = word_set("unbroken", "stops")
_LEADING = word_set("unbroken", "leading")
_NOT = frozenset(("not", "never", "no"))
_REACH = 4  # tokens from the denial to the verb


@lru_cache(maxsize=4096)
def kept_up(text: str) -> str | None:
    """What a fact says beside that the medicine must not be stopped; None for any other fact."""
    document = read(text)
    if not term_index(document).medicines:
        return None
    place = _forbids_stopping(document)
    if place is None:
        return None
    while place and document.words[place - 1] in _LEADING:
        place -= 1
    return document.raw[: document.ends[place - 1]].rstrip(" ,;-") if place else None


def _forbids_stopping(document: Document) -> int | None:
    """Where the words that forbid stopping begin."""
    for place, word in enumerate(document.words):
        if word in _NOT and any(
            after.startswith(tuple(_STOPS)) for after in document.words[place + 1 : place + _REACH]
        ):
            return place
    return None


def assess_kept_up(text: str, document: Document, assess: Callable[[str], Outcome]) -> Outcome | None:
    """The medicine as it is taken, and that stopping it is warned of; None for any other fact."""
    medicine = kept_up(text)
    if medicine is None:
        return None
    outcome = assess(medicine)
    if outcome.status == RETAINED and _forbids_stopping(document) is None:
        return Outcome(PARTIAL, outcome.evidence, "missing: that it must not be stopped")
    return outcome
