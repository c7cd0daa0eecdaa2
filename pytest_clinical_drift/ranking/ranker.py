"""A ranking model under test: the interface it offers, and how it does on labelled pairs that it must not have seen."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.errors import InputError, SubjectError
from pytest_clinical_drift.ranking.figure import Figure
from pytest_clinical_drift.ranking.labels import LabelledPair
from pytest_clinical_drift.ranking.retrospective import TOP_GRADE, auc, hit, ndcg, order_by_group

K = 50
CUTOFF = 2015
"""Temporal AUC: trained on pairs up to this year, tested on later ones."""
MIN_LABELLED = 10
"""Leave-one-out looks at diseases with at least this many labelled pairs."""
NO_LABELS = "the slate has no labels"


class Ranker(Protocol):
    """What `python:module:factory` must return. Names come in lower case."""

    def fit(self, pairs: Sequence[LabelledPair]) -> None:
        """Forget everything learnt so far and learn from exactly these pairs."""
        ...

    def score(self, disease: str, drugs: Sequence[str]) -> Sequence[float]:
        """One number per drug, higher is better."""
        ...


@runtime_checkable
class Rescorer(Protocol):
    """A ranker that can leave one pair out without being fitted anew."""

    def score_without(self, disease: str, drugs: Sequence[str], hidden: str) -> Sequence[float]:
        """Scores as if the hidden drug had never been labelled for this disease."""
        ...


@dataclass(frozen=True, slots=True)
class RankerFigures:
    """One retrospective metric of a ranker."""

    value: Figure
    chance: Figure
    """What a constant score earns on the same pairs."""
    per_year: dict[int, Figure]
    """For the temporal metric."""

    @property
    def lift(self) -> Figure:
        """Value over chance."""
        if self.value.value is None or not self.chance.value:
            return Figure.undefined(self.value.reason or "chance earns nothing here", self.value.n)
        return Figure(self.value.value / self.chance.value, self.value.n)


def load_ranker(spec: str) -> Ranker:
    """Import `python:module:factory` and call it; InputError in one sentence when that cannot work."""
    kind, _, target = spec.partition(":")
    module_name, _, factory_name = target.rpartition(":")
    if kind != "python" or not module_name or not factory_name:
        raise InputError(f"--model {spec}: with --slate the model is a ranker, written python:module:factory")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        factory: Callable[[], Any] = getattr(importlib.import_module(module_name), factory_name)
    except ImportError as error:
        raise InputError(f"--model {spec}: cannot import {module_name} ({error})") from None
    except AttributeError:
        raise InputError(f"--model {spec}: the module {module_name} has no {factory_name}") from None
    try:
        ranker = factory()
    except Exception as error:
        raise InputError(f"--model {spec}: the factory raised {type(error).__name__}: {error}") from None
    if not all(callable(getattr(ranker, name, None)) for name in ("fit", "score")):
        raise InputError(f"--model {spec}: the factory returned {type(ranker).__name__}, which lacks fit and score")
    found: Ranker = ranker
    return found


def leave_one_out(
    ranker: Ranker, labels: Sequence[LabelledPair], drugs: Sequence[str], *, k: int = K, least: int = MIN_LABELLED
) -> RankerFigures:
    """Hit@K: each approved pair hidden in turn, all drugs of the disease scored again; trials hit / trials.

    Diseases with at least `least` labelled pairs. Chance is K / number of drugs. Undefined without a trial.
    """
    by_disease: dict[str, list[LabelledPair]] = {}
    for pair in labels:
        by_disease.setdefault(pair.disease, []).append(pair)
    hits: list[float] = []
    chance: list[float] = []
    for pairs in by_disease.values():
        if len(pairs) < least:
            continue
        ranked = sorted({*drugs, *(pair.drug for pair in pairs)})
        for hidden in (pair for pair in pairs if pair.label == TOP_GRADE):
            scores = _score_without(ranker, labels, hidden, ranked)
            hits.append(hit(scores, ranked.index(hidden.drug), k=k))
            chance.append(min(1.0, k / len(ranked)))
    if not hits:
        nothing = Figure.undefined(f"no disease has {least} labelled pairs with an approved drug among them")
        return RankerFigures(nothing, nothing, {})
    return RankerFigures(Figure(float(np.mean(hits)), len(hits)), Figure(float(np.mean(chance)), len(hits)), {})


def held_out(ranker: Ranker, labels: Sequence[LabelledPair], *, k: int = K) -> dict[str, RankerFigures]:
    """NDCG@K within diseases and AUC over all pairs, on the fifth of the pairs that the ranker was not fitted on."""
    train = [pair for pair in labels if _fifth(pair) != 0]
    test = [pair for pair in labels if _fifth(pair) == 0]
    scores = _fit_and_score(ranker, train, test)
    names = {name: index for index, name in enumerate(sorted({pair.disease for pair in test}))}
    groups = np.asarray([names[pair.disease] for pair in test], dtype=np.int64)
    grades = np.asarray([pair.label for pair in test], dtype=np.int64)
    order, bounds = order_by_group(groups, len(names))
    constant = np.zeros(len(test))
    return {
        f"ndcg_at_{k}": RankerFigures(
            ndcg(scores[order], grades[order], bounds, k=k).mean,
            ndcg(constant, grades[order], bounds, k=k).mean,
            {},
        ),
        "auc": RankerFigures(auc(scores, grades > 0), Figure(0.5, len(test)), {}),
    }


def temporal_auc(ranker: Ranker, labels: Sequence[LabelledPair], *, cutoff: int = CUTOFF) -> RankerFigures:
    """AUC on pairs dated after the cutoff, by a ranker fitted on pairs up to it; also for each later year.

    Negatives often carry no year: half of them, chosen by their names, are learnt from, the others are tested on.
    Positives without a year take no part.
    """
    train = [pair for pair in labels if _is_early(pair, cutoff)]
    test = [pair for pair in labels if _is_late(pair, cutoff)]
    if not any(pair.label > 0 for pair in test):
        nothing = Figure.undefined(f"no positive pair is dated after {cutoff}", len(test))
        return RankerFigures(nothing, Figure(0.5, len(test)), {})
    scores = _fit_and_score(ranker, train, test)
    positive = np.asarray([pair.label > 0 for pair in test])
    year = np.asarray([pair.year or 0 for pair in test])
    per_year = {}
    for each in sorted({pair.year for pair in test if pair.year is not None}):
        chosen = (year == each) | ((year == 0) & ~positive)
        per_year[each] = auc(scores[chosen], positive[chosen])
    return RankerFigures(auc(scores, positive), Figure(0.5, len(test)), per_year)


def _is_early(pair: LabelledPair, cutoff: int) -> bool:
    if pair.year is not None:
        return pair.year <= cutoff
    return pair.label == 0 and _digest(pair) % 2 == 0


def _is_late(pair: LabelledPair, cutoff: int) -> bool:
    if pair.year is not None:
        return pair.year > cutoff
    return pair.label == 0 and _digest(pair) % 2 == 1


def _digest(pair: LabelledPair) -> int:
    return int.from_bytes(hashlib.sha256(f"{pair.disease}\0{pair.drug}".encode()).digest()[:8], "big")


def _fifth(pair: LabelledPair) -> int:
    return _digest(pair) % 5


def _score_without(
    ranker: Ranker, labels: Sequence[LabelledPair], hidden: LabelledPair, drugs: Sequence[str]
) -> npt.NDArray[np.float64]:
    if isinstance(ranker, Rescorer):
        return _checked(lambda: ranker.score_without(hidden.disease, drugs, hidden.drug), len(drugs))
    _guarded(lambda: ranker.fit([pair for pair in labels if pair is not hidden]))
    return _checked(lambda: ranker.score(hidden.disease, drugs), len(drugs))


def _fit_and_score(
    ranker: Ranker, train: Sequence[LabelledPair], test: Sequence[LabelledPair]
) -> npt.NDArray[np.float64]:
    _guarded(lambda: ranker.fit(train))
    scores = np.empty(len(test))
    rows: dict[str, list[int]] = {}
    for row, pair in enumerate(test):
        rows.setdefault(pair.disease, []).append(row)
    for disease, chosen in rows.items():
        drugs = [test[row].drug for row in chosen]
        scores[chosen] = _checked(lambda disease=disease, drugs=drugs: ranker.score(disease, drugs), len(drugs))  # type: ignore[misc]
    return scores


def _checked(call: Callable[[], Sequence[float]], count: int) -> npt.NDArray[np.float64]:
    answer = _guarded(call)
    try:
        scores = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise SubjectError(f"the ranker returned {type(answer).__name__} instead of numbers") from None
    if scores.shape != (count,):
        raise SubjectError(f"the ranker returned {scores.size} scores for {count} drugs")
    if np.isnan(scores).any():
        raise SubjectError("the ranker returned NaN; every drug needs a number")
    return scores


def _guarded(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # whatever the user's model raises is an outage of the model, not of the run
        raise SubjectError(f"the ranker raised {type(error).__name__}: {error}"[:300]) from None
