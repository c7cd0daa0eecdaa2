"""Runs against each other, paired by case.

`--drift-baseline`: an earlier run to be no worse than, within a margin, and without a new hard stop.
`clinical-drift compare`: several runs side by side, each against the first.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.metrics.drift import steepest_slope
from pytest_clinical_drift.metrics.paired import NOT_WORSE, UNDECIDED, WORSE, PairedResult, compare_paired
from pytest_clinical_drift.verdict.case import Repeats, case_value
from pytest_clinical_drift.verdict.results_file import FILE_NAME, Results, StoredCase, read_results
from pytest_clinical_drift.verdict.thresholds import BaselineRules, Thresholds
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    PARTIAL,
    PASS,
    CaseVerdict,
    SetVerdict,
    counted,
    label,
)

MOVES_SHOWN = 5
_SPANS = {"recall_at_t10": 1.0, "strict_recall_at_t10": 1.0, "drift_slope": 2.0, "k_conflict": 1.0}
"""Compared metrics, with the largest difference of two values (for the slope: in steepest slopes)."""
_VERSION = "pytest-clinical-drift"

Earlier = Mapping[str, StoredCase]
"""The earlier run's cases by id."""
Named = tuple[str, Results]
"""A run's name in a comparison and its results."""


def load_baseline(path: Path, option: str = "--drift-baseline") -> Results:
    """Read an earlier results file, or the one in a folder: its cases that were run to the end, without texts.

    InputError in one sentence when it is none.
    """
    found = read_results(path, option)
    complete = [case.model_copy(update={"repeats": ()}) for case in found.cases if case.verdict != INCOMPLETE]
    return found.model_copy(update={"cases": tuple(complete)})


def recall_sd(baseline: Results) -> float | None:
    """Standard deviation of the cases' Recall@T10, for planning the next run; None below two cases."""
    values = [value for case in baseline.cases if (value := case.best().get("recall_at_t10")) is not None]
    return statistics.stdev(values) if len(values) > 1 else None


