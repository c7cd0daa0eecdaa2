"""Two short texts compared as wholes, where no two of their directives are opposed."""

from __future__ import annotations

from pytest_clinical_drift.evidence.judges.alarms import alarms_opposed
from pytest_clinical_drift.evidence.judges.directions import directions_opposed
from pytest_clinical_drift.evidence.judges.meals import meals_opposed
from pytest_clinical_drift.evidence.judges.nouns import nouns_opposed
from pytest_clinical_drift.evidence.judges.protocol import Conflict
from pytest_clinical_drift.evidence.judges.values import values_opposed


def gists_opposed(earlier: str, later: str) -> Conflict | None:
    """The first contradiction between what two short texts come down to."""
    for opposed in (alarms_opposed, meals_opposed, directions_opposed, values_opposed, nouns_opposed):
        found = opposed(earlier, later)
        if found is not None:
            return found
    return None
