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
    groups = {case.case_id: case.group for case in first.result.cases}
    differences = []
    for run in others:
        ours, theirs = (_conversation(of.result.manifest) for of in (first, run))
        if ours != theirs:
            raise InputError(
                f"compare: {first.name} ran {ours} and {run.name} {theirs}; only runs of the same --drift-turns and "
                "probes can be compared"
            )
        if different := _differ(run.result.manifest, first.result.manifest):
            remarks = (reason(ReasonCode.NOT_PAIRED, what=different),)
            differences.append(RunDifference(run.name, first.name, remarks=remarks))
        else:
            cases = run.result.cases, first.result.cases
            differences.append(compare_cases((run.name, first.name), cases, groups, rules))
    return differences


def check_comparable(path: Path, baseline: RunResult, scoring: Mapping[str, Any]) -> tuple[Reason, ...]:
    """Refuse a baseline with other cases, prompts or judge, saying which; return remarks on what else differs.

    `scoring` is what decides on this run's figures, as its manifest will have it.
    """
    before, now = baseline.manifest, Manifest.model_validate(scoring)
    if (before.turns, before.probes) != (now.turns, now.probes):
        raise InputError(
            f"--drift-baseline {path}: it ran {_conversation(before)}, this run {_conversation(now)}; give the same "
            "--drift-turns and probes"
        )
    if different := _differ(now, before):
        raise InputError(f"--drift-baseline {path}: cannot be compared with this run, because the {different} differ")
    old, new = (manifest.versions.get(PACKAGE) for manifest in (before, now))
    return (reason(ReasonCode.BASELINE_VERSION, before=old, now=new),) if old and new and old != new else ()


def _conversation(manifest: Manifest) -> str:
    turns = f"to {manifest.turns} turns" if manifest.turns else "as many turns as its cases have"
    return turns + (", a summary after every turn" if manifest.probes == "all" else "")


def _differ(now: Manifest, before: Manifest) -> str:
    """What two runs were not scored alike by; empty where their figures mean the same."""
    different = [what for what in ("cases", "prompts") if getattr(now.hashes, what) != getattr(before.hashes, what)]
    if (now.judge, now.stride) != (before.judge, before.stride):
        judges = f"{before.judge}, stride {before.stride}; now {now.judge}, stride {now.stride}"
        different.append(f"judges ({judges})")
    if now.judge_prompts != before.judge_prompts:
        different.append("questions put to the judge")
    return " and the ".join(different)
