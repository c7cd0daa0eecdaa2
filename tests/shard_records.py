"""Records of runs and of their shards, made up without a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from made import flat
from reviewing import case

from pytest_clinical_drift.cases.files import hash_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.sharding import Shard
from pytest_clinical_drift.results.files import RESULTS_FILE, to_plain, write_json
from pytest_clinical_drift.results.folders import TRANSCRIPTS
from pytest_clinical_drift.results.inputs import (
    GateInputs,
    JudgingRecord,
    RunInputs,
    options_hash,
    write_inputs,
)
from pytest_clinical_drift.results.manifest import JudgeRecord, ShardRecord
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.shards import ShardRun
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import RULES_ONLY, Deciders

CASES = tuple(
    Case.model_validate({**case(name), "turns": [{"turn": turn + 1, "message": "And?"} for turn in range(turns)]})
    for name, turns in (("anna", 4), ("bela", 3), ("cleo", 2))
)
"""Dealt to two shards, the longest first, each to the one with the fewest turns: anna; bela and cleo."""
WINDOW = 8000
JUDGING = JudgingRecord(window=WINDOW)


def gate(**changed: Any) -> GateInputs:
    """What the three cases are held against."""
    known = {"slug": "made", "strict": False, "stride": 1, "ner": "lexicon", "repeats": 1, "probe": None}
    known |= {"cases": CASES, "thresholds": load_thresholds(), "baseline": None, "baseline_remarks": ()}
    return GateInputs(**{**known, **changed})


def results(
    inputs: GateInputs, held: Sequence[CaseAssessment] = (), deciders: Deciders = RULES_ONLY, **manifest: Any
) -> RunResult:
    """The record of a run on these inputs in which these conversations were held."""
    hashes = {
        "cases": hash_cases(inputs.cases),
        "prompts": "p",
        "thresholds": inputs.thresholds.fingerprint(),
        "options": options_hash(inputs, WINDOW),
    }
    options = {name: getattr(inputs, name) for name in ("stride", "ner", "repeats", "single_message")}
    probes = "all" if inputs.probe_every_turn else "schedule"
    cases = [inputs.judge_case([run], deciders.deciding) for run in held]
    return RunResult.model_validate(
        {
            "verdict": "PARTIAL",
            "deciders": deciders,
            "cases": cases,
            "manifest": {"judge": "rules", "hashes": hashes, "probes": probes, **options, **manifest},
        }
    )


def inputs_of(inputs: GateInputs, result: RunResult) -> RunInputs:
    """The other record of that run."""
    known = {name: getattr(inputs, name) for name in GateInputs.model_fields}
    return RunInputs(**known, manifest=result.manifest, deciders=result.deciders, judging=JUDGING)


def shard_run(
    folder: Path,
    index: int,
    held: Sequence[CaseAssessment] | None = None,
    *,
    count: int = 2,
    run: str = "",
    ended: str = "2026-05-01",
    inputs: GateInputs | None = None,
    deciders: Deciders = RULES_ONLY,
    settings: dict[str, Any] | None = None,
    **manifest: Any,
) -> ShardRun:
    """One shard of a run on the three cases, with conversations without a fault unless others are given."""
    record = ShardRecord(index=index, count=count, run=run or f"run-{index}", ended=ended, settings=settings or {})
    shard = (inputs or gate()).model_copy(update={"shard": Shard(index, count)})
    if held is None:
        held = [flat("anna")] if index == 1 else [flat("bela"), flat("cleo")]
    result = results(shard, held, deciders, shard=record, **manifest)
    return ShardRun(folder, inputs_of(shard, result), result, record)


def written(run: ShardRun) -> Path:
    """The folder of a shard, with both records and a folder of transcripts."""
    (run.folder / TRANSCRIPTS).mkdir(parents=True)
    write_json(to_plain(run.result), run.folder / RESULTS_FILE)
    write_inputs(run.folder, run.inputs, run.result, JUDGING)
    return run.folder


def judge(**changed: Any) -> JudgeRecord:
    """A judge as manifests name it."""
    return JudgeRecord.model_validate({"spec": "python:judge:make", **changed})
