"""What a number of cases can show of a drop, in words: `clinical-drift power`."""

from pytest_clinical_drift.metrics.paired import Odds, Power
from pytest_clinical_drift.report.words import rounded


def power_lines(power: Power) -> list[str]:
    drop = f"{power.drop:g}"
    margin = f"{power.rules.margin:g}"
    spread = f"sd of a case's recall {rounded(power.case_sd, '.3f')}"
    lines = [
        f"{power.cases} cases, {spread}, correlation of the two models {power.correlation:g}, margin {margin}",
        _caught(power.caught, drop),
        _unchanged(power.unchanged),
    ]
    if power.cases < power.rules.min_cases:
        lines.append(f"With fewer than {power.rules.min_cases} cases (min_cases) no model is called not worse.")
    if power.drop < power.rules.margin:
        lines.append(f"A drop of {drop} lies within the margin of {margin}: with enough cases it is let through.")
    needed = f"{power.needed} paired cases" if power.needed else "no number of cases is enough"
    return [*lines, f"For an 80 % chance of calling the drop worse: {needed}."]


def _caught(odds: Odds, drop: str) -> str:
    worse = f"A model that lost {drop} of recall is called worse (FAIL) in {rounded(odds.worse, '.0%')} of runs"
    undecided = f"undecided (CAUTION) in {rounded(odds.undecided, '.0%')}"
    return f"{worse}, {undecided}, not worse in {rounded(odds.not_worse, '.1%')}."


def _unchanged(odds: Odds) -> str:
    worse = f"A model that lost nothing is called worse in {rounded(odds.worse, '.1%')} of runs (false alarm)"
    undecided = f"undecided in {rounded(odds.undecided, '.0%')}"
    return f"{worse}, {undecided}, not worse in {rounded(odds.not_worse, '.0%')}."
