"""Food of two short texts compared: the same medicine or test with food here and without it there."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.meals import meals_of
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.protocol import Conflict


def meals_opposed(earlier: str, later: str) -> Conflict | None:
    """One of two short texts wants food with the thing that both name, the other wants none."""
    before, after = meals_of(earlier), meals_of(later)
    if {before.relation, after.relation} != {"with", "without"}:
        return None
    common = sorted((before.things & after.things) - listed("generic"))
    if not common:
        return None
    name = common[-1].partition(":")[2]
    return Conflict(True, f"{name} with food and without food", (before.quote, after.quote), False, "food", common[-1])
