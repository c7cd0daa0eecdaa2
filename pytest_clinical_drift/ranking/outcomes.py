"""What happened to the pairs: append-only, one outcome per pair and type, and which of them are prospective."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.columns import HIGH_SIGNAL, OUTCOME_TYPES, Table, as_text, find_table, load_polars
from pytest_clinical_drift.ranking.figure import Flags, Ints

if TYPE_CHECKING:
    import polars as pl

UNDATED = np.iinfo(np.int64).min
"""Stands for a missing day."""
_KEY = ("slate_id", "disease_name", "drug_name", "outcome_type")


@dataclass(frozen=True, slots=True)
class Outcomes:
    """One entry per pair and type, all within the slate's names."""

    disease: Ints
    drug: Ints
    high: Flags
    """One of the three high-signal types."""
    day: Ints
    """Days from freeze to the earliest date given; UNDATED without a date."""
    prospective: Flags
    """Dated after the day of the freeze, and not seen, nor possibly older, by then."""
    repeated: int = 0
    """Rows that repeat a pair and type."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.disease)


@dataclass(slots=True)
class _Entry:
    day: int | None = None
    seen_at_freeze: bool = False


def read_outcomes(
    table: Table | None,
    slate_id: str,
    created_at: datetime.datetime,
    diseases: Sequence[str],
    drugs: Sequence[str],
) -> Outcomes:
    """The outcomes of one slate. Of repeated rows the earliest date counts; one seen at freeze makes all seen."""
    if table is None:
        return _encode({}, 0, 0)
    table.require("disease_name", "drug_name", "outcome_type", "outcome_date")
    if "slate_id" in table:
        ids = as_text(table.frame["slate_id"])
        whole, table = len(table), table.where(ids.is_null() | (ids == "") | (ids == slate_id))
        if whole and not len(table):
            return _encode({}, 0, 0, f"none of the {whole} outcome rows names the slate {slate_id}")
    freeze_day = created_at.date()
    disease_at = {name: position for position, name in enumerate(diseases)}
    drug_at = {name: position for position, name in enumerate(drugs)}
    dates = table.moments("outcome_date")
    seen = table.moments("observed_at") if "observed_at" in table else [None] * len(table)
    expected = f"not an outcome; known ones: {', '.join(OUTCOME_TYPES)}"
    types = table.cells("outcome_type", lambda text: OUTCOME_TYPES.index(text.strip().lower()), expected)
    names = zip(table.names("disease_name").to_list(), table.names("drug_name").to_list(), strict=True)
    entries: dict[tuple[int, int, int], _Entry] = {}
    foreign = 0
    for row, (disease, drug) in enumerate(names):
        kind = types[row]
        if kind is None:
            raise table.fault(row, "outcome_type", "is empty")
        if disease not in disease_at or drug not in drug_at:
            foreign += 1
            continue
        entry = entries.setdefault((disease_at[disease], drug_at[drug], kind), _Entry())
        date, observed = dates[row], seen[row]
        if date is not None:
            day = (date.date() - freeze_day).days
            entry.day = day if entry.day is None else min(entry.day, day)
        # without a date only the day it was seen can show that it is younger than the slate
        entry.seen_at_freeze |= observed.date() <= freeze_day if observed is not None else date is None
    return _encode(entries, len(table) - foreign - len(entries), foreign)


def _encode(entries: dict[tuple[int, int, int], _Entry], repeated: int, foreign: int, *remarks: str) -> Outcomes:
    keys = np.asarray(sorted(entries), dtype=np.int64).reshape(-1, 3)
    found = [entries[key] for key in sorted(entries)]
    day = np.asarray([UNDATED if entry.day is None else entry.day for entry in found], dtype=np.int64)
    unseen = np.asarray([not entry.seen_at_freeze for entry in found], dtype=bool)
    notes = list(remarks)
    if repeated:
        notes.append(f"{repeated} outcome rows repeat a pair and type; the earliest date counts")
    if undated := int((day == UNDATED).sum()):
        notes.append(f"{undated} outcomes have no date and count as known at freeze unless they were seen later")
    if foreign:
        notes.append(f"{foreign} outcome rows name pairs outside the slate and its candidates")
    return Outcomes(
        disease=keys[:, 0],
        drug=keys[:, 1],
        high=keys[:, 2] < len(HIGH_SIGNAL),
        day=day,
        prospective=(day > 0) & unseen,
        repeated=repeated,
        notes=tuple(notes),
    )


def append_outcomes(folder: Path, rows: Iterable[dict[str, str | None]]) -> tuple[int, int]:
    """Add outcomes to a slate's folder: what is there stays as it is, and a (slate, disease, drug, type) is added once.

    Returns how many were added and how many were there already.
    """
    polars = load_polars()
    file = find_table(folder, ("outcomes",)) or folder / "outcomes.csv"
    columns = [*_KEY, "outcome_date", "outcome_source", "observed_at"]
    table = Table(file) if file.exists() else None
    if table is not None:
        table.require(*_KEY)
        columns = list(table.frame.columns)
    there = {_identity(row) for row in table.frame.select(_KEY).iter_rows(named=True)} if table is not None else set()
    added: list[dict[str, str | None]] = []
    repeats = 0
    for row in rows:
        if unknown := [name for name in row if name not in columns]:
            raise InputError(f"{file}: has no column {unknown[0]!r}; outcomes keep the columns they were begun with")
        if (identity := _identity(row)) in there:
            repeats += 1
            continue
        there.add(identity)
        added.append({name: row.get(name) for name in columns})
    if added:
        new = polars.DataFrame(added, schema=dict.fromkeys(columns, polars.String))
        _append(file, new, table)
    return len(added), repeats


def _identity(row: dict[str, str | None]) -> tuple[str, ...]:
    return tuple(str(row.get(name) or "").lower() for name in _KEY)


def _append(file: Path, new: pl.DataFrame, table: Table | None) -> None:
    """Text files grow at their end; a Parquet file is written anew with the old rows first."""
    if file.suffix == ".parquet" and table is not None:
        draft = file.with_name(f".{file.name}.draft")
        load_polars().concat([table.frame, new.cast(table.frame.schema)]).write_parquet(draft)
        draft.replace(file)
        return
    text = new.write_csv(include_header=table is None) if file.suffix == ".csv" else new.write_ndjson()
    unfinished = table is not None and not file.read_bytes().endswith(b"\n")
    with file.open("a", encoding="utf-8", newline="") as stream:
        stream.write(("\n" if unfinished else "") + text)
