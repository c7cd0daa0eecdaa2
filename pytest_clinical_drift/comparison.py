"""Results files of several runs, read and paired by case for `clinical-drift compare`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import InputError
from .metrics.paired import compare_paired
from .report.compare import Difference
from .report.json_file import FILE_NAME

Named = tuple[str, Mapping[str, Any]]
"""A run's name in the comparison and its results."""

_NEEDED = (
    "verdict",
    "cases",
    "manifest",
    "average_recall_curve_critical",
    "confidence_intervals",
    "entity_recall_at_t10",
)


def load_results(paths: Sequence[Path]) -> list[Named]:
    """Read results files or their folders; runs that would share a name are told apart by their place."""
    records = [_load(path) for path in paths]
    slugs = [file.parent.name or str(file) for file, _ in records]
    return [
        (slug if slugs.count(slug) == 1 else str(file.parent), record)
        for slug, (file, record) in zip(slugs, records, strict=True)
    ]


def _load(path: Path) -> tuple[Path, Mapping[str, Any]]:
    file = path / FILE_NAME if path.is_dir() else path
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    except (json.JSONDecodeError, RecursionError):
        raise InputError(f"{file}: not valid JSON") from None
    missing = [key for key in _NEEDED if not isinstance(record, dict) or key not in record]
    if missing:
        raise InputError(f"{file}: is no {FILE_NAME} of this tool ({missing[0]} is missing)")
    return file, record


def paired_differences(records: Sequence[Named]) -> list[Difference]:
    """Every run against the first, on the cases both have; runs on other cases or prompts are not paired."""
    if len(records) < 2:
        return []
    (first, reference), *others = records
    return [_difference(name, record, first, reference) for name, record in others]


def _difference(name: str, record: Mapping[str, Any], first: str, reference: Mapping[str, Any]) -> Difference:
    for what in ("cases", "prompts"):
        if record["manifest"]["hashes"][what] != reference["manifest"]["hashes"][what]:
            return Difference(name, first, 0, None, None, None, f"not paired: the {what} differ")
    new, old = _recall_by_case(record), _recall_by_case(reference)
    shared = [case_id for case_id in old if case_id in new]
    result = compare_paired(
        [new[case_id] for case_id in shared], [old[case_id] for case_id in shared], shared, margin=0.05
    )
    interval = result.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Difference(name, first, len(shared), result.difference, low, high)


def _recall_by_case(record: Mapping[str, Any]) -> dict[str, float]:
    values = {
        case["case_id"]: item["value"]
        for case in record["cases"]
        for item in case["judgements"]
        if item["metric"] == "recall_at_t10"
    }
    return {case_id: value for case_id, value in values.items() if value is not None}
