"""More of a medicine in one short text, less of it in the other."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.directions import direction_of
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.protocol import Conflict


def directions_opposed(earlier: str, later: str) -> Conflict | None:
    """The dose of what both texts name goes up in one of them and down in the other."""
    before, after = direction_of(earlier), direction_of(later)
    if before.way * after.way >= 0 or before.conditional or after.conditional:
        return None
    common = sorted((before.things & after.things) - listed("generic"))
    if not common:
        return None
    name = common[0].partition(":")[2]
    reason = f"the later text says {'more' if after.way > 0 else 'less'} {name}, the earlier one the opposite"
    return Conflict(True, reason, (before.quote, after.quote), True, "direction", common[0])
