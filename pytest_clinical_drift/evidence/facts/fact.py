"""A fact taken apart: its core, and what else a summary has to state with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.mentions.regimen import Regimen
from pytest_clinical_drift.evidence.quantities.amounts import Amount
from pytest_clinical_drift.evidence.quantities.dates import Date
from pytest_clinical_drift.evidence.quantities.frequencies import Frequency
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.vocabulary import Concept, load_data, word_set

TAKEN, MEASURED, REACTS, STATED = "taken", "measured", "reacts", "stated"


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """One thing that a summary has to say."""

    text: str
    concept: Concept | None = None
    """The vocabulary's concept; None for other words."""
    ids: frozenset[str] = frozenset()
    """Concepts that say it, themselves or by something narrower."""
    against: frozenset[str] = frozenset()
    """Concepts that exclude it."""
    stems: frozenset[str] = frozenset()
    """Stems of its words; all of them near each other say it too."""
    denied: bool = False
    """The fact says that it is not so."""
    other: bool = False
    """The fact says it of another person."""


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """A fact, taken apart."""

    text: str
    kind: str | None
    """What the case calls it."""
    document: Document
    frame: str
    """taken (a medicine), measured, reacts (an allergy), stated (everything else)."""
    core: Slot
    details: tuple[Slot, ...]
    regimen: Regimen | None
    amounts: tuple[Amount, ...]
    """Quantities that stand with the core and are no part of a regimen."""
    rates: tuple[Frequency, ...]
    dates: tuple[Date, ...]
    past: bool
    """The fact lies in the past by its own words."""
    ended: bool
    """The fact says that something was stopped."""
    worded: bool = False
    """Its words are peers: a circumstance, not a named thing with details."""
    result: bool = False
    """The result of a test, whose "negative" is what it says and no denial."""
    inner: tuple[Slot, ...] = ()
    """Qualifiers inside the name of the core: "permanent atrial fibrillation"."""


@lru_cache(maxsize=8)
def words_of(name: str) -> frozenset[str]:
    """A list of words from `fact_words.yaml`."""
    return frozenset(str(word) for word in load_data("fact_words")[name])


FUNCTION = word_set("facts", "function")
DENYING = frozenset(("no", "not", "non", "never", "without", "nil", "none", "off"))


def content_of(words: Sequence[str]) -> list[str]:
    """The words of a name that have to stand together; none where one of them denies the others."""
    return [] if not DENYING.isdisjoint(words) else [w for w in words if w not in FUNCTION]
