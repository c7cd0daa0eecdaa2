"""Labelled pairs: what is known about drugs and diseases, how widely each drug is known, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.ranking.columns import Table, read_label


class LabelledPair(NamedTuple):
    """A pair whose answer is known; names in lower case."""

    disease: str
    drug: str
    label: int
    """4 approved, 3 to 1 the phase, 0 negative."""
    year: int | None = None


def read_labels(table: Table | None) -> tuple[LabelledPair, ...]:
    """Labelled pairs; one that stands twice keeps its highest label and earliest year. No label column: approved."""
    if table is None:
        return ()
    table.require("disease_name", "drug_name")
    disease, drug = table.names("disease_name").to_list(), table.names("drug_name").to_list()
    expected = "not a label; known ones: 0 to 4, negative, phase1, phase2, phase3, approved"
    label: Sequence[int | None] = [4] * len(table)
    if "label" in table:
        label = table.cells("label", read_label, expected)
    year: Sequence[int | None] = [None] * len(table)
    if (name := table.first_of("year", "approval_year", "first_approval")) is not None:
        year = table.cells(name, _read_year, "not a year")
    pairs: dict[tuple[str, str], LabelledPair] = {}
    for row, key in enumerate(zip(disease, drug, strict=True)):
        grade = label[row]
        if grade is None:
            raise table.fault(row, "label", "is empty")
        pairs[key] = _merged(LabelledPair(*key, grade, year[row]), pairs.get(key))
    return tuple(pairs.values())


def breadth_of(labels: Sequence[LabelledPair], drugs: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number of distinct diseases among the labelled pairs of each drug; 0 for a drug that is not labelled."""
    counts: dict[str, int] = {}
    for pair in labels:
        counts[pair.drug] = counts.get(pair.drug, 0) + 1
    return np.asarray([counts.get(drug, 0) for drug in drugs], dtype=np.int64)


def known_by_label(
    labels: Sequence[LabelledPair], year: int, diseases: Sequence[str], drugs: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Pairs (disease position × number of drugs + drug position) with a label above 0 by the year of the freeze."""
    disease_at = {name: position for position, name in enumerate(diseases)}
    drug_at = {name: position for position, name in enumerate(drugs)}
    keys = [
        disease_at[pair.disease] * len(drugs) + drug_at[pair.drug]
        for pair in labels
        if pair.label > 0 and (pair.year is None or pair.year <= year)
        if pair.disease in disease_at and pair.drug in drug_at
    ]
    return np.asarray(keys, dtype=np.int64)


def _read_year(text: str) -> int:
    return int(text.strip()[:4])


def _merged(pair: LabelledPair, other: LabelledPair | None) -> LabelledPair:
    if other is None:
        return pair
    years = [year for year in (pair.year, other.year) if year is not None]
    return pair._replace(label=max(pair.label, other.label), year=min(years, default=None))
