"""What produced the figures of a run, as its record tells it: model, judge, settings, hashes, tokens, shard."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pytest_clinical_drift.core.marks import CONDUCT, Mark, Marked, MarkedRecord
from pytest_clinical_drift.judging.calibration_file import Calibration
from pytest_clinical_drift.subjects.base import is_digest
from pytest_clinical_drift.versions import PACKAGE


class Record(BaseModel):
    """Part of the record; keys that are not known are ignored."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", allow_inf_nan=False, populate_by_name=True, use_attribute_docstrings=True
    )


class Hashes(MarkedRecord, Record):
    """Fingerprints of what a run was made of."""

    model_config = ConfigDict(frozen=True, extra="allow")

    cases: Annotated[str, Marked(Mark.SCORING, "the cases")]
    prompts: Annotated[str, Marked(Mark.SCORING, "the prompts")]
    thresholds: Annotated[str | None, Marked(Mark.SHARED, "the thresholds")] = None
    system_prompt: Annotated[str | None, Marked(Mark.IDENTITY, "the system prompt")] = None
    interludes: Annotated[str | None, Marked(Mark.SHARED, "the interludes")] = None
    """Of the bank that stretched the cases; None: they were run as written."""
    options: Annotated[str | None, CONDUCT] = None
    """Of what `run.json` alone holds: baseline, strictness, probe, window, signatures; None: not recorded."""


class TokenCounts(Record):
    """Tokens in a run, those of reused answers included, and their cost."""

    prompt: int
    completion: int
    prices_per_million: tuple[float, float] | None = None
    cost: float | None = None


class JudgeRecord(MarkedRecord, Record):
    """The judge, as it was asked and calibrated."""

    model_config = ConfigDict(frozen=True, extra="allow")

    spec: Annotated[str, Marked(Mark.SHARED, "the judge")]
    revision: Annotated[str | None, Marked(Mark.SHARED, "the judge")] = None
    identity_proven: Annotated[bool, Marked(Mark.SHARED, "the judge")] = False
    settings: Annotated[Mapping[str, Any], Marked(Mark.SHARED, "the judge")] = Field(default_factory=dict)
    prompt_version: Annotated[str, Marked(Mark.SHARED, "the judge")] = ""
    prompts: Annotated[str, Marked(Mark.SHARED, "the judge")] = ""
    host: Annotated[str | None, Marked(Mark.SHARED, "the judge")] = None
    """The server that texts were sent to; None where the judge worked in the same process."""
    offline: Annotated[bool, Marked(Mark.SHARED, "the judge")] = False
    deciding: Annotated[tuple[str, ...], Marked(Mark.SHARED, "the judge")] = ()
    """Kinds of question in which its calibration lets it decide."""
    below_floor: Annotated[tuple[str, ...], Marked(Mark.SHARED, "the judge")] = ()
    calibration: Annotated[Calibration | None, Marked(Mark.SHARED, "the judge's calibration")] = None
    requests: Annotated[Mapping[str, int], CONDUCT] = Field(default_factory=dict)
    """Readings and questions by kind, each wording counted, audit and canaries included; also those that were answered
    from the store or given up without being sent."""
    sent: Annotated[int | None, CONDUCT] = None
    """How many of them were sent to the judge; asking again after an error is not counted. None: not recorded."""
    reused: Annotated[int, CONDUCT] = 0
    """How many of them were answered from the store."""
    ignored: Annotated[int, CONDUCT] = 0
    """Stored answers that were not used, because they were changed or written with another key."""
    tokens: Annotated[TokenCounts | None, CONDUCT] = None
    """Of all answers, stored ones included; None where some were not counted."""
    sent_tokens: Annotated[TokenCounts | None, CONDUCT] = None
    """Of the requests that were sent; None where some were not counted."""


class ShardRecord(MarkedRecord, Record):
    """A shard of a run, and what its merge must know besides the rest of the manifest."""

    index: Annotated[int, CONDUCT] = Field(ge=1)
    count: Annotated[int, Marked(Mark.SHARED, "the number of shards", shown=True)] = Field(ge=1)
    run: Annotated[str, CONDUCT]
    """Id of the shard's run."""
    ended: Annotated[str, CONDUCT]
    """When, in UTC: of two runs of one shard the newer one counts."""
    settings: Annotated[Mapping[str, Any], Marked(Mark.SHARED, "the judge's settings")] = Field(default_factory=dict)
    """What decides on figures and is named nowhere else in the manifest."""

    @model_validator(mode="after")
    def _one_of_the_shards(self) -> Self:
        if self.index > self.count:
            raise ValueError(f"index must be 1 to {self.count}, found {self.index}")
        prices = self.settings.get("prices") or (0, 0)
        numbers = isinstance(prices, list | tuple) and all(isinstance(price, int | float) for price in prices)
        if not numbers or len(prices) != 2 or not all(0 <= price < 1e9 for price in prices):
            raise ValueError("prices must be two numbers")
        return self


