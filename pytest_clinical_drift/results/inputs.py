"""`run.json`: what a run was held against and how it was judged; with transcripts and log enough to judge it again."""

import datetime
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field

from pytest_clinical_drift.cases.files import hash_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.sharding import Shard
from pytest_clinical_drift.core.files import write_atomically
from pytest_clinical_drift.core.marks import CONDUCT, Mark, Marked, MarkedRecord
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.canaries import canary_rates
from pytest_clinical_drift.judging.conversation import Method
from pytest_clinical_drift.judging.due import audit_rates
from pytest_clinical_drift.judging.for_reviewers import Known, names_of
from pytest_clinical_drift.judging.procedure import Judges
from pytest_clinical_drift.judging.reviews import Review, content_hash
from pytest_clinical_drift.judging.session import JudgeSession
from pytest_clinical_drift.results.files import read_record
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.reasons import Reason, ShardsMissing, Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseResult, Deciders, fails_run

INPUTS_FILE = "run.json"
INPUTS_VERSION: Final = 6
"""Of this file; the results file has its own."""


class GateInputs(MarkedRecord):
    """Cases, limits and ways of scoring of a run: the same when it is judged again."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    slug: Annotated[str, CONDUCT]
    strict: Annotated[bool, Marked(Mark.SHARED, "the options")]
    stride: Annotated[int, CONDUCT]
    ner: Annotated[str, CONDUCT]
    repeats: Annotated[int, CONDUCT]
    probe: Annotated[str | None, Marked(Mark.SHARED, "the prompts")]
    probe_every_turn: Annotated[bool, CONDUCT] = False
    single_message: Annotated[bool, CONDUCT] = False
    """What was requested beyond the schedule: the transcripts hold it."""
    signed: Annotated[tuple[str, ...], CONDUCT] = ()
    """Cases that a clinician has signed as they stand in their files, before they are stretched."""
    cases: Annotated[tuple[Case, ...], CONDUCT]
    thresholds: Annotated[Thresholds, CONDUCT]
    baseline: Annotated[RunResult | None, Marked(Mark.SHARED, "the baseline")]
    """Without its conversations."""
    baseline_remarks: Annotated[tuple[Reason, ...], CONDUCT]
    shard: Annotated[Shard | None, CONDUCT] = None
    """The part of the cases that was run; None: no shard."""
    today: Annotated[datetime.date, CONDUCT] = Field(default_factory=datetime.date.today, exclude=True)
    """Waivers expire."""

    def judge_case(self, repeats: Sequence[CaseAssessment], deciding: Collection[str] = ()) -> CaseResult:
        """A case's repeats with their verdict; `deciding`: the groups of kinds that a judge at its floor has read."""
        return judge_case(repeats, self.thresholds, self.today, deciding)

    def fails(self, verdict: CaseResult) -> bool:
        """Whether a case fails its test."""
        return (self.strict and verdict.verdict == Verdict.CAUTION) or fails_run(verdict, self.thresholds)


class JudgingRecord(MarkedRecord):
    """How the conversations of a run were judged."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    window: Annotated[int, Marked(Mark.SHARED, "the judge's settings")]
    """Tokens of a conversation that one reading held."""
    reader: Annotated[str, Marked(Mark.SHARED, "the judge")] = ""
    """Name of the judge that read; empty: rules only."""
    questioner: Annotated[str, Marked(Mark.SHARED, "the judge")] = ""
    wordings: Annotated[tuple[int, ...], Marked(Mark.SHARED, "the judge")] = (1,)
    reads: Annotated[bool, Marked(Mark.SHARED, "the judge")] = True
    kinds: Annotated[tuple[str, ...], Marked(Mark.SHARED, "the judge")] = ()
    audit: Annotated[int, Marked(Mark.SHARED, "the judge's settings")] = 0
    """Cleared entries that were to be asked about."""
    canaries: Annotated[int, Marked(Mark.SHARED, "the judge's settings")] = 0
    """Faults that were to be inserted."""
    pdsqi: Annotated[bool, Marked(Mark.SHARED, "the judge")] = False
    reviews: Annotated[tuple[Review, ...], CONDUCT] = ()
    """What people had answered before the run ended."""

    @classmethod
    def of(cls, session: JudgeSession) -> Self:
        """The record of a run's judges."""
        reviews = session.reviews.records if session.reviews is not None else ()
        window = session.options.window
        if not session.judges:
            return cls(window=window, reviews=reviews)
        judges = session.procedure
        return cls(
            window=window,
            reader=judges.reader,
            questioner=judges.questioner,
            wordings=judges.wordings,
            reads=judges.reads,
            kinds=tuple(sorted(judges.kinds)),
            audit=session.options.audit,
            canaries=session.options.canaries,
            pdsqi=session.rates,
            reviews=reviews,
        )


