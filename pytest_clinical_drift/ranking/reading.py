"""A frozen slate: read and checked, encoded as arrays; one folder may hold several slates in one registry."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.columns import Table, find_table, known_flags, load_polars, read_tier, tier_of_rank
from pytest_clinical_drift.ranking.figure import Flags, Floats, Ints
from pytest_clinical_drift.ranking.labels import LabelledPair, breadth_of, known_by_label, read_labels
from pytest_clinical_drift.ranking.manifest import Manifest, read_manifests
from pytest_clinical_drift.ranking.outcomes import Outcomes, read_outcomes

if TYPE_CHECKING:
    import polars as pl

PREDICTIONS = ("predictions", "registry")
OUTCOMES = ("outcomes",)
CANDIDATES = ("candidates", "top_candidates")
LABELS = ("labels", "labeled_pairs", "labelled_pairs")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Drug-disease pairs as positions in the slate's lists of names."""

    disease: Ints
    drug: Ints
    known: Flags
    """Known at freeze, so that no later outcome makes them a discovery."""


@dataclass(frozen=True, slots=True)
class Predictions(Pairs):
    """The frozen rows, in file order."""

    score: Floats
    rank: Ints
    tier: Ints
    repeated: Flags
    """A row whose pair a better-ranked row already holds."""


@dataclass(frozen=True, slots=True)
class Slate:
    """One slate with all that was observed about it."""

    id: str
    folder: Path
    created_at: datetime.datetime
    manifest: Manifest | None
    """None when nothing but the registry itself tells about the slate."""
    diseases: tuple[str, ...]
    drugs: tuple[str, ...]
    """Spelled as in the file, in the order of their lower-case names."""
    predictions: Predictions
    outcomes: Outcomes
    candidates: Pairs | None
    breadth: Ints | None
    """Number of labelled diseases per drug; None without labels."""
    labels: tuple[LabelledPair, ...]
    notes: tuple[str, ...] = ()
    """What a reader should know about the data: repeated rows, outcomes of foreign pairs."""

    @property
    def slug(self) -> str:
        """The id as a name of a folder and part of test ids."""
        return re.sub(r"[^A-Za-z0-9._]+", "-", self.id).strip("-.")[:100] or "slate"


