"""A ranking model under test: the interface it offers, and how it does on labelled pairs that it must not have seen.

Hit@K, graded NDCG@K and AUC set a floor; they do not prove foresight. Ties are never left to chance: a figure is its
expected value over all orders of tied drugs, so that a constant score earns exactly what chance earns.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from pytest_clinical_drift.errors import InputError, SubjectError
from pytest_clinical_drift.ranking.figure_types import Array, Figure, SlateCode, SlateReason
from pytest_clinical_drift.ranking.slate import LabelledPair, Slate
from pytest_clinical_drift.subjects.python import make

K = 50
CUTOFF = 2015
"""Temporal AUC: trained on pairs up to this year, tested on later ones."""
MIN_LABELLED = 10
"""Leave-one-out looks at diseases with at least this many labelled pairs."""
TOP_GRADE = 4
"""Labels: 4 approved, 3 to 1 the clinical phase, 0 negative."""
_GAINS = np.exp2(np.arange(TOP_GRADE + 1)) - 1.0


class Ranker(Protocol):
    """What `python:module:factory` must return. Names come in lower case."""

    def fit(self, pairs: Sequence[LabelledPair]) -> None:
        """Forget everything learnt so far and learn from exactly these pairs."""

    def score(self, disease: str, drugs: Sequence[str]) -> Sequence[float]:
        """One number per drug, higher is better."""


def load_ranker(spec: str) -> Ranker:
    """Import `python:module:factory` and call it; InputError in one sentence when that cannot work."""
    kind, _, target = spec.partition(":")
    if kind != "python" or ":" not in target:
        raise InputError(f"--model {spec}: with --slate the model is a ranker, written python:module:factory")
    ranker: Ranker = make(spec, target, wanted=("fit", "score"))
    return ranker


def measure_ranker(ranker: Ranker, slate: Slate, metric: str) -> dict[str, Figure]:
    """The figures that one look at the ranker yields, the metric's among them."""
    if not slate.labels:
        return {metric: Figure.undefined(SlateCode.NO_LABELS)}
    if metric.startswith(f"hit_at_{K}"):
        return leave_one_out(ranker, slate.labels, [drug.lower() for drug in slate.drugs])
    if metric == "temporal_auc":
        return {metric: temporal_auc(ranker, slate.labels)}
    return held_out(ranker, slate.labels)


def leave_one_out(
    ranker: Ranker, labels: Sequence[LabelledPair], drugs: Sequence[str], *, k: int = K
) -> dict[str, Figure]:
    """Hit@K: each approved pair hidden in turn, all drugs of the disease scored again; trials hit / trials.

    Diseases with at least MIN_LABELLED labelled pairs. Chance is K / number of drugs. Undefined without a trial.
    """
    hits: list[float] = []
    chance: list[float] = []
    for disease, pairs in _by_disease(labels).items():
        if len(pairs) < MIN_LABELLED:
            continue
        ranked = sorted({*drugs, *(pair.drug for pair in pairs)})
        for hidden in (pair for pair in pairs if pair.label == TOP_GRADE):
            _guarded(ranker.fit, [pair for pair in labels if pair is not hidden])
            hits.append(hit(_scores(ranker, disease, ranked), ranked.index(hidden.drug), k=k))
            chance.append(min(1.0, k / len(ranked)))
    if not hits:
        return _with_lift(f"hit_at_{k}", Figure.undefined(SlateCode.FEW_LABELS, least=MIN_LABELLED), None)
    return _with_lift(f"hit_at_{k}", Figure(float(np.mean(hits)), len(hits)), float(np.mean(chance)))


def _with_lift(name: str, figure: Figure, chance: float | None) -> dict[str, Figure]:
    """A figure, and how many times what a constant score earns on the same pairs."""
    lift = Figure(None, figure.n, figure.reason or SlateReason(SlateCode.CHANCE_IS_ZERO))
    if figure.value is not None and chance:
        lift = Figure(figure.value / chance, figure.n)
    return {name: figure, f"{name}_lift": lift}


def held_out(ranker: Ranker, labels: Sequence[LabelledPair]) -> dict[str, Figure]:
    """NDCG@K within diseases and AUC over all pairs, on the fifth of the pairs that the ranker was not fitted on."""
    train = [pair for pair in labels if _digest(pair) % 5]
    test = [pair for pair in labels if not _digest(pair) % 5]
    scores = _fit_and_score(ranker, train, test)
    constant = np.zeros(len(test))
    grades = np.asarray([pair.label for pair in test], dtype=np.int64)
    _, disease = np.unique([pair.disease for pair in test], return_inverse=True)
    groups = np.split(np.argsort(disease, kind="stable"), np.cumsum(np.bincount(disease))[:-1])
    graded = mean_of(ndcg(scores[group], grades[group], k=K) for group in groups)
    chance = mean_of(ndcg(constant[group], grades[group], k=K) for group in groups)
    return {**_with_lift(f"ndcg_at_{K}", graded, chance.value), "auc": auc(scores, grades > 0)}