class RunInputs(GateInputs):
    """The inputs of a finished run."""

    schema_version: Annotated[Literal[6], CONDUCT] = INPUTS_VERSION
    manifest: Annotated[Manifest, Marked(Mark.SHARED, "the manifest")]
    """As the results file has it."""
    deciders: Annotated[Deciders, CONDUCT]
    judging: Annotated[JudgingRecord, Marked(Mark.SHARED, "the judge's settings")]
    missing_shards: Annotated[tuple[str, ...], CONDUCT] = ()
    """What a merge lacked, in sentences."""

    @property
    def name(self) -> str:
        """Hash of the manifest, which every review of the run carries."""
        return manifest_hash(self.manifest)

    def method(self) -> Method:
        """How its conversations were judged."""
        record = self.judging
        known = Known(names_of(self.cases), record.window, frozenset(self.deciders.deciding))
        if not record.reader:
            return Method(known)
        return Method(
            known,
            Judges(record.reader, record.questioner, record.wordings, record.reads, kinds=frozenset(record.kinds)),
            audit=audit_rates(self.cases, self.repeats, record.audit),
            canaries=canary_rates(self.cases, self.repeats, record.canaries) if record.reads else {},
            pdsqi=record.pdsqi,
        )


def manifest_hash(manifest: Manifest) -> str:
    """What every review of a run carries."""
    return content_hash(manifest.model_dump(mode="json", by_alias=True))


def options_hash(gate: GateInputs, window: int) -> str:
    """What else decides on a verdict, beside the cases, the thresholds and what the manifest names."""
    kept = {"strict", "probe", "signed", "baseline", "baseline_remarks"}
    return content_hash({"window": window, **gate.model_dump(mode="json", by_alias=True, include=kept)})


def check_inputs(folder: Path, inputs: RunInputs, result: RunResult) -> None:
    """InputError where a folder's results and `run.json` are not of one run, or were changed."""
    manifest, hashes, both = result.manifest, result.manifest.hashes, f"{folder}: its results and its run.json"
    if inputs.name != manifest_hash(manifest):
        raise InputError(f"{both} belong to different runs, or one of them was changed")
    if hash_cases(inputs.cases) != hashes.cases or inputs.thresholds.fingerprint() != hashes.thresholds:
        raise InputError(f"{folder}: the cases or thresholds in run.json are not those of the run")
    ours = (inputs.stride, inputs.ner, inputs.repeats, inputs.probe_every_turn, inputs.single_message)
    theirs = (manifest.stride, manifest.ner, manifest.repeats, manifest.probes == "all", manifest.single_message)
    if ours != theirs or hashes.options not in (None, options_hash(inputs, inputs.judging.window)):
        raise InputError(f"{both} name different options; one of them was changed")
    if inputs.deciders != result.deciders:
        raise InputError(f"{both} name different judges or reviewers; one of them was changed")


def write_inputs(folder: Path, gate: GateInputs, result: RunResult, judging: JudgingRecord) -> Path:
    """Write `run.json` beside the results."""
    inputs = RunInputs(
        **{name: getattr(gate, name) for name in GateInputs.model_fields},
        manifest=result.manifest,
        deciders=result.deciders,
        judging=judging,
        missing_shards=missing_shards(result),
    )
    plain = inputs.model_dump(mode="json", by_alias=True)
    return write_atomically(folder / INPUTS_FILE, json.dumps(plain, ensure_ascii=True) + "\n")


def missing_shards(result: RunResult) -> tuple[str, ...]:
    """What a merge lacked, which only the merge knows."""
    return tuple(shard for why in result.reasons if isinstance(why, ShardsMissing) for shard in why.shards)


def read_inputs(folder: Path) -> RunInputs:
    """Read `run.json`; InputError in one sentence where there is none."""
    file = folder / INPUTS_FILE
    inputs = read_record(file, RunInputs.model_validate, f"{file}", "record of a run", INPUTS_VERSION)
    return inputs.model_copy(update={"today": datetime.date.today()})  # whatever the file says
