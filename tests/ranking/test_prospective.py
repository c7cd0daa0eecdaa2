"""Prospective figures against values worked out by hand, and on simulated worlds where the truth is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from simulate import make_world, write_world
from small_slate import CANDIDATES, CREATED, LABELS, OUTCOME, OUTCOMES, PREDICTION, ROWS

from pytest_clinical_drift.ranking.figure_types import Cell, SlateCode, SlateReason, ViewFigures
from pytest_clinical_drift.ranking.prospective import all_outcomes, breadth_deciles, evaluate, prospective
from pytest_clinical_drift.ranking.slate import Slate, read_slates

WriteSlate = Callable[..., Slate]


def value(cell: Cell, name: str) -> float | None:
    return cell.figures[name].value


def gate(slate: Slate) -> ViewFigures:
    return evaluate(prospective(slate))


def test_tiers_by_hand(write_slate: WriteSlate) -> None:
    """Hits: Abel for both diseases. Candidates' hit rates: Abel 2/2, Bruno 0/2, Cora 1/2, Dora 0/2."""
    tiers = gate(write_slate()).tiers
    high, moderate, everything = tiers["high"], tiers["moderate"], tiers["all"]
    assert (high.predictions, high.hits, moderate.predictions, moderate.hits) == (2, 1, 2, 1)
    assert value(high, "hit_rate") == 0.5
    assert value(high, "enrichment_vs_random") == 1.0  # 1/2 over 2/4
    assert value(high, "expected_hit_rate") == 0.75  # Abel 1, Cora 1/2
    assert value(high, "enrichment_vs_popularity") == pytest.approx(0.5 / 0.75)
    assert value(moderate, "enrichment_vs_popularity") == pytest.approx(0.5 / 0.5)  # Bruno 0, Abel 1
    assert value(everything, "enrichment_vs_popularity") == pytest.approx(0.5 / 0.625)
    assert "enrichment_vs_random" not in everything.figures


def test_precision_calibration_and_time_by_hand(write_slate: WriteSlate) -> None:
    """Any outcome: both Abels and Bruno. Hits score 0.9 and 0.6, misses 0.8 and 0.4; they took 10 and 30 days."""
    cell = gate(write_slate()).tiers["all"]
    assert value(cell, "precision_proxy") == pytest.approx(2 / 3)
    assert value(cell, "mean_score_hits") == pytest.approx(0.75)
    assert value(cell, "mean_score_misses") == pytest.approx(0.6)
    assert value(cell, "score_gap") == pytest.approx(0.15)
    assert value(cell, "median_days") == 20
    assert [value(cell, f"share_{name}") for name in ("negative", "zero", "positive")] == [0, 0, 1]


def test_one_disease_is_the_slate_restricted_to_it(write_slate: WriteSlate) -> None:
    """Xanthosis: Abel hits, Bruno does not. Its own candidates: Abel 1/1, Bruno 0/1, Cora 1/1, Dora 0/1."""
    slate = write_slate()
    assert slate.diseases == ("Xanthosis", "Ypsilosis")
    first, second = (item["tiers"] for item in gate(slate).by_disease)
    assert value(first["high"], "enrichment_vs_random") == 2.0
    assert value(first["high"], "enrichment_vs_popularity") == 1.0
    assert value(second["high"], "enrichment_vs_random") == 0.0
    assert value(second["high"], "enrichment_vs_popularity") is None  # no Cora hit among Ypsilosis candidates
    assert "no candidate in the same breadth deciles" in str(second["high"].figures["enrichment_vs_popularity"].reason)


