"""Which runs may be compared: with each other (`compare`), and with a baseline (`--drift-baseline`)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.baseline import RunDifference, compare_cases
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.thresholds import BaselineRules
from pytest_clinical_drift.versions import PACKAGE

_ALIKE = ("cases", "prompts")
"""Hashes that two runs must share."""


class NamedRun(NamedTuple):
    """A run in a comparison."""

    name: str
    result: RunResult


def load_runs(paths: Sequence[Path]) -> list[NamedRun]:
    """Read results files or their folders; runs that would share a name are named by their place."""
    files = [path / RESULTS_FILE if path.is_dir() else path for path in paths]
    names = [file.parent.name or str(file) for file in files]
    return [
        NamedRun(name if names.count(name) == 1 else str(file.parent), read_results(file))
        for name, file in zip(names, files, strict=True)
    ]


def load_baseline(path: Path, option: str = "--drift-baseline") -> RunResult:
    """Read an earlier results file, or the one in a folder, without its conversations."""
    result = read_results(path, option)
    return result.model_copy(update={"cases": tuple(replace(case, repeats=()) for case in result.cases)})


def paired_differences(runs: Sequence[NamedRun], rules: BaselineRules) -> list[RunDifference]:
    """Every run against the first, on the cases both have; runs on other cases or prompts, or read by another judge,
    are not paired.

    InputError where runs were stretched to different numbers of turns, or probed on other turns.
    """
    first, *others = runs
    for run in others:
        ours, theirs = (_conversation(of.result.manifest) for of in (first, run))
        if ours != theirs:
            raise InputError(
                f"compare: {first.name} ran {ours} and {run.name} {theirs}; only runs of the same --drift-turns and "
                "probes can be compared"
            )
    return [_difference(run, first, rules) for run in others]


def _difference(run: NamedRun, first: NamedRun, rules: BaselineRules) -> RunDifference:
    ours, theirs = run.result.manifest, first.result.manifest
    if different := _differ(ours.model_dump(), theirs):
        return RunDifference(run.name, first.name, remarks=(reason(ReasonCode.NOT_PAIRED, what=different),))
    groups = {case.case_id: case.group for case in first.result.cases}
    return compare_cases((run.name, first.name), (run.result.cases, first.result.cases), groups, rules)


def check_comparable(path: Path, baseline: RunResult, scoring: Mapping[str, Any]) -> tuple[Reason, ...]:
    """Refuse a baseline with other cases, prompts or judge, saying which; return remarks on what else differs.

    `scoring` is what decides on this run's figures, as its manifest will have it.
    """
    before = baseline.manifest
    if (before.turns, before.probes) != (scoring.get("turns"), scoring.get("probes", "schedule")):
        ours = before.model_copy(update={"turns": scoring.get("turns"), "probes": scoring.get("probes", "schedule")})
        raise InputError(
            f"--drift-baseline {path}: it ran {_conversation(before)}, this run {_conversation(ours)}; give the same "
            "--drift-turns and probes"
        )
    if different := _differ(scoring, before):
        raise InputError(f"--drift-baseline {path}: cannot be compared with this run, because the {different} differ")
    old, new = before.versions.get(PACKAGE), scoring.get("versions", {}).get(PACKAGE)
    return (reason(ReasonCode.BASELINE_VERSION, before=old, now=new),) if old and new and old != new else ()


def _conversation(manifest: Manifest) -> str:
    turns = f"to {manifest.turns} turns" if manifest.turns else "as many turns as its cases have"
    return turns + (", a summary after every turn" if manifest.probes == "all" else "")


def _differ(now: Mapping[str, Any], before: Manifest) -> str:
    """What two runs were not scored alike by; empty where their figures mean the same."""
    different = [what for what in _ALIKE if now["hashes"][what] != getattr(before.hashes, what)]
    if (now["judge"], now["stride"]) != (before.judge, before.stride):
        of_now = f"{now['judge']}, stride {now['stride']}"
        different.append(f"judges ({before.judge}, stride {before.stride}; now {of_now})")
    if now["judge_prompts"] != before.judge_prompts:
        different.append("questions put to the judge")
    return " and the ".join(different)
