"""A results record from made-up conversations, for tests of what is written from it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from pytest_clinical_drift.judging.calibration import Calibration
from pytest_clinical_drift.report.json_file import results
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.case import Repeats, judge_case
from pytest_clinical_drift.verdict.grounds import Grounds, grounds_of
from pytest_clinical_drift.verdict.supplement import supplement
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict
from pytest_clinical_drift.verdict.whole_set import judge_set

TODAY = datetime.date(2026, 11, 1)


def share(hits: int, of: int, low: float, high: float) -> dict[str, float]:
    return {"hits": hits, "of": of, "low": low, "high": high}


def judged(**kinds: Mapping[str, Any]) -> dict[str, Any]:
    """A judge as the manifest records it, with these limits per kind."""
    calibration = {
        "judge": "server:big", "identity": "x", "proven": True, "prompt_version": "1", "prompts": "y",
        "made": "2026-10-01", "questions": 400, "kinds": kinds,
    }  # fmt: skip
    return {
        "spec": "server:big@http://localhost", "deciding": sorted(kinds), "below_floor": [], "calibration": calibration,
    }  # fmt: skip


def limits(found: float = 0.9, cleared: float = 0.99, wrong: float = 0.01) -> dict[str, Any]:
    """Limits of one kind of question."""
    return {
        "sensitivity": share(59, 60, found, 1.0),
        "specificity": share(299, 300, cleared, 1.0),
        "false_confirmed": share(1, 300, 0.0, wrong),
        "missed": share(1, 60, 0.0, 1 - found),
        "consistent": share(350, 360, 0.9, 1.0),
    }


def manifest(judge: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "model": "made-up", "revision": None, "judge": "rules", "judged": judge, "replies": 0, "replies_reused": 0,
        "versions": {}, "identity_proven": False, "decoding": {},
        "hashes": {"cases": "c", "prompts": "p", "thresholds": "t", "system_prompt": None},
    }  # fmt: skip


def judged_cases(*runs: CaseAssessment) -> list[tuple[Repeats, CaseVerdict]]:
    return [((run,), judge_case((run,), load_thresholds(), TODAY)) for run in runs]


def grounds(*runs: CaseAssessment, judge: Mapping[str, Any] | None = None) -> Grounds:
    kinds = Calibration.model_validate(judge["calibration"]).kinds if judge else None
    return grounds_of(runs, (), confidence=0.95, judge=kinds, deciding=judge["deciding"] if judge else ())


def record(
    *runs: CaseAssessment, judge: Mapping[str, Any] | None = None, thresholds: Thresholds | None = None
) -> dict[str, Any]:
    """The whole content of a results file."""
    gate, cases = thresholds or load_thresholds(), judged_cases(*runs)
    verdicts = [verdict for _, verdict in cases]
    verdict = judge_set([repeats for repeats, _ in cases], verdicts, gate, total=len(runs), today=TODAY)
    found = results(cases, verdict, manifest(judge), grounds=grounds(*runs, judge=judge), thresholds=gate)
    return found | supplement((), cases, gate, today=TODAY)
