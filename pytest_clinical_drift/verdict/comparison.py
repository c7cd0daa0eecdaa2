"""Several runs side by side, paired by case with the first, for `clinical-drift compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.metrics.paired import NOT_WORSE, UNDECIDED, WORSE, PairedResult, compare_paired
from pytest_clinical_drift.verdict.results_file import FILE_NAME, Results, StoredCase, read_results
from pytest_clinical_drift.verdict.thresholds import BaselineRules

Named = tuple[str, Results]
"""A run's name in the comparison and its results."""


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
    """Why the two cannot be paired, if they cannot."""


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
    if len(records) < 2:
        return []
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
    return Difference(name, first, len(shared), len(set(groups)), result)


def _recall_by_case(record: Results) -> dict[str, tuple[StoredCase, float]]:
    values = {case.case_id: (case, case.best().get("recall_at_t10")) for case in record.cases}
    return {case_id: (case, value) for case_id, (case, value) in values.items() if value is not None}
