"""What a run was asked for, and what was found out while it ran: every value once, with what it has to agree with.

Hashes, the comparison of runs and the checks of shards follow from the marks: a new field needs no other place.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field


class Mark(StrEnum):
    """What a value decides."""

    IDENTITY = "identity"
    """What was tested. Shards of one run agree in it; runs that are compared may differ."""
    SCORING = "scoring"
    """What a figure means. Runs that are compared agree in it, and so do shards."""
    SHARED = "shared"
    """What else decides on the verdict: limits, calibration, ratings. Shards agree in it; figures mean the same."""
    CONDUCT = "conduct"
    """How the run was carried out. Nothing has to agree in it."""


OF_ONE_RUN = (Mark.IDENTITY, Mark.SCORING, Mark.SHARED)
"""What the shards of a run have in common."""


@dataclass(frozen=True, slots=True)
class Marked:
    """The mark of a field, and its name in a sentence."""

    mark: Mark
    words: str
    shown: bool = False
    """Its values help a reader; hashes and whole settings do not."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which two records differ."""

    field: str
    words: str
    ours: Any
    theirs: Any
    shown: bool

    @property
    def values(self) -> str:
        """Both values, where they help a reader."""
        plain = all(isinstance(value, str | int) for value in (self.ours, self.theirs))
        return f" ({self.ours}, {self.theirs})" if self.shown and plain else ""


class MarkedRecord(BaseModel):
    """A frozen record whose every field is marked."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """A field without a mark would be left out of every check in silence."""
        super().__pydantic_init_subclass__(**kwargs)
        unmarked = [name for name, field in cls.model_fields.items() if not _marks_of(field.metadata)]
        if unmarked:
            raise TypeError(f"{cls.__name__}.{unmarked[0]} has no mark; annotate it with Marked(…)")

    @classmethod
    def marked(cls, marks: Collection[Mark]) -> Iterator[tuple[str, Marked]]:
        """The fields with one of these marks."""
        for name, field in cls.model_fields.items():
            for marked in _marks_of(field.metadata):
                if marked.mark in marks:
                    yield name, marked

    def values(self, *marks: Mark) -> dict[str, Any]:
        """The plain values of the fields with one of these marks."""
        plain = self.model_dump(mode="json")
        return {name: plain[name] for name, _ in self.marked(marks)}

    def fingerprint(self, *marks: Mark) -> str:
        """Hash of these values, whatever their order."""
        text = json.dumps(self.values(*marks), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def differences(self, other: Self, *marks: Mark) -> list[Difference]:
        """In which fields with one of these marks two records differ."""
        ours = self.values(*marks)
        theirs = other.values(*marks)
        return [
            Difference(name, marked.words, ours[name], theirs[name], marked.shown)
            for name, marked in self.marked(marks)
            if ours[name] != theirs[name]
        ]


def _marks_of(metadata: Collection[Any]) -> list[Marked]:
    return [item for item in metadata if isinstance(item, Marked)]


def _identity(words: str, *, shown: bool = False) -> Marked:
    return Marked(Mark.IDENTITY, words, shown)


def _scoring(words: str, *, shown: bool = False) -> Marked:
    return Marked(Mark.SCORING, words, shown)


def _shared(words: str, *, shown: bool = False) -> Marked:
    return Marked(Mark.SHARED, words, shown)


def _conduct(words: str) -> Marked:
    return Marked(Mark.CONDUCT, words)


class RunSpec(MarkedRecord):
    """Every option of a run as plain values and hashes."""

    model: Annotated[str, _identity("the model", shown=True)]
    system_prompt: Annotated[str | None, _identity("the system prompt")] = None
    """Hash."""
    record: Annotated[str, _identity("the place of the record")] = "first-message"
    cases: Annotated[str, _scoring("cases")]
    """Hash of the full set, stretched where it is."""
    turns: Annotated[int | None, _scoring("number of turns")] = None
    """To which every case is stretched; None: each has its own."""
    probes: Annotated[str, _scoring("probes")] = "schedule"
    prompts: Annotated[str, _scoring("prompts")]
    """Hash of what the model is asked."""
    judge: Annotated[str, _scoring("judges")]
    """Names; rules without one."""
    stride: Annotated[int, _scoring("stride of the pairs")] = 1
    judge_prompts: Annotated[str | None, _scoring("questions put to the judge")] = None
    """Hash."""
    probe: Annotated[str | None, _shared("the request for a summary")] = None
    """The project's own; None: the bundled one."""
    interludes: Annotated[str | None, _shared("the interludes")] = None
    """Hash of the bank that stretched the cases."""
    thresholds: Annotated[str, _shared("the thresholds")]
    """Hash."""
    baseline: Annotated[str | None, _shared("the baseline")] = None
    """Hash of its results."""
    strict: Annotated[bool, _shared("--drift-strict")] = False
    repeats: Annotated[int, _shared("the repeats")] = 1
    ner: Annotated[str, _shared("the entity extractor")] = "lexicon"
    embedder: Annotated[str | None, _shared("the embedder")] = None
    single_message: Annotated[bool, _shared("--drift-single-message")] = False
    pdsqi: Annotated[str | None, _shared("PDSQI-9 ratings")] = None
    """Version of the prompts by which summaries are rated."""
    readings: Annotated[int, _shared("the readings of each text")] = 1
    window: Annotated[int, _shared("the judge's window")] = 0
    """Tokens of a conversation that one reading holds."""
    audit: Annotated[int, _shared("the size of the audit")] = 0
    canaries: Annotated[int, _shared("the number of canaries")] = 0
    reviews: Annotated[str | None, _shared("the reviews")] = None
    """Hash of the last record that the run was given."""
    prices: Annotated[tuple[float, float] | None, _shared("the prices")] = None
    judge_prices: Annotated[tuple[float, float] | None, _shared("the judge's prices")] = None
    shards: Annotated[int | None, _shared("the number of shards", shown=True)] = None
    """None: the run is whole."""
    shard: Annotated[int | None, _conduct("the shard")] = None
    budget: Annotated[str | None, _conduct("the budget")] = None


class RunFacts(MarkedRecord):
    """What was found out about the model and the judge while the run was made ready."""

    version: Annotated[str | None, _shared("the version of this package", shown=True)] = None
    versions: Annotated[Mapping[str, str], _conduct("the versions of other packages")] = Field(default_factory=dict)
    revision: Annotated[str | None, _identity("the model's revision", shown=True)] = None
    identity_proven: Annotated[bool, _identity("whether the model's identity is proven")] = False
    decoding: Annotated[Mapping[str, Any], _identity("the model's settings")] = Field(default_factory=dict)
    server: Annotated[Mapping[str, Any] | None, _identity("the model's server or code")] = None
    judge: Annotated[Mapping[str, Any] | None, _shared("the judge")] = None
    """Its spec, revision, settings and where it decides; None: rules only."""
    calibration: Annotated[str | None, _shared("the judge's calibration")] = None
    """Hash."""
