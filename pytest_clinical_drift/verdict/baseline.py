"""An earlier run to be no worse than: reads its `study_c_results.json` and refuses what cannot be compared."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.verdict.results_file import StoredCase, read_results
from pytest_clinical_drift.verdict.values import INCOMPLETE, SEVERE


@dataclass(frozen=True, slots=True)
class BaselineCase:
    """One case of the earlier run."""

    best: Mapping[str, float]
    """Its defined metrics, confirmed alarms only."""
    worst: Mapping[str, float]
    """The same with open alarms counted against it."""
    hard: bool
    """Whether it had a hard stop or a breach."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier run, read from its results file."""

    path: Path
    model: str
    verdict: str
    version: str | None
    """Version of this package that scored it."""
    judge: str
    stride: int
    judge_prompts: str | None
    cases_hash: str
    prompts_hash: str
    cases: Mapping[str, BaselineCase]
    """The cases that were run to the end, by id."""


def load_baseline(path: Path, option: str = "--drift-baseline") -> Baseline:
    """Read an earlier `study_c_results.json`, or the one in a folder; InputError in one sentence when it is none."""
    found = read_results(path, option)
    complete = [case for case in found.cases if case.verdict != INCOMPLETE]
    manifest = found.manifest
    return Baseline(
        path=path,
        model=manifest.model,
        verdict=found.verdict,
        version=manifest.versions.get("pytest-clinical-drift"),
        judge=manifest.judge,
        stride=manifest.stride,
        judge_prompts=manifest.judge_prompts,
        cases_hash=manifest.hashes.cases,
        prompts_hash=manifest.hashes.prompts,
        cases={case.case_id: _read_case(case) for case in complete},
    )


def _read_case(case: StoredCase) -> BaselineCase:
    best = case.best()
    return BaselineCase(best, case.worst(), any(best.get(name, 0.0) > 0 for name in SEVERE))


def recall_sd(baseline: Baseline) -> float | None:
    """Standard deviation of the cases' Recall@T10, for planning the next run; None below two cases."""
    values = [case.best["recall_at_t10"] for case in baseline.cases.values() if "recall_at_t10" in case.best]
    return statistics.stdev(values) if len(values) > 1 else None


def check_comparable(baseline: Baseline, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Refuse a baseline with other cases, prompts or judge, saying which; return remarks on what else differs.

    `manifest` is this run's, as written into the results file; what decides on its figures is read.
    """
    hashes = manifest["hashes"]
    different = []
    if baseline.cases_hash != hashes["cases"]:
        different.append("the cases")
    if baseline.prompts_hash != hashes["prompts"]:
        different.append("the prompts")
    if (baseline.judge, baseline.stride) != (manifest["judge"], manifest["stride"]):
        before, now = f"{baseline.judge}, stride {baseline.stride}", f"{manifest['judge']}, stride {manifest['stride']}"
        different.append(f"the judge ({before}; now {now})")
    if baseline.judge_prompts != manifest["judge_prompts"]:
        different.append("the questions put to the judge")
    if different:
        named = " and ".join(different)
        raise InputError(f"--drift-baseline {baseline.path}: cannot be compared with this run, because {named} differ")
    version = manifest.get("versions", {}).get("pytest-clinical-drift")
    if baseline.version and version and baseline.version != version:
        return (
            f"the baseline was scored by version {baseline.version}, this run by {version}: "
            "replay its transcripts with this version for a clean comparison",
        )
    return ()