def test_what_was_known_at_freeze_takes_no_part(write_slate: WriteSlate) -> None:
    """A flagged pair, one with an older outcome, one seen that day, and an undated one are neither hits nor misses."""
    drugs = ("flagged", "older", "seen", "undated", "open", "quiet")
    rows = [("s1", CREATED, "X", drug, 0.5, rank, "high", drug == "flagged") for rank, drug in enumerate(drugs, 1)]
    late = ("2025-06-01", "ctgov", "2025-06-02")
    outcomes = [
        ("s1", "X", "flagged", "first_trial_seen", *late),
        ("s1", "X", "older", "phase_advanced", "2025-01-15", "ctgov", None),
        ("s1", "X", "older", "first_trial_seen", *late),
        ("s1", "X", "seen", "first_trial_seen", "2025-06-01", "ctgov", "2025-01-15T23:00:00Z"),
        ("s1", "X", "undated", "phase_advanced", None, "chembl", None),
        ("s1", "X", "open", "first_trial_seen", *late),
    ]
    slate = write_slate(rows, outcomes, None, None, header=(*PREDICTION, "known_at_freeze"))
    figures = gate(slate)
    assert (figures.tiers["high"].predictions, figures.tiers["high"].hits, figures.pairs_known_at_freeze) == (2, 1, 4)
    history = evaluate(all_outcomes(slate)).tiers["high"]
    assert (history.predictions, history.hits) == (6, 5)
    # dated: flagged and open +137 days, older 0, seen +137; undated has no day
    assert history.figures["median_days"].n == 4
    assert value(history, "share_zero") == 0.25


def test_day_of_freeze_is_not_after_it(write_slate: WriteSlate) -> None:
    """An outcome on the day of the freeze, however late that day, is not prospective; the next day is."""
    for date, hits in (("2025-01-15T23:59:00Z", 0), ("2025-01-16", 1)):
        outcomes = [("s1", "Xanthosis", "Abel", "first_trial_seen", date, "ctgov", None)]
        assert gate(write_slate(ROWS, outcomes)).tiers["all"].hits == hits


def test_repeated_rows_count_once(write_slate: WriteSlate) -> None:
    """A pair in two rows (another spelling) is one hit; published figures keep its rows, the gate its best row."""
    repeated = ("s1", CREATED, "XANTHOSIS", "ABEL", 0.3, 7, "moderate")
    slate = write_slate([*ROWS, repeated])
    assert slate.notes[0] == "rows that repeat a pair (hits are counted over distinct pairs): 1 of 5"
    history, open_pairs = evaluate(all_outcomes(slate)).tiers, gate(slate).tiers
    assert (history["all"].predictions, history["all"].hits) == (5, 2)
    assert (history["moderate"].predictions, history["moderate"].hits) == (3, 2)  # distinct within the tier
    assert value(history["high"], "enrichment_vs_random") == pytest.approx((1 / 2) / (2 / 5))
    assert (open_pairs["all"].predictions, open_pairs["moderate"].predictions) == (4, 2)


def test_repeated_outcomes_count_once_and_the_earliest_date_counts(write_slate: WriteSlate) -> None:
    """Two rows of one pair and type: one event, dated by the earlier; one before the freeze closes the pair."""
    again = ("s1", "xanthosis", "abel", "first_trial_seen", "2025-01-20", "other", "2025-02-01")
    slate = write_slate(ROWS, [*OUTCOMES, again])
    assert len(slate.outcomes) == 4
    assert "outcome rows that repeat a pair and type (the earliest date counts): 1" in slate.notes
    assert value(gate(slate).tiers["high"], "median_days") == 5
    before = ("s1", "Xanthosis", "Abel", "first_trial_seen", "2024-12-31", "ctgov", None)
    assert gate(write_slate(ROWS, [*OUTCOMES, before])).tiers["high"].hits == 0


def test_nothing_observed_is_undefined_not_zero(write_slate: WriteSlate) -> None:
    """Without outcomes a hit rate is 0 of n, but enrichment and calibration have no value and say why."""
    figures = gate(write_slate(ROWS, None))
    cell = figures.tiers["high"]
    assert figures.observed == 0
    assert value(cell, "hit_rate") == 0.0
    for name in ("enrichment_vs_random", "enrichment_vs_popularity", "score_gap", "precision_proxy", "median_days"):
        assert value(cell, name) is None, name
        assert cell.figures[name].reason


def test_baseline_needs_candidates_and_labels(write_slate: WriteSlate, tmp_path: Path) -> None:
    """Without either there is no enrichment over popularity; the rest stands."""
    cell = gate(write_slate(ROWS, OUTCOMES, CANDIDATES, None)).tiers["high"]
    assert cell.figures["enrichment_vs_popularity"].reason == SlateReason(SlateCode.NO_POPULARITY)
    (tmp_path / "slate" / "candidates.csv").unlink()
    cell = gate(write_slate(ROWS, OUTCOMES, None, LABELS)).tiers["high"]
    assert cell.figures["enrichment_vs_popularity"].reason == SlateReason(SlateCode.NO_CANDIDATES)
    assert value(cell, "enrichment_vs_random") == 1.0


