"""A frozen slate: read and checked; one folder may hold several slates in one registry."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.figure_types import Array
from pytest_clinical_drift.ranking.files import (
    SlateManifest,
    Table,
    as_text,
    find_table,
    is_known,
    read_label,
    read_manifests,
)
from pytest_clinical_drift.verdict.bands import TIERS

if TYPE_CHECKING:
    import polars as pl

PAIR = ("disease", "drug")
_NAMES = ("disease_name", "drug_name")
HIGH_SIGNAL = ("first_trial_seen", "phase_advanced", "fda_approved")
_FURTHER = (
    ("outcomes",),
    ("candidates", "top_candidates"),
    ("labels", "labeled_pairs", "labelled_pairs"),
)
"""Names that the files of the further tables may have."""
_LAST_RANK = 10**12
_TIER_ENDS = (10, 50)
"""Last rank of the high and of the moderate tier, where the tiers are not given."""


class LabelledPair(NamedTuple):
    """A pair whose answer is known; names in lower case."""

    disease: str
    drug: str
    label: int
    """4 approved, 3 to 1 the phase, 0 negative."""
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Slate:
    """One slate with all that was observed about it.

    In its tables `disease` and `drug` are of an Enum type, whose codes are the positions in `diseases` and `drugs`.
    """

    id: str
    folder: Path
    created_at: datetime.datetime
    manifest: SlateManifest | None
    """None when nothing but the registry itself tells about the slate."""
    diseases: tuple[str, ...]
    drugs: tuple[str, ...]
    """Spelled as in the file, in the order of their lower-case names."""
    predictions: pl.DataFrame
    """The frozen rows in file order: disease, drug, known (at freeze, so that no later outcome makes it a discovery),
    score, rank, tier (its position), repeated (a better-ranked row already holds the pair)."""
    outcomes: pl.DataFrame
    """One row per pair and type: disease, drug, high (signal), day (from freeze to the earliest date given, else null),
    prospective (dated after the day of the freeze, and not seen, nor possibly older, by then)."""
    candidates: pl.DataFrame | None
    """Distinct scored pairs, the predicted ones among them: disease, drug, known."""
    breadth: Array | None
    """Number of labelled diseases per drug; None without labels."""
    labels: tuple[LabelledPair, ...]
    notes: tuple[str, ...] = ()
    """What a reader should know about the data: repeated rows, outcomes of foreign pairs."""

    @property
    def slug(self) -> str:
        return slug(self.id)


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:100] or "slate"


def read_slates(folder: Path) -> list[Slate]:
    """Every slate of a folder, in the order of the file; InputError names the first fault."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such slate folder")
    table = find_table(folder, ("predictions", "registry"))
    if table is None:
        raise InputError(f"{folder}: no predictions.* or registry.* (.parquet, .csv or .jsonl) is there")
    table.require(*_NAMES, "repurposing_score")
    if not len(table):
        raise InputError(f"{table.file}: the slate holds no prediction")
    described = read_manifests(folder)
    if "slate_id" in table:
        ids = table.text("slate_id")
        parts = {name: table.where(ids == name) for name in ids.unique(maintain_order=True).to_list()}
    elif len(described) > 1:
        several = f"the folder describes {len(described)} slates"
        raise InputError(f"{table.file}: the column slate_id is missing, and {several}")
    else:
        parts = {next(iter(described), folder.name): table}
    further = {stems[0]: find_table(folder, stems) for stems in _FURTHER}
    slates = [_read_slate(folder, name, part, described.get(name), further) for name, part in parts.items()]
    repeated, count = Counter(slate.slug for slate in slates).most_common(1)[0]
    if count > 1:
        raise InputError(f"{table.file}: two slate ids give the same folder name {repeated!r}; rename one of the two")
    return slates