def read_slates(folder: Path) -> list[Slate]:
    """Every slate of a folder, in the order of the file; InputError names the first fault."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such slate folder")
    file = find_table(folder, PREDICTIONS)
    if file is None:
        raise InputError(f"{folder}: no predictions.* or registry.* (.parquet, .csv or .jsonl) is there")
    table = Table(file)
    table.require("disease_name", "drug_name", "repurposing_score")
    if not len(table):
        raise InputError(f"{file}: the slate holds no prediction")
    described = read_manifests(folder)
    if "slate_id" in table:
        ids = table.text("slate_id")
        parts = [(str(name), table.where(ids == name)) for name in ids.unique(maintain_order=True).to_list()]
    elif len(described) > 1:
        raise InputError(f"{file}: the column slate_id is missing, and the folder describes {len(described)} slates")
    else:
        parts = [(next(iter(described), folder.name), table)]
    extra = {name: _optional(folder, stems) for name, stems in _EXTRA.items()}
    slates = [_read_slate(folder, slate_id, part, described.get(slate_id), extra) for slate_id, part in parts]
    slugs = [slate.slug for slate in slates]
    if repeated := next((slug for slug in slugs if slugs.count(slug) > 1), None):
        raise InputError(f"{file}: two slate ids give the same folder name {repeated!r}; rename one of the two")
    return slates


_EXTRA = {"outcomes": OUTCOMES, "candidates": CANDIDATES, "labels": LABELS}


def _optional(folder: Path, stems: tuple[str, ...]) -> Table | None:
    file = find_table(folder, stems)
    return Table(file) if file is not None else None


def _read_slate(
    folder: Path, slate_id: str, table: Table, manifest: Manifest | None, extra: dict[str, Table | None]
) -> Slate:
    created_at = _created_at(table, manifest)
    disease, drug = table.names("disease_name"), table.names("drug_name")
    diseases = _spelling(table, "disease_name", disease)
    candidates = _candidate_names(extra["candidates"], set(diseases))
    drugs = _spelling(table, "drug_name", drug)
    if candidates is not None:
        drugs = _spelling(candidates, "drug_name", candidates.names("drug_name")) | drugs
    codes = Vocabulary(sorted(diseases), sorted(drugs))
    labels = read_labels(extra["labels"])
    labelled = known_by_label(labels, created_at.year, codes.disease_names, codes.drug_names)
    predictions = _predictions(table, codes.diseases(disease), codes.drugs(drug), labelled, len(drugs))
    outcomes = read_outcomes(extra["outcomes"], slate_id, created_at, codes.disease_names, codes.drug_names)
    notes = list(outcomes.notes)
    if count := int(predictions.repeated.sum()):
        notes.insert(0, f"{count} of {len(table)} rows repeat a pair; hits are counted over distinct pairs")
    return Slate(
        id=slate_id,
        folder=folder,
        created_at=created_at,
        manifest=manifest,
        diseases=tuple(diseases[name] for name in codes.disease_names),
        drugs=tuple(drugs[name] for name in codes.drug_names),
        predictions=predictions,
        outcomes=outcomes,
        candidates=_candidates(candidates, codes, predictions, labelled) if candidates is not None else None,
        breadth=breadth_of(labels, codes.drug_names) if extra["labels"] is not None else None,
        labels=labels,
        notes=tuple(notes),
    )


class Vocabulary:
    """Lower-case names to their positions."""

    def __init__(self, diseases: list[str], drugs: list[str]) -> None:
        self.disease_names, self.drug_names = diseases, drugs
        self._polars = load_polars()
        self._diseases, self._drugs = self._polars.Enum(diseases), self._polars.Enum(drugs)

    def diseases(self, names: pl.Series) -> npt.NDArray[np.int64]:
        """Positions of disease names that are all in the list."""
        return np.asarray(names.cast(self._diseases).to_physical().to_numpy().astype(np.int64))

    def drugs(self, names: pl.Series) -> npt.NDArray[np.int64]:
        """Positions of drug names that are all in the list."""
        return np.asarray(names.cast(self._drugs).to_physical().to_numpy().astype(np.int64))


def _created_at(table: Table, manifest: Manifest | None) -> datetime.datetime:
    if "created_at" not in table:
        if manifest is None:
            raise InputError(
                f"{table.file}: the column created_at is missing, and no manifest tells when it was frozen"
            )
        return manifest.created_at
    moments = table.moments("created_at")
    first = moments[0]
    for row, moment in enumerate(moments):
        if moment is None or moment != first:
            raise table.fault(row, "created_at", "is empty or differs from the slate's first row")
    if first is None:
        raise table.fault(0, "created_at", "is empty")
    if manifest is not None and manifest.created_at != first:
        raise InputError(
            f"{table.file}: created_at {first} is not what {manifest.file.name} says: {manifest.created_at}"
        )
    return first


def _spelling(table: Table, name: str, lower: pl.Series) -> dict[str, str]:
    """Lower-case name to the spelling of its first row."""
    first = table.frame.select(load_polars().col(name).cast(str).alias("shown")).with_columns(lower.alias("lower"))
    rows = first.unique(subset="lower", keep="first", maintain_order=True)
    return dict(zip(rows["lower"].to_list(), rows["shown"].to_list(), strict=True))


def _predictions(table: Table, disease: Ints, drug: Ints, labelled: Ints, drugs: int) -> Predictions:
    score = table.numbers("repurposing_score")
    rank = _ranks(table, disease, drug, score)
    tier = tier_of_rank(rank)
    name = table.first_of("confidence_tier", "tier")
    if name is not None:
        given = table.cells(name, read_tier, "not a tier; known ones: high, moderate, exploratory")
        tier = np.asarray([by_rank if own is None else own for own, by_rank in zip(given, tier.tolist(), strict=True)])
    by_rank = np.lexsort((np.arange(len(rank)), rank, drug, disease))
    repeated = np.zeros(len(rank), dtype=bool)
    same = (np.diff(disease[by_rank]) == 0) & (np.diff(drug[by_rank]) == 0)
    repeated[by_rank[1:][same]] = True
    keys = disease * np.int64(drugs) + drug
    known = np.isin(keys, keys[_known(table, keys, labelled)])  # one row that knows speaks for all rows of its pair
    return Predictions(disease, drug, known, score, rank, tier, repeated)


def _ranks(table: Table, disease: Ints, drug: Ints, score: Floats) -> npt.NDArray[np.int64]:
    """As given, else by score within the disease, ties by drug name."""
    if "rank" in table:
        given = table.numbers("rank")
        bad = np.flatnonzero((given < 1) | (given != np.floor(given)))
        if len(bad):
            raise table.fault(int(bad[0]), "rank", f"is {given[bad[0]]:g}, not a whole number from 1")
        return given.astype(np.int64)
    order = np.lexsort((drug, -score, disease))
    starts = np.flatnonzero(np.concatenate(([True], np.diff(disease[order]) > 0)))
    sizes = np.diff(np.append(starts, len(order)))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order)) - np.repeat(starts, sizes) + 1
    return ranks


def _known(table: Table, keys: Ints, labelled: Ints) -> Flags:
    """As the table says, else by the labels."""
    return known_flags(table.frame["known_at_freeze"]) if "known_at_freeze" in table else np.isin(keys, labelled)


def _candidate_names(table: Table | None, diseases: set[str]) -> Table | None:
    """The scored candidates of the slate's diseases."""
    if table is None:
        return None
    table.require("disease_name", "drug_name")
    return table.where(table.names("disease_name").is_in(list(diseases)))


def _candidates(table: Table, codes: Vocabulary, predictions: Predictions, labelled: Ints) -> Pairs:
    """Distinct candidates. The predicted pairs are among them, for they were scored too, and keep their own flag."""
    drugs = np.int64(len(codes.drug_names))
    keys = codes.diseases(table.names("disease_name")) * drugs + codes.drugs(table.names("drug_name"))
    known = _known(table, keys, labelled)
    predicted = predictions.disease * drugs + predictions.drug
    distinct, position = np.unique(np.concatenate((predicted, keys)), return_index=True)
    # of equal keys the first position is kept, so a predicted pair keeps its own flag
    return Pairs(distinct // drugs, distinct % drugs, np.concatenate((predictions.known, known))[position])