def test_every_prediction_hit_leaves_no_miss_to_compare(write_slate: WriteSlate) -> None:
    """Calibration is undefined when all came true."""
    outcomes = [("s1", row[2], row[3], "first_trial_seen", "2025-06-01", "x", None) for row in ROWS]
    cell = gate(write_slate(ROWS, outcomes)).tiers["all"]
    assert value(cell, "score_gap") is None
    assert cell.figures["score_gap"].reason == SlateReason(SlateCode.NO_MISS)


@pytest.mark.parametrize(
    ("count", "sizes"), [(20, [2] * 10), (13, [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]), (4, [1] * 4 + [0] * 6)]
)
def test_ntile(count: int, sizes: list[int]) -> None:
    """As in SQL: the first n mod 10 tiles hold one drug more; fewer drugs than tiles leave the last ones empty."""
    tiles = breadth_deciles(np.arange(count))
    assert np.bincount(tiles, minlength=10).tolist() == sizes
    assert np.all(np.diff(tiles) >= 0)


def test_ntile_breaks_ties_by_name_and_includes_breadth_zero() -> None:
    """Drugs come in name order: of equal breadth the earlier name gets the lower tile."""
    breadth = np.array([5, 0, 0, 5])
    assert breadth_deciles(breadth, 4).tolist() == [2, 0, 1, 3]
    assert breadth_deciles(breadth, 2).tolist() == [1, 0, 0, 1]


def test_same_seed_same_interval(write_slate: WriteSlate) -> None:
    """Two evaluations give the same limits."""
    slate = write_slate()
    first, second = gate(slate).tiers["high"], gate(slate).tiers["high"]
    assert first == second
    assert first.figures["hit_rate"].interval is not None


def simulated(tmp_path: Path, seed: int, *, skill_matters: bool, skilled: bool) -> Slate:
    world = make_world(40, 300, seed=seed, skill_matters=skill_matters)
    noise = np.random.default_rng(seed + 1000).normal(size=world.latent.shape)
    scores = world.latent + 0.5 * noise if skilled else world.breadth[None, :] + 0.01 * noise
    (slate,) = read_slates(write_world(world, scores, tmp_path / f"{seed}-{skilled}", top=50))
    return slate


def test_popularity_alone_earns_one(tmp_path: Path) -> None:
    """A ranker by popularity, outcomes constant within a decile: enrichment over popularity is 1.0 within its interval.

    The same ranker looks clever against chance, which is why popularity is the yardstick.
    """
    values, covered = [], 0
    for seed in range(8):
        figure = gate(simulated(tmp_path, seed, skill_matters=False, skilled=False)).tiers["high"].figures
        measured = figure["enrichment_vs_popularity"]
        assert measured.value is not None
        assert measured.interval is not None
        values.append(measured.value)
        covered += measured.interval.low <= 1.0 <= measured.interval.high
    assert covered >= 7
    assert np.mean(values) == pytest.approx(1.0, abs=0.06)


def test_skill_shows_above_popularity(tmp_path: Path) -> None:
    """A ranker that sees what makes pairs come true lies above 1.0 with its whole interval; popularity does not."""
    skilled = gate(simulated(tmp_path, 3, skill_matters=True, skilled=True)).tiers["high"]
    measured = skilled.figures["enrichment_vs_popularity"]
    assert measured.interval is not None
    assert measured.interval.low > 1.3
    famous = gate(simulated(tmp_path, 3, skill_matters=True, skilled=False)).tiers["high"]
    limits = famous.figures["enrichment_vs_popularity"].interval
    assert limits is not None
    assert limits.low <= 1.0 <= limits.high


def test_outcome_header_of_the_public_registry_is_understood(write_slate: WriteSlate) -> None:
    """Its further columns do not disturb."""
    outcomes = [(*row, '{"nct_id": "NCT0"}') for row in OUTCOMES]
    slate = write_slate(ROWS, outcomes, outcome_header=(*OUTCOME, "outcome_detail"))
    assert gate(slate).tiers["all"].hits == 2
