"""Which runs may be compared: with each other (`compare`), and with a baseline (`--drift-baseline`)."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_clinical_drift.core.marks import Mark
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.metrics.paired import NOT_WORSE, UNDECIDED, WORSE, PairedResult, compare_paired
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.baseline import RECALL, by_id, newly_severe, recalls
from pytest_clinical_drift.verdict.reasons import (
    BaselineVersion,
    FigureState,
    NewSevere,
    NotPaired,
    OpenRecall,
    Reason,
    RecallUnread,
)
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


@dataclass(frozen=True, slots=True)
class RunDifference:
    """One run against the first, paired by case."""

    model: str
    against: str
    cases: int = 0
    """Cases that both have."""
    groups: int = 0
    """Independent groups among the cases: those are what the interval rests on."""
    recall: PairedResult | None = None
    """Recall@T10, positive: better than the first; None where they cannot be paired."""
    remarks: tuple[Reason, ...] = ()
    """Why the two cannot be paired, or in which cases something severe is new; whose recall nobody has read to the
    end."""


def paired_differences(runs: Sequence[NamedRun], rules: BaselineRules) -> list[RunDifference]:
    """Every run against the first, on the cases both have; runs on other cases or prompts, or read by another judge,
    are not paired.

    InputError where runs were stretched to different numbers of turns, or probed on other turns.
    """
    return [_difference(run, runs[0], rules) for run in runs[1:]]


def _difference(run: NamedRun, first: NamedRun, rules: BaselineRules) -> RunDifference:
    ours, theirs = (_conversation(of.result.manifest) for of in (first, run))
    if ours != theirs:
        raise InputError(
            f"compare: {first.name} ran {ours} and {run.name} {theirs}; only runs of the same --drift-turns and "
            "probes can be compared"
        )
    if different := _differ(run.result.manifest, first.result.manifest):
        return RunDifference(run.name, first.name, remarks=(NotPaired(different),))
    new, old = recalls(run.result.cases), recalls(first.result.cases)
    groups = {case.case_id: case.group for case in first.result.cases}
    shared = [case_id for case_id in old if case_id in new]
    after, before, group = [new[c] for c in shared], [old[c] for c in shared], [groups[c] for c in shared]
    result = compare_paired(after, before, group, margin=rules.margin, alpha=rules.alpha)
    severe = [case for case in by_id(run.result.cases).values() if case.has_severe_event]
    remarks: list[Reason] = []
    if stopped := newly_severe(severe, by_id(first.result.cases)):
        result = replace(result, verdict=WORSE)
        remarks.append(NewSevere(stopped))
    if unread := [told for of in (first, run) if (told := _unread_recall(of, shared))]:
        remarks.append(RecallUnread(tuple(unread)))
    return RunDifference(run.name, first.name, len(shared), len(set(group)), result, tuple(remarks))


def _unread_recall(run: NamedRun, shared: Sequence[str]) -> OpenRecall | None:
    """Recall@T10 of a run at both ends, where alarms are open or only rules have looked; None where it was read."""
    paired = [case for case in run.result.cases if case.case_id in set(shared)]
    best, worst = [case.best()[RECALL] for case in paired], [case.worst()[RECALL] for case in paired]
    items = [item for case in paired for item in case.judgements if item.metric == RECALL]
    if best == worst and all(item.verdict != FigureState.UNREAD for item in items):
        return None
    return OpenRecall(run.name, recall=statistics.fmean(best), worst=statistics.fmean(worst))


def comparison_exit_code(differences: Sequence[RunDifference]) -> int:
    """Of a comparison that gates: 1 where a run is worse than the first, 7 where it is undecided, else 0."""
    verdicts = {item.recall.verdict if item.recall else UNDECIDED for item in differences}
    if WORSE in verdicts:
        return 1
    return 0 if verdicts == {NOT_WORSE} else 7


# -- with a baseline


def load_baseline(path: Path, option: str = "--drift-baseline") -> RunResult:
    """Read an earlier results file, or the one in a folder, without its conversations."""
    result = read_results(path, option)
    return result.model_copy(update={"cases": tuple(replace(case, repeats=()) for case in result.cases)})


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
    return (BaselineVersion(before=old, now=new),) if old and new and old != new else ()


def _conversation(manifest: Manifest) -> str:
    turns = f"to {manifest.turns} turns" if manifest.turns else "as many turns as its cases have"
    return turns + (", a summary after every turn" if manifest.probes == "all" else "")


def _differ(now: Manifest, before: Manifest) -> str:
    """What two runs were not scored alike by; empty where their figures mean the same."""
    told_apart = ("turns", "probes")
    judges = f"judges ({before.judge}, stride {before.stride}; now {now.judge}, stride {now.stride})"
    different = []
    for difference in now.differences(before, (Mark.SCORING,)):
        if difference.field not in told_apart:
            of_judge = difference.field in ("judge", "stride")
            different.append(judges if of_judge else difference.words.removeprefix("the "))
    return " and the ".join(dict.fromkeys(different))
