"""A results record from made-up conversations, for tests of what is written from it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.results.manifest import JudgeRecord, Manifest
from pytest_clinical_drift.results.models import CaseResult, RunResult, build_result
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds
from pytest_clinical_drift.verdict.values import RULES_ONLY, Deciders
from pytest_clinical_drift.verdict.whole_set import judge_set

TODAY = datetime.date(2026, 11, 1)


def share(hits: int, of: int, low: float, high: float) -> dict[str, float]:
    return {"hits": hits, "of": of, "low": low, "high": high}


def judged(
    deciding: Sequence[str] | None = None, below_floor: Sequence[str] = (), **kinds: Mapping[str, Any]
) -> JudgeRecord:
    """A judge as the manifest records it, with these limits per kind."""
    calibration = {
        "judge": "server:big", "identity": "x", "proven": True, "prompt_version": "1", "prompts": "y",
        "labelled": "z", "patients": 60, "kinds": kinds,
        "attempts": [{"made": "2026-10-01", "texts": 300, "requests": 400, "counts": {}}],
    }  # fmt: skip
    record = {
        "spec": "server:big@http://localhost",
        "deciding": sorted(kinds) if deciding is None else deciding,
        "below_floor": below_floor,
        "calibration": calibration,
    }
    return JudgeRecord.model_validate(record)


def limits(found: float = 0.9, cleared: float = 0.99, wrong: float = 0.01) -> dict[str, Any]:
    """Limits of one kind of question."""
    return {
        "sensitivity": share(59, 60, found, 1.0),
        "subtle": share(29, 30, found, 1.0),
        "specificity": share(299, 300, cleared, 1.0),
        "false_confirmed": share(1, 300, 0.0, wrong),
        "missed": share(1, 60, 0.0, 1 - found),
    }


def manifest(judge: JudgeRecord | None = None) -> Manifest:
    hashes = {"cases": "c", "prompts": "p", "thresholds": "t", "system_prompt": None}
    return Manifest.model_validate({"model": "made-up", "judge": "rules", "judged": judge, "hashes": hashes})


def judged_cases(*runs: CaseAssessment, deciding: Sequence[str] = ()) -> list[CaseResult]:
    """Cases by rules alone, or with a judge that decides these groups of kinds."""
    return [judge_case((run,), load_thresholds(), TODAY, deciding) for run in runs]


def record(
    *runs: CaseAssessment,
    judge: JudgeRecord | None = None,
    thresholds: Thresholds | None = None,
    deciders: Deciders = RULES_ONLY,
) -> RunResult:
    """The record of a run on these conversations."""
    gate, cases = thresholds or load_thresholds(), judged_cases(*runs, deciding=deciders.deciding)
    verdict = judge_set(cases, gate, total=len(runs), deciders=deciders)
    return build_result(cases, verdict, manifest(judge), thresholds=gate, case_set=(), today=TODAY)
