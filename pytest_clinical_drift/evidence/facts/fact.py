"""A fact taken apart: its core, and what else a summary has to state with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from pytest_clinical_drift.evidence.mentions.regimen import Regimen
from pytest_clinical_drift.evidence.quantities.amounts import Amount
from pytest_clinical_drift.evidence.quantities.dates import Date
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.vocabulary import Concept, load_vocabulary, word_set

MEDICATION, MEASURED, ALLERGY, STATED = "medication", "measured", "allergy", "stated"


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
    """medication, measured, allergy, stated (everything else)."""
    core: Slot
    details: tuple[Slot, ...]
    regimen: Regimen | None
    amounts: tuple[Amount, ...]
    """Quantities beside the core that are not part of a regimen."""
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
    return frozenset(str(word) for word in load_vocabulary("fact_words")[name])


FUNCTION = word_set("facts", "function")
DENYING = frozenset(("no", "not", "non", "never", "without", "nil", "none", "off"))


def content_of(words: Sequence[str]) -> list[str]:
    """The words of a name that have to stand together; none where one of them denies the others."""
    return [] if not DENYING.isdisjoint(words) else [w for w in words if w not in FUNCTION]


RETAINED, PARTIAL, CONTRADICTED, ABSENT = "retained", "partial", "contradicted", "absent"


class Said(StrEnum):
    """What a statement says, strongest first."""

    PLAIN, CLASH, DENIED, PART = "plain", "clash", "denied", "part"
    VAGUE, TRACE, OTHER, DOUBT = "vague", "trace", "other", "doubt"


@dataclass(frozen=True, slots=True)
class Statement:
    """One place of a text that speaks of a fact."""

    said: str
    spans: tuple[tuple[int, int], ...]
    """First and last tokens of the words that say it."""
    reason: str = ""
    rule: str = ""
    """Name of the rule that found it; alarms are measured by it."""
    sure: bool = True


def stated_with(spans: tuple[tuple[int, int], ...], missing: Sequence[str]) -> Statement:
    """Plain where nothing is missing, else in part."""
    if missing:
        return Statement(Said.PART, spans, "missing: " + ", ".join(missing), "part")
    return Statement(Said.PLAIN, spans, "", "plain")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Status of a fact in a text."""

    status: str
    spans: tuple[tuple[int, int], ...] = ()
    reason: str = ""
    rule: str = ""
    certain: bool = True
    rival: tuple[tuple[int, int], ...] = ()
    """What speaks against a plain statement."""


def decide(statements: Sequence[Statement], *, unnamed: bool = False) -> Outcome:
    """The best statement stands; what speaks against it makes it unclear.

    `unnamed`: no word of the text can be the fact.
    """
    of = {said: [statement for statement in statements if statement.said == said] for said in Said}
    against = [s for s in (*of[Said.CLASH], *of[Said.DENIED]) if s.sure]
    if of[Said.PLAIN]:
        plain = of[Said.PLAIN][0]
        if against:
            rival = against[0]
            return Outcome(RETAINED, plain.spans + rival.spans, f"also: {rival.reason}", "rival", False, rival.spans)
        return Outcome(RETAINED, plain.spans, "", "plain")
    for said, status in ((Said.CLASH, CONTRADICTED), (Said.DENIED, CONTRADICTED), (Said.PART, PARTIAL)):
        if of[said]:
            best = max(of[said], key=lambda s: s.sure)
            clear = best.sure and not (said == Said.DENIED and of[Said.PART])
            return Outcome(status, best.spans, best.reason, best.rule, clear)
    for said, status, rule in _WEAKER:
        if of[said]:
            certain = said == Said.OTHER and all(s.said == Said.OTHER and s.sure for s in statements)
            return Outcome(status, of[said][0].spans, of[said][0].reason, rule, certain)
    return Outcome(ABSENT, (), "not stated", "unnamed" if unnamed else "no-words", certain=unnamed)


_WEAKER = (
    (Said.VAGUE, PARTIAL, "general-name"),
    (Said.TRACE, ABSENT, "fragments"),
    (Said.OTHER, ABSENT, "someone-else"),
    (Said.DOUBT, ABSENT, "not-asserted"),
)
