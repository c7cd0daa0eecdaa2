"""What produced the figures of a run, as its record tells it: model, judge, settings, hashes, tokens, shard."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pytest_clinical_drift.judging.calibration_file import Calibration
from pytest_clinical_drift.subjects.base import is_digest


class Record(BaseModel):
    """Part of the record; keys that are not known are ignored."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", allow_inf_nan=False, populate_by_name=True, use_attribute_docstrings=True
    )


class Hashes(Record):
    """Fingerprints of what a run was made of."""

    model_config = ConfigDict(frozen=True, extra="allow")

    cases: str
    prompts: str
    thresholds: str | None = None
    system_prompt: str | None = None
    interludes: str | None = None
    """Of the bank that stretched the cases; None: they were run as written."""
    options: str | None = None
    """Of what `run.json` alone holds: baseline, strictness, probe, window, signatures; None: not recorded."""


class TokenCounts(Record):
    """Tokens in a run, those of reused answers included, and their cost."""

    prompt: int
    completion: int
    prices_per_million: tuple[float, float] | None = None
    cost: float | None = None


class JudgeRecord(Record):
    """The judge, as it was asked and calibrated."""

    model_config = ConfigDict(frozen=True, extra="allow")

    spec: str
    revision: str | None = None
    identity_proven: bool = False
    settings: Mapping[str, Any] = Field(default_factory=dict)
    prompt_version: str = ""
    prompts: str = ""
    host: str | None = None
    """The server that texts were sent to; None where the judge worked in the same process."""
    offline: bool = False
    deciding: tuple[str, ...] = ()
    """Kinds of question in which its calibration lets it decide."""
    below_floor: tuple[str, ...] = ()
    calibration: Calibration | None = None
    requests: Mapping[str, int] = Field(default_factory=dict)
    """Readings and questions by kind, each wording counted, audit and canaries included; also those that were answered
    from the store or given up without being sent."""
    sent: int | None = None
    """How many of them were sent to the judge; asking again after an error is not counted. None: not recorded."""
    reused: int = 0
    """How many of them were answered from the store."""
    ignored: int = 0
    """Stored answers that were not used, because they were changed or written with another key."""
    tokens: TokenCounts | None = None
    """Of all answers, stored ones included; None where some were not counted."""
    sent_tokens: TokenCounts | None = None
    """Of the requests that were sent; None where some were not counted."""


class ShardRecord(Record):
    """A shard of a run, and what its merge must know besides the rest of the manifest."""

    index: int = Field(ge=1)
    count: int = Field(ge=1)
    run: str
    """Id of the shard's run."""
    ended: str
    """When, in UTC: of two runs of one shard the newer one counts."""
    settings: Mapping[str, Any] = Field(default_factory=dict)
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


class Manifest(Record):
    """What produced the figures; keys that are not named here are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    model: str = ""
    revision: str | None = None
    identity_proven: bool = False
    decoding: Mapping[str, Any] = Field(default_factory=dict)
    server: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = Field(default_factory=dict)
    judge: str
    judge_prompts: str | None = None
    judged: JudgeRecord | None = None
    """None: rules only."""
    stride: int = 1
    ner: str = "lexicon"
    repeats: int = 1
    turns: int | None = None
    """Turns to which every case was stretched; None: each has its own."""
    probes: Literal["schedule", "all"] = "schedule"
    """After which turns a summary was requested."""
    record: str = "first-message"
    """Where the model got the record."""
    single_message: bool = False
    """Whether the transcript was also given in one message."""
    pdsqi: str | None = None
    """Version of the prompts by which summaries were rated; None: they were not."""
    seed: int | None = None
    hashes: Hashes
    questions: int = 0
    unanswered: int = 0
    replies: int = 0
    replies_reused: int = 0
    """Taken from an earlier, finished run."""
    replies_reused_since: str | None = None
    replies_resumed: int = 0
    """Stored by this very run before it was interrupted."""
    replies_ignored: int = 0
    """Stored replies that were not used, because they were changed or written with another key."""
    tokens: TokenCounts | None = None
    """None where some were not counted: half of a sum is not a sum."""
    shard: ShardRecord | None = None
    """None: no shard."""
    merged_from: tuple[ShardRecord, ...] = ()
    """The shards of a merged run; empty for any other."""
    replaced_shards: tuple[ShardRecord, ...] = ()
    """Earlier runs of these shards that a merge was given and did not use."""

    @property
    def reuse_is_proven(self) -> bool:
        """Whether replies of an earlier run may stand for this model; earlier versions called any name a proof."""
        declared = self.model.startswith(_DECLARED)
        return self.identity_proven and (not declared or is_digest(self.revision))
