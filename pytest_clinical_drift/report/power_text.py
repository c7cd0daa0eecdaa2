"""What a set of cases can show, in sentences: for `clinical-drift power`."""

from __future__ import annotations

from pytest_clinical_drift.metrics.power import Power


def power_text(power: Power) -> str:
    """The answer in sentences."""
    lines = [
        f"{power.cases} cases, sd of a case's recall {power.case_sd:.3f}, correlation of the two models "
        f"{power.correlation:g}, margin {power.margin:g}",
        f"A model that lost {power.drop:g} of recall is called worse (FAIL) in {power.caught.worse:.0%} of runs, "
        f"undecided (CAUTION) in {power.caught.undecided:.0%}, not worse in {power.caught.not_worse:.1%}.",
        f"A model that lost nothing is called worse in {power.unchanged.worse:.1%} of runs (false alarm), "
        f"undecided in {power.unchanged.undecided:.0%}, not worse in {power.unchanged.not_worse:.0%}.",
    ]
    if power.drop < power.margin:
        lines.append(
            f"A drop of {power.drop:g} lies within the margin of {power.margin:g}: with enough cases it is let through."
        )
    needed = f"{power.needed} paired cases" if power.needed else "no number of cases is enough"
    lines.append(f"For an 80 % chance of calling the drop worse: {needed}.")
    return "\n".join(lines)