def _read_slate(
    folder: Path, slate_id: str, table: Table, manifest: SlateManifest | None, further: dict[str, Table | None]
) -> Slate:
    import polars as pl

    created_at = _created_at(table, manifest)
    labels = _read_labels(further["labels"])
    positive = [pair[:2] for pair in labels if pair.label > 0 and _dated_by(pair, created_at.year)]
    known = pl.DataFrame(positive, schema=dict.fromkeys(PAIR, pl.String), orient="row")
    predictions = _read_predictions(table, known)
    diseases = _spelling(table, "disease_name")
    drugs = _spelling(table, "drug_name")
    candidates = None
    scored = further["candidates"]
    if scored is not None:
        scored.require(*_NAMES)
        scored = scored.where(scored.pairs()["disease"].is_in(list(diseases)))
        drugs = _spelling(scored, "drug_name") | drugs
        # a predicted pair was scored too, and keeps its own flag
        candidates = pl.concat([predictions.select(*PAIR, "known"), _with_known(scored, known)])
        candidates = candidates.unique(PAIR, keep="first", maintain_order=True)
    codes = {"disease": pl.Enum(sorted(diseases)), "drug": pl.Enum(sorted(drugs))}
    outcomes, notes = _read_outcomes(further["outcomes"], slate_id, created_at.date(), diseases, drugs)
    count = predictions["repeated"].sum()
    if count:
        notes.insert(0, f"rows that repeat a pair (hits are counted over distinct pairs): {count} of {len(table)}")
    breadth = Counter(pair.drug for pair in labels)
    return Slate(
        id=slate_id,
        folder=folder,
        created_at=created_at,
        manifest=manifest,
        diseases=tuple(diseases[name] for name in sorted(diseases)),
        drugs=tuple(drugs[name] for name in sorted(drugs)),
        predictions=predictions.cast(codes),
        outcomes=outcomes.cast(codes),
        candidates=candidates.cast(codes) if candidates is not None else None,
        breadth=np.asarray([breadth[drug] for drug in sorted(drugs)]) if further["labels"] is not None else None,
        labels=labels,
        notes=tuple(notes),
    )


def _dated_by(pair: LabelledPair, year: int) -> bool:
    return pair.year is None or pair.year <= year


def _created_at(table: Table, manifest: SlateManifest | None) -> datetime.datetime:
    if "created_at" not in table:
        if manifest is None:
            raise InputError(f"{table.file}: the column created_at is missing, and no manifest says when it was frozen")
        return manifest.created_at
    moments = table.moments("created_at")
    different = (~moments.eq_missing(moments[0]) | moments.is_null()).arg_true()
    if len(different):
        raise table.fault(different[0], "created_at", "is empty or differs from the slate's first row")
    first: datetime.datetime = moments[0]
    if manifest is not None and manifest.created_at != first:
        recorded = f"is not what {manifest.file.name} says: {manifest.created_at}"
        raise InputError(f"{table.file}: created_at {first} {recorded}")
    return first


def _spelling(table: Table, name: str) -> dict[str, str]:
    """Lower-case name to the spelling of its first row."""
    spelled = table.text(name).unique(maintain_order=True).to_list()
    return {text.lower(): text for text in reversed(spelled)}


