"""Do the decisions hold? Releases with known truth go through the gate's own rules, thousands of times.

python -m benchmarks.decisions [RUNS] [--cases N]; prints the figures, last what models of known quality get; exits 0
only where every goal holds. `--cases` reads the conversations of so many cases.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
from scipy.special import stdtrit

from benchmarks import releases
from benchmarks.judged_runs import judged_runs
from benchmarks.releases import Array, Design
from pytest_clinical_drift.metrics import bootstrap
from pytest_clinical_drift.metrics.intervals import Interval, mean_intervals, pooled_interval
from pytest_clinical_drift.metrics.paired import Comparison, case_sd, comparison_odds
from pytest_clinical_drift.metrics.recall import steepest_slope
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.baseline import comparison_rules
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds

RUNS, READ_RUNS = 1_000, 40
"""Runs of figures alone, and of whole conversations that are read."""
TODAY = datetime.date(2026, 1, 1)
SEED = 7
BATCH = 250
DESIGN = Design()


@dataclass(slots=True)
class Goals:
    """Collects what must hold and says at the end what did not."""

    missed: list[str] = field(default_factory=list)

    def check(self, name: str, holds: bool) -> str:
        if not holds:
            self.missed.append(name)
        return "ok" if holds else "MISSED"


def intervals(
    table: Array,
    design: Design,
    *,
    worst: float = 0.0,
    best: float = 1.0,
    confidence: float = 0.95,
    paired: bool = False,
) -> list[Interval]:
    """The gate's interval for every run (column), of figures or of paired differences."""
    found: list[Interval] = []
    for start in range(0, table.shape[1], BATCH):
        part = table[:, start : start + BATCH]
        found += mean_intervals(part.T, design.groups, (worst, best), confidence=confidence, unseen=not paired)
    return found


