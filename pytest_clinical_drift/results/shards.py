"""The shards of a run: found below folders, checked to be parts of one run, with what is missing of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.cases.sharding import Shard, deal_cases
from pytest_clinical_drift.core.marks import OF_ONE_RUN
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.folders import TRANSCRIPTS, regular_files
from pytest_clinical_drift.results.inputs import INPUTS_FILE, RunInputs, check_inputs, read_inputs
from pytest_clinical_drift.results.manifest import Manifest, ShardRecord
from pytest_clinical_drift.results.models import RunResult


@dataclass(frozen=True, slots=True)
class ShardRun:
    """The folder of one shard's run."""

    folder: Path
    inputs: RunInputs
    result: RunResult
    record: ShardRecord

    @property
    def shard(self) -> Shard:
        return Shard(self.record.index, self.record.count)

    @property
    def manifest(self) -> Manifest:
        return self.result.manifest


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards that a merge uses, and what it lacks."""

    used: tuple[ShardRun, ...]
    """In their order; at most one of each."""
    replaced: tuple[ShardRun, ...]
    """Earlier runs of the same shards."""
    missing: tuple[str, ...]
    """Sentences, one for each shard that is missing, broken or not whole."""
    lacking: Mapping[str, str]
    """Cases that no shard has, each with why."""


def find_shards(paths: Sequence[Path]) -> Shards:
    """Read the shards in these folders or below them; InputError where they are not parts of one run."""
    runs, broken = _read_all(paths)
    if not runs:
        why = f" ({broken[0]})" if broken else ""
        raise InputError(f"merge {paths[0]}: no shard of a run was found{why}")
    runs.sort(key=lambda run: (run.record.index, run.record.ended))
    newest: dict[int, ShardRun] = {}
    replaced = []
    for run in runs:
        _check(runs[0], run)
        if earlier := newest.get(run.record.index):
            if earlier.record.run == run.record.run:
                raise InputError(f"merge {run.folder}: duplicate of {earlier.folder} ({run.shard}); pass one of them")
            replaced.append(earlier)
        newest[run.record.index] = run
    used = tuple(newest.values())
    owner: dict[str, ShardRun] = {}
    for run in used:
        for case in run.result.cases:
            if (other := owner.setdefault(case.case_id, run)) is not run:
                shards = f"{run.shard} and {other.shard}"
                raise InputError(f"merge {run.folder}: {shards} both have the case {case.case_id}")
    missing: list[str] = []
    lacking: dict[str, str] = {}
    count = used[0].record.count
    for index, expected in enumerate(deal_cases(used[0].inputs.cases, count), start=1):
        shard, absent = Shard(index, count), [case_id for case_id in expected if case_id not in owner]
        if absent and index in newest:
            missing.append(f"{shard}: {len(absent)} of its {len(expected)} cases were not run")
            lacking |= dict.fromkeys(absent, f"{shard} did not run it")
        elif absent:
            missing.append(f"{shard} is missing ({len(expected)} case{'s' * (len(expected) > 1)})")
            lacking |= dict.fromkeys(absent, f"{shard} is missing")
    return Shards(used, tuple(replaced), (*missing, *broken), lacking)


def _read_all(paths: Sequence[Path]) -> tuple[list[ShardRun], list[str]]:
    """Every shard in or below these folders, each once, and sentences on those that are broken; drafts are left out.

    Runs that are no shards are passed over, unless the user named them.
    """
    runs: list[ShardRun] = []
    broken: list[str] = []
    seen: set[Path] = set()
    names = (RESULTS_FILE, INPUTS_FILE)
    for path in paths:
        if not path.is_dir():
            raise InputError(f"merge {path}: not a folder")
        folders = {path}
        if not any((path / name).exists() for name in names):
            files = [file.relative_to(path) for name in names for file in path.rglob(name)]
            drafts = {file for file in files if any(part.startswith(".") for part in file.parts)}
            folders = {path / file.parent for file in files if file not in drafts}
        if not folders:
            broken.append(f"{path} holds no run")
        for folder in sorted(folders):
            if (place := folder.resolve()) in seen:
                continue
            seen.add(place)
            tuple(regular_files(folder))
            try:
                run = _read(folder)
            except InputError as error:
                broken.append(str(error))
                continue
            if run is not None:
                runs.append(run)
            elif folder in paths:
                raise InputError(f"merge {folder}: not a shard; it was run without --drift-shard")
    return runs, broken


def _read(folder: Path) -> ShardRun | None:
    """A shard; None for a run that is not a shard; InputError where the folder should hold one and cannot be used."""
    result, inputs = read_results(folder), read_inputs(folder)
    if (record := result.manifest.shard) is None:
        return None
    check_inputs(folder, inputs, result)
    run = ShardRun(folder, inputs, result, record)
    if inputs.shard != run.shard or record.count > len(inputs.cases):
        raise InputError(f"{folder}: its results and its run.json are not of one shard; one of them was changed")
    if result.runs and not (folder / TRANSCRIPTS).is_dir():
        raise InputError(f"{folder}: the transcripts of {run.shard} are missing")
    return run


def _check(first: ShardRun, other: ShardRun) -> None:
    """InputError where a shard was judged by a judge without a calibration, or is not of the first one's run."""
    judged = other.manifest.judged
    if judged is not None and judged.calibration is None and not other.result.deciders.control:
        raise InputError(
            f"merge {other.folder}: the judge of {other.shard} has no calibration; make one with clinical-drift "
            "calibrate and run the shards again"
        )
    for difference in first.inputs.differences(other.inputs, OF_ONE_RUN):
        raise InputError(
            f"merge {other.folder}: {first.shard} and {other.shard} differ in {difference.words}{difference.values}; "
            "they are not shards of one run"
        )
