"""A frozen slate: its predictions and all that was observed about them, read and checked."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.figures import Ints
from pytest_clinical_drift.ranking.manifest import SlateManifest, read_manifest
from pytest_clinical_drift.ranking.tables import SUFFIXES, Table, find_table, is_known, read_label
from pytest_clinical_drift.verdict.slate_limits import TIERS

if TYPE_CHECKING:
    import polars as pl

PAIR = ("disease", "drug")
HIGH_SIGNAL = ("first_trial_seen", "phase_advanced", "fda_approved")
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

    manifest: SlateManifest
    diseases: tuple[str, ...]
    drugs: tuple[str, ...]
    """Spelled as in the file, in the order of their lower-case names."""
    predictions: pl.DataFrame
    """The frozen pairs: disease, drug, known (at freeze, so that no later outcome makes it a discovery), score, rank,
    tier (its position)."""
    outcomes: pl.DataFrame
    """One row per pair and type: disease, drug, high (signal), day (from freeze to the earliest date given, else null),
    prospective (dated after the day of the freeze, and not seen, nor possibly older, by then)."""
    candidates: pl.DataFrame | None
    """Distinct scored pairs, the predicted ones among them: disease, drug, known."""
    breadth: Ints | None
    """Number of labelled diseases per drug; None without labels."""
    labels: tuple[LabelledPair, ...]
    notes: tuple[str, ...] = ()
    """What a reader should know about the data: repeated rows, outcomes of foreign pairs."""


def read_slate(folder: Path) -> Slate:
    """The slate of a folder; InputError names the first fault."""
    manifest = read_manifest(folder)
    found = {name: find_table(folder, name) for name in ("predictions", "outcomes", "candidates", "labels")}
    if found["predictions"] is None:
        raise InputError(f"{folder}: no predictions with the ending {' or '.join(SUFFIXES)} are there")
    return make_slate(manifest, {name: table for name, table in found.items() if table is not None})


def make_slate(manifest: SlateManifest, tables: Mapping[str, Table]) -> Slate:
    """A slate from its tables, of which only the predictions must be there."""
    import polars as pl

    table, scored = tables["predictions"], tables.get("candidates")
    labels = _read_labels(tables.get("labels"))
    freeze_day = manifest.created_at.date()
    known = [pair[:2] for pair in labels if pair.label > 0 and (pair.year is None or pair.year <= freeze_day.year)]
    labelled = pl.DataFrame(known, schema=dict.fromkeys(PAIR, pl.String), orient="row")
    predictions = _read_predictions(table, labelled)
    diseases, drugs = _spelling(table, "disease_name"), _spelling(table, "drug_name")
    candidates = None
    if scored is not None:
        scored.require("disease_name", "drug_name")
        scored = scored.where(scored.pairs()["disease"].is_in(list(diseases)))
        drugs = _spelling(scored, "drug_name") | drugs
        # a predicted pair was scored too, and keeps its own flag
        candidates = pl.concat([predictions.select(*PAIR, "known"), _with_known(scored, labelled)])
        candidates = candidates.unique(PAIR, keep="first", maintain_order=True)
    codes = {"disease": pl.Enum(sorted(diseases)), "drug": pl.Enum(sorted(drugs))}
    outcomes, notes = _read_outcomes(tables.get("outcomes"), freeze_day, set(diseases), set(drugs))
    breadth = Counter(pair.drug for pair in labels)
    return Slate(
        manifest=manifest,
        diseases=tuple(diseases[name] for name in sorted(diseases)),
        drugs=tuple(drugs[name] for name in sorted(drugs)),
        predictions=predictions.cast(codes),
        outcomes=outcomes.cast(codes),
        candidates=candidates.cast(codes) if candidates is not None else None,
        breadth=np.asarray([breadth[drug] for drug in sorted(drugs)]) if "labels" in tables else None,
        labels=labels,
        notes=notes,
    )


def _spelling(table: Table, name: str) -> dict[str, str]:
    """Lower-case name to the spelling of its first row."""
    spelled = table.text(name).unique(maintain_order=True).to_list()
    return {text.lower(): text for text in reversed(spelled)}


def _read_predictions(table: Table, labelled: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    table.require("disease_name", "drug_name", "repurposing_score")
    if not len(table):
        raise InputError(f"{table.file}: the slate holds no prediction")
    rows = _with_known(table, labelled).with_columns(table.numbers("repurposing_score").alias("score"))
    repeated = rows.select(~pl.struct(PAIR).is_first_distinct()).to_series().arg_true()
    if len(repeated):
        raise table.fault(repeated[0], "drug_name", "repeats a pair; freeze each pair once")
    if "rank" in table:
        given = table.numbers("rank")
        bad = ((given < 1) | (given != given.floor()) | (given > _LAST_RANK)).arg_true()
        if len(bad):
            raise table.fault(bad[0], "rank", f"is {given[bad[0]]:g}, not a whole number from 1 to {_LAST_RANK:,}")
        rows = rows.with_columns(given.cast(pl.Int64).alias("rank"))
    else:  # by score within the disease, ties by drug name
        rows = rows.with_columns(rank=pl.struct(-pl.col("score"), "drug").rank("ordinal").over("disease"))
    rows = rows.with_columns(tier=sum((pl.col("rank") > end).cast(pl.Int64) for end in _TIER_ENDS))
    if "confidence_tier" in table:
        rows = rows.with_columns(tier=pl.coalesce(table.positions("confidence_tier", TIERS, "a tier"), "tier"))
    return rows


def _with_known(table: Table, labelled: pl.DataFrame) -> pl.DataFrame:
    """The pairs, and whether they were known at freeze: as the table says, else by the labels."""
    import polars as pl

    pairs = table.pairs()
    if "known_at_freeze" in table:
        return pairs.with_columns(known=table.cells("known_at_freeze", is_known, "", pl.Boolean).fill_null(False))
    known = labelled.with_columns(known=True)
    return pairs.join(known, on=PAIR, how="left", maintain_order="left").with_columns(pl.col("known").fill_null(False))


def _read_labels(table: Table | None) -> tuple[LabelledPair, ...]:
    """Labelled pairs; one that stands twice keeps its highest label and earliest year. No label column: approved."""
    import polars as pl

    if table is None:
        return ()
    table.require("disease_name", "drug_name")
    pairs = table.pairs().with_columns(label=pl.lit(4), year=pl.lit(None, pl.Int64))
    if "label" in table:
        table.text("label")
        expected = "not a label; known ones: 0 to 4, negative, phase1, phase2, phase3, approved"
        pairs = pairs.with_columns(label=table.cells("label", read_label, expected, pl.Int64))
    if "year" in table:
        pairs = pairs.with_columns(year=table.cells("year", lambda text: int(text.strip()[:4]), "not a year", pl.Int64))
    merged = pairs.group_by(PAIR, maintain_order=True).agg(pl.col("label").max(), pl.col("year").min())
    return tuple(LabelledPair(*row) for row in merged.iter_rows())


def _read_outcomes(
    table: Table | None, freeze_day: datetime.date, diseases: set[str], drugs: set[str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The outcomes, and remarks. Of repeated rows the earliest date counts; one seen at freeze makes all seen."""
    import polars as pl

    columns = {"disease": pl.String, "drug": pl.String, "high": pl.Boolean, "day": pl.Int64, "prospective": pl.Boolean}
    if table is None:
        return pl.DataFrame(schema=columns), ()
    table.require("disease_name", "drug_name", "outcome_type", "outcome_date")
    table.text("outcome_type")
    rows = table.pairs().with_columns(
        kind=table.positions("outcome_type", (*HIGH_SIGNAL, "status_transition"), "an outcome"),
        date=table.moments("outcome_date").dt.date(),
        seen=table.moments("observed_at").dt.date() if "observed_at" in table else pl.lit(None, pl.Date),
    )
    ours = rows.filter(pl.col("disease").is_in(diseases) & pl.col("drug").is_in(drugs))
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
    }
    return events.select(*columns), tuple(f"{remark}: {count}" for remark, count in counts.items() if count)
