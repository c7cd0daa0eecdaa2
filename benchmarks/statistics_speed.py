"""Statistics of a large run: 1,000 cases of 20 turns, 10,000 resamples. Prints the seconds, exits 0 below 10.

python -m benchmarks.statistics_speed
"""

from __future__ import annotations

import sys
import time

import numpy as np

from pytest_clinical_drift.metrics.intervals import mean_intervals, pooled_interval
from pytest_clinical_drift.metrics.paired import compare_paired
from pytest_clinical_drift.metrics.recall import fit_slope, mean_curve, steepest_slope

CASES, TURNS, FACTS, LIMIT = 1_000, 20, 6, 10.0


def main() -> int:
    generator = np.random.default_rng(1)
    groups = [f"p{number % 700}" for number in range(CASES)]
    level = np.clip(generator.beta(8, 1, (CASES, 1)) - 0.01 * np.arange(TURNS), 0, 1)
    curves = (generator.binomial(FACTS, level) / FACTS).tolist()
    found = generator.binomial(19, 0.02, CASES).tolist()
    clock = time.perf_counter
    started = last = clock()

    def lap(name: str) -> None:
        nonlocal last
        now = clock()
        print(f"  {name:44} {now - last:6.2f} s")
        last = now

    slopes = [fit.slope for curve in curves if (fit := fit_slope(curve[:10]))]
    lap("1,000 slopes")
    steep = steepest_slope(10)
    at_t10 = [curve[9] for curve in curves]
    mean_intervals([at_t10], groups, (0.0, 1.0), confidence=0.95)
    lap("interval of recall")
    mean_intervals([slopes], groups, (steep, -steep), confidence=0.95)
    lap("interval of the slope")
    pooled_interval(found, [19] * CASES, groups, confidence=0.95)
    lap("interval of K_Conflict")
    compare_paired(at_t10, [curve[8] for curve in curves], groups, margin=0.05, claims=3)
    lap("paired comparison")
    fit_slope(mean_curve(curves))
    lap("line of the mean curve")
    total = clock() - started
    print(f"{CASES:,} cases x {TURNS} turns, 10,000 resamples: {total:.1f} s (goal: below {LIMIT:.0f})")
    return 0 if total < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