def _read_predictions(table: Table, labelled: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    rows = _with_known(table, labelled).with_columns(score=table.numbers("repurposing_score"))
    if "rank" in table:
        given = table.numbers("rank")
        bad = ((given < 1) | (given != given.floor()) | (given > _LAST_RANK)).arg_true()
        if len(bad):
            raise table.fault(bad[0], "rank", f"is {given[bad[0]]:g}, not a whole number from 1 to {_LAST_RANK:,}")
        rows = rows.with_columns(rank=given.cast(pl.Int64))
    else:  # by score within the disease, ties by drug name
        rows = rows.with_columns(rank=pl.struct(-pl.col("score"), "drug").rank("ordinal").over("disease"))
    rows = rows.with_columns(tier=sum((pl.col("rank") > end).cast(pl.Int64) for end in _TIER_ENDS))
    name = table.first_of("confidence_tier", "tier")
    if name is not None:
        rows = rows.with_columns(tier=pl.coalesce(table.positions(name, TIERS, "a tier"), "tier"))
    return rows.with_columns(
        known=pl.col("known").any().over(PAIR),  # one row that knows speaks for all rows of its pair
        repeated=pl.col("rank").rank("ordinal").over(PAIR) > 1,
    )


def _with_known(table: Table, labelled: pl.DataFrame) -> pl.DataFrame:
    """The pairs, and whether they were known at freeze: as the table says, else by the labels."""
    pairs = table.pairs()
    if "known_at_freeze" in table:
        return pairs.with_columns(known=table.cells("known_at_freeze", is_known, "", bool).fill_null(False))
    return pairs.join(labelled.with_columns(known=True), on=PAIR, how="left", maintain_order="left").fill_null(False)


def _read_labels(table: Table | None) -> tuple[LabelledPair, ...]:
    """Labelled pairs; one that stands twice keeps its highest label and earliest year. No label column: approved."""
    import polars as pl

    if table is None:
        return ()
    table.require(*_NAMES)
    pairs = table.pairs().with_columns(label=pl.lit(4), year=pl.lit(None, pl.Int64))
    if "label" in table:
        table.text("label")
        expected = "not a label; known ones: 0 to 4, negative, phase1, phase2, phase3, approved"
        pairs = pairs.with_columns(label=table.cells("label", read_label, expected, int))
    name = table.first_of("year", "approval_year", "first_approval")
    if name is not None:
        pairs = pairs.with_columns(year=table.cells(name, lambda text: int(text.strip()[:4]), "not a year", int))
    merged = pairs.group_by(PAIR, maintain_order=True).agg(pl.col("label").max(), pl.col("year").min())
    return tuple(LabelledPair(*row) for row in merged.iter_rows())


def _read_outcomes(
    table: Table | None, slate_id: str, freeze_day: datetime.date, diseases: Iterable[str], drugs: Iterable[str]
) -> tuple[pl.DataFrame, list[str]]:
    """The outcomes of one slate, and remarks. Of repeated rows the earliest date counts; one seen at freeze makes all
    seen."""
    import polars as pl

    columns = {"disease": pl.String, "drug": pl.String, "high": pl.Boolean, "day": pl.Int64, "prospective": pl.Boolean}
    if table is None:
        return pl.DataFrame(schema=columns), []
    table.require(*_NAMES, "outcome_type", "outcome_date")
    whole = len(table)
    if "slate_id" in table:
        table = table.where(as_text(table.frame["slate_id"]).fill_null("").is_in(["", slate_id]))
        if whole and not len(table):
            return pl.DataFrame(schema=columns), [f"none of the {whole} outcome rows names the slate {slate_id}"]
    table.text("outcome_type")
    rows = table.pairs().with_columns(
        kind=table.positions("outcome_type", (*HIGH_SIGNAL, "status_transition"), "an outcome"),
        date=table.moments("outcome_date").dt.date(),
        seen=table.moments("observed_at").dt.date() if "observed_at" in table else pl.lit(None, pl.Date),
    )
    ours = rows.filter(pl.col("disease").is_in(list(diseases)) & pl.col("drug").is_in(list(drugs)))
    events = (
        ours.group_by(*PAIR, "kind")
        .agg(
            day=(pl.col("date") - freeze_day).dt.total_days().min(),
            # without a date only the day it was seen can show that it is younger than the slate
            old=pl.coalesce(pl.col("seen") <= freeze_day, pl.col("date").is_null()).any(),
        )
        .sort(*PAIR, "kind")
        .with_columns(
            high=pl.col("kind") < len(HIGH_SIGNAL), prospective=(pl.col("day") > 0).fill_null(False) & ~pl.col("old")
        )
    )
    counts = {
        "outcome rows that repeat a pair and type (the earliest date counts)": len(ours) - len(events),
        "outcomes without a date (known at freeze unless they were seen later)": events["day"].null_count(),
        "outcome rows on pairs outside the slate and its candidates": len(rows) - len(ours),
        "outcome rows that carry another slate's id": whole - len(rows),
    }
    return events.select(*columns), [f"{remark}: {count}" for remark, count in counts.items() if count]
