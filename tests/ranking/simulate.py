"""Simulated slates: a world in which outcomes depend on popularity alone, or on something a ranker can see."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pytest_clinical_drift.ranking.prospective import breadth_deciles

CREATED = datetime.datetime(2025, 1, 15, 9, 30, tzinfo=datetime.UTC)


def write_csv(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write one table; None becomes an empty cell."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return file


@dataclass(frozen=True)
class World:
    """Drugs, diseases, how popular each drug is, and which pairs come true."""

    diseases: tuple[str, ...]
    drugs: tuple[str, ...]
    breadth: np.ndarray
    hits: np.ndarray
    """Diseases × drugs: the pair gets a high-signal outcome after the freeze."""
    latent: np.ndarray
    """What made it come true, beyond popularity; a skilled ranker sees it."""


def make_world(diseases: int, drugs: int, *, seed: int, skill_matters: bool) -> World:
    """Popular drugs come true more often. If skill matters, pairs within a decile differ; if not, they do not."""
    random = np.random.default_rng(seed)
    names = tuple(f"drug-{index:04d}" for index in range(drugs))
    breadth = np.minimum(40, random.geometric(0.12, size=drugs) - 1)
    rate = 0.03 + 0.03 * breadth_deciles(breadth).astype(float)
    latent = random.normal(size=(diseases, drugs))
    odds = (rate / (1 - rate))[None, :] * (np.exp(2.0 * latent) if skill_matters else 1.0)
    hits = random.random((diseases, drugs)) < odds / (1 + odds)
    return World(tuple(f"disease-{index:03d}" for index in range(diseases)), names, breadth, hits, latent)


def write_world(world: World, scores: np.ndarray, folder: Path, *, top: int) -> Path:
    """The slate folder of a ranker with these scores (diseases × drugs): predictions, candidates, labels, outcomes."""
    folder.mkdir(parents=True, exist_ok=True)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    predictions = [
        (CREATED.isoformat(), "sim", disease, world.drugs[drug], f"{scores[row, drug]:.6f}", rank)
        for row, disease in enumerate(world.diseases)
        for rank, drug in enumerate(order[row], start=1)
    ]
    header = ("created_at", "slate_id", "disease_name", "drug_name", "repurposing_score", "rank")
    write_csv(folder / "predictions.csv", header, predictions)
    pairs = [(disease, drug) for disease in world.diseases for drug in world.drugs]
    write_csv(folder / "candidates.csv", ("disease_name", "drug_name"), pairs)
    labels = [
        (f"other-{index:02d}", drug, 4, 2000 + index % 20)
        for drug, count in zip(world.drugs, world.breadth.tolist(), strict=True)
        for index in range(count)
    ]
    write_csv(folder / "labels.csv", ("disease_name", "drug_name", "label", "year"), labels)
    outcomes = [
        ("sim", world.diseases[row], world.drugs[drug], "first_trial_seen", "2025-09-01", "simulated")
        for row, drug in np.argwhere(world.hits).tolist()
    ]
    header = ("slate_id", "disease_name", "drug_name", "outcome_type", "outcome_date", "outcome_source")
    write_csv(folder / "outcomes.csv", header, outcomes)
    return folder
