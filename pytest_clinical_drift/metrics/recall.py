"""Entity recall and its companions, and how fast recall decays: least squares on the turn number or on tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import correlation, fmean, linear_regression

_CONSTANT = 1e-8
"""Values that differ by less are the same, with rounding."""


def recall(statuses: Sequence[str]) -> float | None:
    """Recall_t = (retained + partial) / facts; higher is better; None without facts."""
    return ratio(sum(status in ("retained", "partial") for status in statuses), len(statuses))


def strict_recall(statuses: Sequence[str]) -> float | None:
    """Facts stated with their whole essential content / facts; higher is better; None without facts."""
    return ratio(statuses.count("retained"), len(statuses))


def ratio(counted: int, of: int) -> float | None:
    """A share, such as precision, hallucinated entities or K_Conflict; None when nothing was evaluated."""
    return counted / of if of else None


def f1(precision_value: float | None, recall_value: float | None) -> float | None:
    """Harmonic mean of precision and recall; None when either is undefined, 0 when both are 0."""
    if precision_value is None or recall_value is None:
        return None
    total = precision_value + recall_value
    return 2 * precision_value * recall_value / total if total else 0.0


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None when there is none."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def mean_curve(curves: Iterable[Sequence[float | None]]) -> list[float | None]:
    """Per turn the mean over the curves that have a value there; index 0 is turn 1; None where no curve has one."""
    return [mean(values) for values in zip_longest(*curves)]


@dataclass(frozen=True, slots=True)
class SlopeFit:
    """Recall_t = alpha + beta * t, fitted over the turns that have a value."""

    slope: float
    """beta: change of recall per turn; negative is decay."""
    intercept: float
    """alpha."""
    r_squared: float | None
    """Share of the variance that the line explains; None for a constant curve, where there is none to explain."""
    points: int


def fit_slope(curve: Sequence[float | None], places: Sequence[float | None] | None = None) -> SlopeFit | None:
    """Fit the line by least squares; index 0 is turn 1 unless `places` says where the values lie.

    What has no value or place is left out, the others keep theirs; None below two different places.
    """
    at = range(1, len(curve) + 1) if places is None else places
    points = [(p, value) for value, p in zip(curve, at, strict=True) if p is not None and value is not None]
    known = [float(place) for place, _ in points]
    values = [value for _, value in points]
    if len(set(known)) < 2:
        return None
    if max(values) - min(values) < _CONSTANT:
        return SlopeFit(0.0, fmean(values), None, len(points))
    slope, intercept = linear_regression(known, values)
    return SlopeFit(slope, intercept, correlation(known, values) ** 2, len(points))


def compute_drift_slope(curve: Sequence[float | None]) -> float | None:
    """Drift slope beta (truth decay rate) of a recall curve; None below two points; a None keeps its turn."""
    fit = fit_slope(curve)
    return None if fit is None else fit.slope


def token_decay_rate(curve: Sequence[float | None], context_tokens: Sequence[int | None]) -> float | None:
    """Token-normalised truth decay rate: change of recall per 1,000 tokens of context, by least squares.

    `context_tokens` holds the tokens that the model had to read for the summary of each turn; negative is decay. None
    below two turns with both values, and where the context did not grow.
    """
    fit = fit_slope(curve, [None if tokens is None else tokens / 1000 for tokens in context_tokens])
    return None if fit is None else fit.slope


def steepest_slope(turns: int) -> float:
    """The most negative slope that so many recall values between 0 and 1 can have: 1 for the first half, then 0."""
    return compute_drift_slope([float(turn <= turns / 2) for turn in range(1, turns + 1)]) or 0.0
