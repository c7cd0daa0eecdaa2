"""Writes the small slate, and variations of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from simulate import write_csv
from small_slate import CANDIDATES, LABELS, OUTCOME, OUTCOMES, PREDICTION, ROWS

from pytest_clinical_drift.ranking.slate import Slate, read_slates

Rows = Sequence[Sequence[object]]
WriteSlate = Callable[..., Slate]


@pytest.fixture
def write_folder(tmp_path: Path) -> Callable[..., Path]:
    """Write a slate folder; what is not given is the small example."""

    def write(
        rows: Rows = ROWS,
        outcomes: Rows | None = OUTCOMES,
        candidates: Rows | None = CANDIDATES,
        labels: Rows | None = LABELS,
        *,
        header: Sequence[str] = PREDICTION,
        outcome_header: Sequence[str] = OUTCOME,
    ) -> Path:
        folder = tmp_path / "slate"
        folder.mkdir(exist_ok=True)
        write_csv(folder / "predictions.csv", header, rows)
        if outcomes is not None:
            write_csv(folder / "outcomes.csv", outcome_header, outcomes)
        if candidates is not None:
            write_csv(folder / "candidates.csv", ("disease_name", "drug_name"), candidates)
        if labels is not None:
            write_csv(folder / "labels.csv", ("disease_name", "drug_name"), labels)
        return folder

    return write


@pytest.fixture
def write_slate(write_folder: Callable[..., Path]) -> WriteSlate:
    """Write a folder of one slate and read it."""

    def write(*arguments: Rows | None, **keywords: object) -> Slate:
        (slate,) = read_slates(write_folder(*arguments, **keywords))
        return slate

    return write