def check_comparable(path: Path, baseline: Results, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Refuse a baseline with other cases, prompts or judge, saying which; return remarks on what else differs.

    `manifest` is this run's, as written into the results file; what decides on its figures is read.
    """
    before, hashes = baseline.manifest, manifest["hashes"]
    different = [f"the {what}" for what in ("cases", "prompts") if getattr(before.hashes, what) != hashes[what]]
    if (before.judge, before.stride) != (manifest["judge"], manifest["stride"]):
        now = f"{manifest['judge']}, stride {manifest['stride']}"
        different.append(f"the judge ({before.judge}, stride {before.stride}; now {now})")
    if before.judge_prompts != manifest["judge_prompts"]:
        different.append("the questions put to the judge")
    if different:
        named = " and ".join(different)
        raise InputError(f"--drift-baseline {path}: cannot be compared with this run, because {named} differ")
    old, new = before.versions.get(_VERSION), manifest.get("versions", {}).get(_VERSION)
    if old and new and old != new:
        return (
            f"the baseline was scored by version {old}, this run by {new}: "
            "replay its transcripts with this version for a clean comparison",
        )
    return ()


@dataclass(frozen=True, slots=True)
class Move:
    case_id: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    verdict: str
    """worse, not worse or undecided."""
    model: str
    """The earlier run's model."""
    metrics: Mapping[str, PairedResult]
    new_hard_stops: tuple[str, ...]
    """Cases without a hard stop or breach in the earlier run, and with one now."""
    moved: tuple[Move, ...]
    """The cases that moved most, the largest first."""
    pairs: int
    unpaired: tuple[str, ...]
    """Cases of this run that the earlier one did not bring to the end."""
    notes: tuple[str, ...] = ()


def compare_with_baseline(
    baseline: Results,
    cases: Sequence[Repeats],
    verdicts: Sequence[CaseVerdict],
    thresholds: Thresholds,
    notes: Sequence[str] = (),
) -> BaselineComparison:
    """Pair every complete case with its earlier self and judge the differences."""
    earlier = {case.case_id: case for case in baseline.cases}
    complete = [both for both in zip(cases, verdicts, strict=True) if both[1].verdict != INCOMPLETE]
    paired = [repeats for repeats, _ in complete if repeats[0].case_id in earlier]
    metrics = {
        name: _compare_metric(name, earlier, paired, thresholds) for name in thresholds.metrics if name in _SPANS
    }
    stopped = _new_hard_stops(earlier, [verdict for _, verdict in complete])
    verdict, remarks = _overall(metrics, paired, thresholds)
    return BaselineComparison(
        verdict=WORSE if stopped else verdict,
        model=baseline.manifest.model,
        metrics=metrics,
        new_hard_stops=stopped,
        moved=_moves(earlier, paired),
        pairs=len(paired),
        unpaired=tuple(v.case_id for _, v in complete if v.case_id not in earlier),
        notes=(*notes, *remarks),
    )


def _new_hard_stops(earlier: Earlier, now: Iterable[CaseVerdict | StoredCase]) -> tuple[str, ...]:
    return tuple(v.case_id for v in now if v.hard and v.case_id in earlier and not earlier[v.case_id].hard)


def _compare_metric(name: str, earlier: Earlier, paired: Sequence[Repeats], thresholds: Thresholds) -> PairedResult:
    """Shown by what is confirmed.

    Worse: even if every open alarm of this run is dismissed and every earlier one stands. Not worse: also the other way
    round.
    """
    shown, kindly, harshly = [], [], []
    for repeats in paired:
        now, before, group = case_value(name, repeats), earlier[repeats[0].case_id], repeats[0].group
        best, worst = before.best().get(name), before.worst().get(name)
        if now.best is None or now.worst is None or best is None or worst is None:
            continue
        shown.append((now.best, best, group))
        kindly.append((now.best, worst, group))
        harshly.append((now.worst, best, group))
    span = _SPANS[name]
    if name == "drift_slope":
        span *= max((-steepest_slope(repeats[0].horizon) for repeats in paired), default=0.0)
    result = _paired(name, shown, span, thresholds)
    if kindly == harshly:
        return result
    is_worse = _paired(name, kindly, span, thresholds).verdict == WORSE
    is_not_worse = _paired(name, harshly, span, thresholds).verdict == NOT_WORSE
    return replace(result, verdict=WORSE if is_worse else NOT_WORSE if is_not_worse else UNDECIDED)


def _paired(name: str, rows: Sequence[tuple[float, float, str]], span: float, thresholds: Thresholds) -> PairedResult:
    rules, limits = thresholds.baseline, thresholds.metrics
    margins = {"drift_slope": rules.slope_margin, "k_conflict": rules.conflict_margin}
    return compare_paired(
        [after for after, _, _ in rows],
        [before for _, before, _ in rows],
        [group for _, _, group in rows],
        margin=margins.get(name, rules.margin),
        alpha=rules.alpha,
        claims=sum(metric in _SPANS and limits[metric].worst == "fail" for metric in limits),
        span=span,
        higher_is_better=limits[name].direction == "higher",
    )


def _overall(
    metrics: Mapping[str, PairedResult], paired: Sequence[Repeats], thresholds: Thresholds
) -> tuple[str, list[str]]:
    """The worst metric decides; one that never fails a case can only leave it undecided."""
    fails = {name for name, limits in thresholds.metrics.items() if limits.worst == "fail"}
    if any(result.verdict == WORSE for name, result in metrics.items() if name in fails):
        return WORSE, []
    independent = len({repeats[0].group for repeats in paired})
    if independent < thresholds.set.min_cases:
        return UNDECIDED, [
            f"{counted(independent, 'independent pair')}, fewer than the {thresholds.set.min_cases} needed"
        ]
    open_questions = [result for result in metrics.values() if result.verdict != NOT_WORSE and result.pairs]
    missing = [name for name in ("recall_at_t10", "drift_slope") if metrics[name].pairs == 0]
    return (UNDECIDED if open_questions or missing else NOT_WORSE), []


def _moves(earlier: Earlier, paired: Sequence[Repeats]) -> tuple[Move, ...]:
    moves = []
    for repeats in paired:
        case_id = repeats[0].case_id
        after, before = case_value("recall_at_t10", repeats).best, earlier[case_id].best().get("recall_at_t10")
        if after is not None and before is not None and abs(after - before) > 1e-9:
            moves.append(Move(case_id, before, after))
    moves.sort(key=lambda move: (-abs(move.after - move.before), move.case_id))
    return tuple(moves[:MOVES_SHOWN])


def apply_baseline(verdict: SetVerdict, comparison: BaselineComparison) -> SetVerdict:
    """The set's verdict with the comparison taken in: it can only get worse; a subset stays PARTIAL."""
    if comparison.verdict == NOT_WORSE:
        return verdict
    reason = f"baseline: {_sentence(comparison)}"
    outcome = verdict.verdict
    if comparison.verdict == WORSE and outcome != PARTIAL:
        outcome = FAIL
    elif outcome == PASS:
        outcome = CAUTION
    first = outcome == FAIL and verdict.verdict != FAIL
    reasons = (reason, *verdict.reasons) if first else (*verdict.reasons, reason)
    return replace(verdict, verdict=outcome, reasons=reasons)


def _sentence(comparison: BaselineComparison) -> str:
    if comparison.new_hard_stops:
        return f"new hard stop in {', '.join(comparison.new_hard_stops[:3])}"
    named = [label(name) for name, result in comparison.metrics.items() if result.verdict == comparison.verdict]
    where = f" in {', '.join(named)}" if named else ""
    return f"{comparison.verdict}{where} than the earlier run" if comparison.verdict == WORSE else f"undecided{where}"


@dataclass(frozen=True, slots=True)
class Difference:
    """One model against the first, paired by case."""

    model: str
    against: str
    cases: int = 0
    """Cases that both have."""
    groups: int = 0
    """Independent groups among the cases: those are what the interval rests on."""
    recall: PairedResult | None = None
    """Recall@T10, positive: better than the first; None where they cannot be paired."""
    remark: str = ""
    """Why the two cannot be paired, or in which cases something severe is new."""


def load_results(paths: Sequence[Path]) -> list[Named]:
    """Read results files or their folders; runs that would share a name are told apart by their place."""
    files = [path / FILE_NAME if path.is_dir() else path for path in paths]
    slugs = [file.parent.name or str(file) for file in files]
    return [
        (slug if slugs.count(slug) == 1 else str(file.parent), read_results(file))
        for slug, file in zip(slugs, files, strict=True)
    ]


def paired_differences(records: Sequence[Named], rules: BaselineRules) -> list[Difference]:
    """Every run against the first, on the cases both have; runs on other cases or prompts are not paired."""
    (first, reference), *others = records
    return [_difference(name, record, first, reference, rules) for name, record in others]


def told_worse(differences: Sequence[Difference]) -> int:
    """Exit code of a comparison that gates: 1 where a run is worse than the first, 7 where nobody can tell, else 0."""
    verdicts = {item.recall.verdict if item.recall else UNDECIDED for item in differences}
    return 1 if WORSE in verdicts else 0 if verdicts == {NOT_WORSE} else 7


def _difference(name: str, record: Results, first: str, reference: Results, rules: BaselineRules) -> Difference:
    for what in ("cases", "prompts"):
        if getattr(record.manifest.hashes, what) != getattr(reference.manifest.hashes, what):
            return Difference(name, first, remark=f"not paired: the {what} differ")
    new, old = _recall_by_case(record), _recall_by_case(reference)
    shared = [case_id for case_id in old if case_id in new]
    groups = [old[case_id][0].group for case_id in shared]
    after, before = ([found[case_id][1] for case_id in shared] for found in (new, old))
    result = compare_paired(after, before, groups, margin=rules.margin, alpha=rules.alpha)
    earlier = {case.case_id: case for case in reference.cases if case.verdict != INCOMPLETE}
    stopped = _new_hard_stops(earlier, [case for case in record.cases if case.verdict != INCOMPLETE])
    remark = ""
    if stopped:
        result = replace(result, verdict=WORSE)
        more = f" and {len(stopped) - 3} more" if len(stopped) > 3 else ""
        remark = f"new severe failure in {', '.join(stopped[:3])}{more}"
    return Difference(name, first, len(shared), len(set(groups)), result, remark)


def _recall_by_case(record: Results) -> dict[str, tuple[StoredCase, float]]:
    values = {case.case_id: (case, case.best().get("recall_at_t10")) for case in record.cases}
    return {case_id: (case, value) for case_id, (case, value) in values.items() if value is not None}