def conflict_intervals(found: np.ndarray, design: Design) -> list[Interval]:
    pairs, groups = design.pairs_of_cases().tolist(), design.groups
    limits = [pooled_interval(column.tolist(), pairs, groups, confidence=0.95) for column in found.T]
    return [limit for limit in limits if limit is not None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often each rule said PASS and FAIL."""

    passed: float
    failed: float
    point_passed: float
    any_case_failed: float
    many_cases_failed: float


def outcome(
    points: Array,
    found: Iterable[Interval],
    cases: Array,
    limits: MetricLimits,
    thresholds: Thresholds,
    events: np.ndarray | None = None,
) -> Outcome:
    """The set rule on one metric: interval rule, point rule, and what the cases past their fail line do.

    A case fails by two events at least, where it is known how many are behind its value.
    """
    bands = np.array([limits.band(float(point)) for point in points])
    bad_ends = [item.low if limits.direction == "higher" else item.high for item in found]
    passes = np.array([limits.pass_limit.holds(end) for end in bad_ends]) & (bands != "FAIL")
    edge = limits.caution_limit.value
    beyond = cases < edge - 1e-9 if limits.direction == "higher" else cases > edge + 1e-9
    past = (beyond if events is None else beyond & (events >= 2)).sum(axis=0)
    failed = bands == "FAIL"
    return Outcome(
        passed=float(passes.mean()),
        failed=float(failed.mean()),
        point_passed=float((bands == "PASS").mean()),
        any_case_failed=float((failed | (past > 0)).mean()),
        many_cases_failed=float((failed | (past > thresholds.set.max_failing_cases)).mean()),
    )


def simulate(metric: str, truth: float, runs: int, thresholds: Thresholds, seed: int) -> Outcome:
    generator = np.random.default_rng([SEED, seed])
    limits = thresholds.metrics[metric]
    if metric == "k_conflict":
        found = releases.conflicts(generator, DESIGN, truth, runs)
        pairs = DESIGN.pairs_of_cases()
        pooled, rates = found.sum(axis=0) / pairs.sum(), found / pairs[:, None]
        return outcome(pooled, conflict_intervals(found, DESIGN), rates, limits, thresholds, found)
    if metric == "drift_slope":
        start = 1.0 if truth < -0.03 else 0.95
        parts = [
            releases.slopes_of(releases.curves(generator, DESIGN, start, truth, min(BATCH, runs - done)))
            for done in range(0, runs, BATCH)
        ]
        table = np.concatenate(parts, axis=1)
        steep = steepest_slope(releases.TURNS)
        limits_of_runs = intervals(table, DESIGN, worst=steep, best=-steep)
        return outcome(table.mean(axis=0), limits_of_runs, table, limits, thresholds)
    table = releases.recalls(generator, DESIGN, truth, runs)
    lost = np.rint((1 - table) * DESIGN.facts_of_cases()[:, None])
    return outcome(table.mean(axis=0), intervals(table, DESIGN), table, limits, thresholds, lost)


def lines_of_the_gate(runs: int, thresholds: Thresholds, goals: Goals) -> None:
    print(f"\n{DESIGN.cases} cases of {DESIGN.personas} personas, {runs} releases per line; chance of PASS / FAIL")
    print(f"{'':44} {'PASS':>7} {'FAIL':>7}   point rule PASS   FAIL with cases counted (each-case, set)")

    def show(text: str, item: Outcome, mark: str) -> None:
        counted = f"{item.any_case_failed:>10.3f} {item.many_cases_failed:>8.3f}"
        print(f"{text:44} {item.passed:7.4f} {item.failed:7.3f} {item.point_passed:12.3f}       {counted}   {mark}")

    on_pass = {"recall_at_t10": 0.80, "strict_recall_at_t10": 0.80, "drift_slope": -0.01, "k_conflict": 0.05}
    for number, (metric, truth) in enumerate(on_pass.items()):
        item = simulate(metric, truth, runs, thresholds, number)
        mark = goals.check(f"false PASS of {metric}", item.passed <= 0.025)
        show(f"{metric} {truth:g} (on the pass line)", item, mark)
    at_fail = {"recall_at_t10": 0.70, "drift_slope": -0.05, "k_conflict": 0.10}
    for number, (metric, truth) in enumerate(at_fail.items()):
        item = simulate(metric, truth, runs, thresholds, 10 + number)
        holds = item.many_cases_failed >= 0.5 and item.any_case_failed >= 0.5 and item.passed == 0
        show(f"{metric} {truth:g} (at the fail line)", item, goals.check(f"FAIL of {metric} at its line", holds))
    past_fail = {"recall_at_t10": 0.66, "drift_slope": -0.06, "k_conflict": 0.13}
    for number, (metric, truth) in enumerate(past_fail.items()):
        item = simulate(metric, truth, runs, thresholds, 20 + number)
        mark = goals.check(f"PASS of {metric} past its fail line", item.passed == 0)
        show(f"{metric} {truth:g} (past the fail line)", item, mark)


def coverage(runs: int, goals: Goals) -> None:
    print(
        "\ncoverage of the 95 % interval of Recall@T10 (too high / too low: how often the truth lies beyond each end)"
    )
    for number, truth in enumerate((0.65, 0.75, 0.90, 0.95, 0.98)):
        generator = np.random.default_rng([SEED, 100 + number])
        found = intervals(releases.recalls(generator, DESIGN, truth, runs), DESIGN)
        above = float(np.mean([item.low > truth + 1e-12 for item in found]))
        below = float(np.mean([item.high < truth - 1e-12 for item in found]))
        inside = 1 - above - below
        width = float(np.mean([item.high - item.low for item in found]))
        mark = goals.check(f"coverage at {truth:g}", 0.93 <= inside <= 0.97) if truth <= 0.9 else "reported"
        print(f"  true recall {truth:.2f}: {inside:.4f}  ({above:.4f} / {below:.4f}), width {width:.3f}   {mark}")


def draw_pair(
    generator: np.random.Generator, cases: int, runs: int, drop: float, *, shared: bool = True
) -> tuple[Array, Array]:
    """Recall of a new and an old model; on shared cases both find the same cases hard, and often the same fact."""
    facts, recall, alike, strength = 6, 0.9, 0.35, 1 / 0.2 - 1
    level = generator.beta(recall * strength, (1 - recall) * strength, (2, cases, runs))
    old, new = level[0], level[0] if shared else level[1]
    after, before = np.zeros((cases, runs)), np.zeros((cases, runs))
    for _ in range(facts):
        luck = generator.random((2, cases, runs))
        same = shared & (generator.random((cases, runs)) < alike)
        before += luck[0] < old
        after += np.where(same, luck[0], luck[1]) < new * (1 - drop / recall)
    return after / facts, before / facts


def paired_power(cases: int, runs: int, drop: float, shared: bool) -> float:
    """How often the drop is shown, by the gate's paired interval or, on different cases, by Welch's."""
    after, before = draw_pair(np.random.default_rng([SEED, 300, cases, shared]), cases, runs, drop, shared=shared)
    if shared:
        found = intervals(after - before, Design(cases=cases, personas=cases), worst=1, best=-1, paired=True)
        return float(np.mean([item.high < 0 for item in found]))
    error = ((after.var(axis=0, ddof=1) + before.var(axis=0, ddof=1)) / cases) ** 0.5
    return float(np.mean(after.mean(axis=0) - before.mean(axis=0) + stdtrit(2 * cases - 2, 0.975) * error < 0))


def against_baseline(runs: int, thresholds: Thresholds, goals: Goals) -> None:
    """Errors of the comparison on 60 cases, and the cases it needs, paired and unpaired."""
    margin, design = thresholds.baseline.margin, Design(personas=60)
    after, before = draw_pair(np.random.default_rng([SEED, 301]), 60, runs, margin)
    let_through = np.mean(
        [item.low > -margin for item in intervals(after - before, design, worst=-1, best=1, paired=True)]
    )
    mark = goals.check("a loss of the margin let through", let_through <= 0.025)
    print("\nagainst a baseline, 60 cases")
    print(f"  a loss of exactly the margin ({margin:g}) called not worse: {let_through:.4f}   {mark}")
    after, before = draw_pair(np.random.default_rng([SEED, 302]), 60, runs, 0.0)
    claims = comparison_rules(thresholds).claims
    level = 1 - 2 * thresholds.baseline.alpha / claims
    limits = intervals(after - before, design, worst=1, best=-1, confidence=level, paired=True)
    alarm = claims * np.mean([item.high < 0 for item in limits])
    mark = goals.check("false alarm", alarm <= 0.04)
    print(f"  no loss, called worse by any of {claims} metrics: at most {alarm:.4f}   {mark}")
    drop, few = 0.08, min(runs, 500)
    after, before = draw_pair(np.random.default_rng([SEED, 303]), 200, few, drop)
    correlation = float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(after.T, before.T, strict=True)]))
    paired, unpaired = (
        next(cases for cases in range(10, 400, 2) if paired_power(cases, few, drop, shared) >= 0.8)
        for shared in (True, False)
    )
    old, new = case_sd(0.9), case_sd(0.9 - drop)
    error = (old**2 + new**2 - 2 * correlation * old * new) ** 0.5
    odds = {n: comparison_odds(cases=n, drop=drop, error_sd=error, rules=Comparison(drop)).worse for n in range(4, 400)}
    expected = next(cases for cases, odd in odds.items() if odd >= 0.8)
    mark = goals.check("paired cases at most half", paired <= unpaired / 2 and abs(correlation - 0.6) < 0.03)
    print(f"  a drop of {drop} shown with power 0.8 at correlation {correlation:.2f}: {paired} paired cases, "
          f"{unpaired} unpaired (normal formula: {expected} paired)   {mark}")  # fmt: skip


def stretch(sets: int) -> None:
    """How often the lower limit lies above the truth: plain BCa, Hesterberg's correction, and ours."""
    generator, truth = np.random.default_rng(1), 0.85 * 30 / 31.5 + 0.15 * 0.6
    print("\nlower limit above the truth (nominal 0.025): BCa, c = 0, c = 6")
    for cases in (17, 20, 30, 40, 60, 100):
        size = (cases, sets)
        good, bad = generator.beta(30, 1.5, size), generator.beta(6, 4, size)
        table, shares = np.where(generator.random(size) < 0.15, bad, good), []
        for units, corrected in ((0.0, False), (0.0, True), (bootstrap.STRETCH_BAD, True)):
            with mock.patch.object(bootstrap, "STRETCH_BAD", units):
                options = {"confidence": 0.95, "corrected": corrected, "resamples": 2000}
                low, _ = bootstrap.bca_limits(table, np.ones(cases), **options)
            shares.append(float((low > truth).mean()))
        print(f"  {cases:4} cases  " + "  ".join(f"{share:.3f}" for share in shares))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=RUNS)
    parser.add_argument("--cases", type=int, help="bundled cases that are read (default: all)")
    options = parser.parse_args()
    runs: int = options.runs
    started = time.perf_counter()
    thresholds, goals = load_thresholds(), Goals()
    lines_of_the_gate(runs, thresholds, goals)
    coverage(runs, goals)
    stretch(3 * runs // 2)
    against_baseline(runs, thresholds, goals)
    judged_runs(max(2, runs * READ_RUNS // RUNS), goals, cases=options.cases)
    print(f"\n{time.perf_counter() - started:.0f} s; goals missed: {', '.join(goals.missed) or 'none'}")
    return 1 if goals.missed else 0


if __name__ == "__main__":
    sys.exit(main())
