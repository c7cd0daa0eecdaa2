"""What validation found, for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.lint import Alike, Remark


def remarks_json(cases: Sequence[Case], remarks: Sequence[Remark], nearest: Sequence[Alike]) -> str:
    """Counts, every remark with case, level, place and text, and the most similar pairs."""
    errors = sum(remark.level == "error" for remark in remarks)
    record = {
        "cases": [case.id for case in cases],
        "errors": errors,
        "warnings": len(remarks) - errors,
        "remarks": [asdict(remark) for remark in remarks],
        "most_similar": [asdict(pair) for pair in nearest],
    }
    return json.dumps(record, indent=1, ensure_ascii=True)