_DECLARED = ("server:", "python:")
"""Subjects whose revision somebody declares; every other kind resolves its own."""


class Manifest(MarkedRecord, Record):
    """What produced the figures; keys that are not named here are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    model: Annotated[str, Marked(Mark.IDENTITY, "the model", shown=True)] = ""
    revision: Annotated[str | None, Marked(Mark.IDENTITY, "the model's revision", shown=True)] = None
    identity_proven: Annotated[bool, Marked(Mark.IDENTITY, "whether the model's identity is proven")] = False
    decoding: Annotated[Mapping[str, Any], Marked(Mark.IDENTITY, "the model's settings")] = Field(default_factory=dict)
    server: Annotated[Mapping[str, Any] | None, Marked(Mark.IDENTITY, "the model's server or code")] = None
    versions: Annotated[
        Mapping[str, str], Marked(Mark.SHARED, "the version of this package", shown=True, only=PACKAGE)
    ] = Field(default_factory=dict)
    judge: Annotated[str, Marked(Mark.SCORING, "the judge")]
    judge_prompts: Annotated[str | None, Marked(Mark.SCORING, "the judge's prompts")] = None
    judged: Annotated[JudgeRecord | None, Marked(Mark.SHARED, "the judge")] = None
    """None: rules only."""
    stride: Annotated[int, Marked(Mark.SCORING, "the options")] = 1
    ner: Annotated[str, Marked(Mark.SHARED, "the options")] = "lexicon"
    repeats: Annotated[int, Marked(Mark.SHARED, "the options")] = 1
    turns: Annotated[int | None, Marked(Mark.SCORING, "the turns")] = None
    """Turns to which every case was stretched; None: each has its own."""
    probes: Annotated[Literal["schedule", "all"], Marked(Mark.SCORING, "the options")] = "schedule"
    """After which turns a summary was requested."""
    record: Annotated[str, Marked(Mark.IDENTITY, "the place of the record")] = "first-message"
    """Where the model got the record."""
    single_message: Annotated[bool, Marked(Mark.SHARED, "the options")] = False
    """Whether the transcript was also given in one message."""
    pdsqi: Annotated[str | None, Marked(Mark.SHARED, "PDSQI-9 ratings")] = None
    """Version of the prompts by which summaries were rated; None: they were not."""
    seed: Annotated[int | None, CONDUCT] = None
    hashes: Annotated[Hashes, Marked(Mark.SHARED, "the hashes")]
    questions: Annotated[int, CONDUCT] = 0
    unanswered: Annotated[int, CONDUCT] = 0
    replies: Annotated[int, CONDUCT] = 0
    replies_reused: Annotated[int, CONDUCT] = 0
    """Taken from an earlier, finished run."""
    replies_reused_since: Annotated[str | None, CONDUCT] = None
    replies_resumed: Annotated[int, CONDUCT] = 0
    """Stored by this very run before it was interrupted."""
    replies_ignored: Annotated[int, CONDUCT] = 0
    """Stored replies that were not used, because they were changed or written with another key."""
    tokens: Annotated[TokenCounts | None, CONDUCT] = None
    """None where some were not counted: half of a sum is not a sum."""
    shard: Annotated[ShardRecord | None, CONDUCT] = None
    """None: no shard."""
    merged_from: Annotated[tuple[ShardRecord, ...], CONDUCT] = ()
    """The shards of a merged run; empty for any other."""
    replaced_shards: Annotated[tuple[ShardRecord, ...], CONDUCT] = ()
    """Earlier runs of these shards that a merge was given and did not use."""

    @property
    def reuse_is_proven(self) -> bool:
        """Whether replies of an earlier run may stand for this model; earlier versions called any name a proof."""
        declared = self.model.startswith(_DECLARED)
        return self.identity_proven and (not declared or is_digest(self.revision))
