"""`study_c_results.json`: written in one step, read by the models that wrote it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.cases.files import write_atomically as write_atomically
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.results.folders import RUNS
from pytest_clinical_drift.results.models import SCHEMA_VERSION, Manifest, RunResult
from pytest_clinical_drift.verdict.baseline import RunDifference, compare_cases
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.thresholds import BaselineRules

T = TypeVar("T")
RESULTS_FILE = "study_c_results.json"
_PACKAGE = "pytest-clinical-drift"


class NamedRun(NamedTuple):
    """A run in a comparison."""

    name: str
    result: RunResult


def to_plain(result: RunResult) -> dict[str, Any]:
    """The record as JSON; what was not evaluated and need not be named is left out."""
    plain: dict[str, Any] = result.model_dump(mode="json", by_alias=True)
    for name in ("continuity_score", "continuity_not_evaluated", "reviewed"):
        if plain[name] is None:
            del plain[name]
    for case, kept in zip(plain["cases"], result.cases, strict=True):
        for run, scored in zip(case["repeats"], kept.repeats, strict=True):
            # wall time differs between two equal runs; everything else in the file must not
            del run["generation_seconds"]
            run["recall_curve"] = list(scored.recall_curve)
            run["strict_recall_curve"] = list(scored.strict_curve)
            run["worst_recall_curve"] = list(scored.worst_curve)
    return plain


def write_json(plain: dict[str, Any], file: Path) -> Path:
    return write_atomically(file, json.dumps(plain, indent=1, ensure_ascii=True, allow_nan=False) + "\n")


def read_results(path: Path, option: str = "") -> RunResult:
    """Read a results file, or the one in a folder; InputError in one sentence where it cannot be used.

    `option` is the option that named it, for that sentence.
    """
    file = path / RESULTS_FILE if path.is_dir() else path
    return read_record(file, RunResult.model_validate, f"{option} {file}".strip(), RESULTS_FILE)


def read_record(file: Path, check: Callable[[Any], T], named: str, what: str, version: int = SCHEMA_VERSION) -> T:
    """The content of a file of this version, as `check` takes it; InputError in one sentence where it is not one."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(content, dict):
            _check_version(content, named, version)
        return check(content)
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError) and (runs := sorted((file.parent / RUNS).glob(f"*/{file.name}"))):
            told = f"no run over the full set is there; name a run, such as {runs[-1].parent}"
            raise InputError(f"{named}: {told}") from None
        why = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"{named}: cannot be read ({why})") from None
    except (ValueError, RecursionError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else "not JSON"
        raise InputError(f"{named}: not a {what} ({fault})") from None


def _check_version(content: dict[str, Any], named: str, ours: int) -> None:
    version = content.get("schema_version")
    if version == ours:
        return
    older = not isinstance(version, int) or version < ours
    advice = (
        "run again with --model replay:TRANSCRIPTS to write it anew"
        if older
        else "install a newer pytest-clinical-drift"
    )
    written = f"schema version {version}" if isinstance(version, int) else "no schema_version"
    raise InputError(
        f"{named}: written by {'an older' if older else 'a newer'} version of this package "
        f"({written}, this one reads {ours}); {advice}"
    )


# -- several runs


def load_runs(paths: Sequence[Path]) -> list[NamedRun]:
    """Read results files or their folders; runs that would share a name are named by their place."""
    files = [path / RESULTS_FILE if path.is_dir() else path for path in paths]
    names = [file.parent.name or str(file) for file in files]
    return [
        NamedRun(name if names.count(name) == 1 else str(file.parent), read_results(file))
        for name, file in zip(names, files, strict=True)
    ]


def _conversation(manifest: Manifest) -> str:
    turns = f"to {manifest.turns} turns" if manifest.turns else "as many turns as its cases have"
    return turns + (", a summary after every turn" if manifest.probes == "all" else "")


def paired_differences(runs: Sequence[NamedRun], rules: BaselineRules) -> list[RunDifference]:
    """Every run against the first, on the cases both have; runs on other cases or prompts are not paired.

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
    hashes, reference = run.result.manifest.hashes, first.result.manifest.hashes
    for what in ("cases", "prompts"):
        if getattr(hashes, what) != getattr(reference, what):
            return RunDifference(run.name, first.name, remark=reason(ReasonCode.NOT_PAIRED, what=what))
    groups = {case.case_id: case.group for case in first.result.cases}
    return compare_cases((run.name, first.name), (run.result.cases, first.result.cases), groups, rules)


def check_comparable(path: Path, baseline: RunResult, scoring: dict[str, Any]) -> tuple[Reason, ...]:
    """Refuse a baseline with other cases, prompts or judge, saying which; return remarks on what else differs.

    `scoring` is what decides on this run's figures, as its manifest will have it.
    """
    before, hashes = baseline.manifest, scoring["hashes"]
    if (before.turns, before.probes) != (scoring.get("turns"), scoring.get("probes", "schedule")):
        ours = before.model_copy(update={"turns": scoring.get("turns"), "probes": scoring.get("probes", "schedule")})
        raise InputError(
            f"--drift-baseline {path}: it ran {_conversation(before)}, this run {_conversation(ours)}; give the same "
            "--drift-turns and probes"
        )
    different = [f"the {what}" for what in ("cases", "prompts") if getattr(before.hashes, what) != hashes[what]]
    if (before.judge, before.stride) != (scoring["judge"], scoring["stride"]):
        of_now = f"{scoring['judge']}, stride {scoring['stride']}"
        different.append(f"the judge ({before.judge}, stride {before.stride}; now {of_now})")
    if before.judge_prompts != scoring["judge_prompts"]:
        different.append("the questions put to the judge")
    if different:
        named = " and ".join(different)
        raise InputError(f"--drift-baseline {path}: cannot be compared with this run, because {named} differ")
    old, new = before.versions.get(_PACKAGE), scoring.get("versions", {}).get(_PACKAGE)
    return (reason(ReasonCode.BASELINE_VERSION, before=old, now=new),) if old and new and old != new else ()


def load_baseline(path: Path, option: str = "--drift-baseline") -> RunResult:
    """Read an earlier results file, or the one in a folder, without its conversations."""
    result = read_results(path, option)
    return result.model_copy(update={"cases": tuple(replace(case, repeats=()) for case in result.cases)})