def temporal_auc(ranker: Ranker, labels: Sequence[LabelledPair]) -> Figure:
    """AUC on pairs dated after the cutoff, by a ranker fitted on pairs up to it; also for each later year.

    Negatives often carry no year: half of them, chosen by their names, are learnt from, the others are tested on.
    Positives without a year take no part.
    """
    dated = [pair for pair in labels if pair.year is not None or pair.label == 0]
    test = [pair for pair in dated if _is_later(pair)]
    train = [pair for pair in dated if not _is_later(pair)]
    if not any(pair.label > 0 for pair in test):
        return Figure.undefined(SlateCode.NOTHING_AFTER, len(test), cutoff=CUTOFF)
    scores = _fit_and_score(ranker, train, test)
    positive = np.asarray([pair.label > 0 for pair in test])
    year = np.asarray([pair.year or 0 for pair in test])
    per_year = {}
    for each in sorted({pair.year for pair in test if pair.year is not None}):
        chosen = (year == each) | ((year == 0) & ~positive)
        per_year[str(each)] = auc(scores[chosen], positive[chosen]).value
    return replace(auc(scores, positive), per_year=per_year)


def _is_later(pair: LabelledPair) -> bool:
    """After the cutoff; a pair without a year falls on either side by its names."""
    if pair.year is None:
        return _digest(pair) % 2 == 1
    return pair.year > CUTOFF


def _by_disease(pairs: Sequence[LabelledPair]) -> dict[str, list[LabelledPair]]:
    by_disease: dict[str, list[LabelledPair]] = {}
    for pair in pairs:
        by_disease.setdefault(pair.disease, []).append(pair)
    return by_disease


def _digest(pair: LabelledPair) -> int:
    """A number that depends on the names alone, to divide the pairs the same way on every machine."""
    return int.from_bytes(hashlib.sha256(f"{pair.disease}\0{pair.drug}".encode()).digest()[:8], "big")


def _fit_and_score(ranker: Ranker, train: Sequence[LabelledPair], test: Sequence[LabelledPair]) -> Array:
    _guarded(ranker.fit, train)
    scores: dict[LabelledPair, float] = {}
    for disease, pairs in _by_disease(test).items():
        drugs = [pair.drug for pair in pairs]
        scores.update(zip(pairs, _scores(ranker, disease, drugs).tolist(), strict=True))
    return np.asarray([scores[pair] for pair in test], dtype=np.float64)


def _scores(ranker: Ranker, disease: str, drugs: Sequence[str]) -> Array:
    answer = _guarded(ranker.score, disease, drugs)
    try:
        scores = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise SubjectError(f"the ranker returned {type(answer).__name__} instead of numbers") from None
    if scores.shape != (len(drugs),):
        raise SubjectError(f"the ranker returned {scores.size} scores for {len(drugs)} drugs")
    if np.isnan(scores).any():
        raise SubjectError("the ranker returned NaN; every drug needs a number")
    return scores


def _guarded(call: Callable[..., Any], *given: Any) -> Any:
    try:
        return call(*given)
    except Exception as error:  # whatever the user's model raises is an outage of the model, not of the run
        raise SubjectError(f"the ranker raised {type(error).__name__}: {error}"[:300]) from None


def auc(scores: Array, positive: Array) -> Figure:
    """Probability that a random positive scores above a random negative; a tie counts one half.

    Higher is better, 0.5 is chance. Undefined without pairs, or when all are of one class.
    """
    hits = np.sort(scores[positive])
    misses = np.sort(scores[~positive])
    if not len(hits) or not len(misses):
        return Figure.undefined(SlateCode.ONE_CLASS if len(scores) else SlateCode.NO_PAIR, len(scores))
    below = int(np.searchsorted(misses, hits, side="left").sum())
    not_above = int(np.searchsorted(misses, hits, side="right").sum())
    return Figure((below + not_above) / (2 * len(hits) * len(misses)), len(scores))


def ndcg(scores: Array, labels: Array, *, k: int) -> Figure:
    """DCG@K / ideal DCG@K of one disease, with gain 2^label - 1 and discount 1 / log2(position + 1).

    Higher is better, 1 is a perfect order. Undefined without pairs or without a label above 0.
    """
    size = len(scores)
    reached = np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(2, k + 2))))  # the sum of the first n discounts
    ideal = _discounted(reached, np.bincount(labels, minlength=TOP_GRADE + 1)[::-1], _GAINS[::-1])
    if ideal <= 0.0:
        return Figure.undefined(SlateCode.NO_RELEVANT_PAIR if size else SlateCode.NO_PAIR)
    if size > k:
        within = scores >= np.partition(scores, size - k)[size - k]
        scores = scores[within]
        labels = labels[within]
    _, level, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    average_gain = np.bincount(level, weights=_GAINS[labels]) / counts
    return Figure(_discounted(reached, counts, average_gain) / ideal, size)


def _discounted(reached: Array, counts: Array, gains: Array) -> float:
    """DCG of levels of tied drugs, best first: how many each holds, and their mean gain."""
    ends = np.minimum(np.append(0, np.cumsum(counts)), len(reached) - 1)
    return float(np.diff(reached[ends]) @ gains)


def mean_of(figures: Iterable[Figure]) -> Figure:
    """Unweighted mean over the diseases where a figure is defined."""
    known = list(figures)
    defined = [figure.value for figure in known if figure.value is not None]
    if defined:
        return Figure(float(np.mean(defined)), len(defined))
    if not known:
        return Figure.undefined(SlateCode.NO_PAIR)
    reasons = Counter(str(figure.reason) for figure in known)
    listed = "; ".join(f"{name} ({count} diseases)" for name, count in reasons.items())
    return Figure.undefined(SlateCode.BY_DISEASE, reasons=listed)


def hit(scores: Array, index: int, *, k: int) -> float:
    """Whether the drug at `index` ranks among the first K: 1 or 0, or the share of tied orders in which it does."""
    better = int(np.count_nonzero(scores > scores[index]))
    tied = int(np.count_nonzero(scores == scores[index]))
    return min(1.0, max(0.0, (k - better) / tied))
