"""Entity recall and its companions, per turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Status = str
"""One of retained, partial, contradicted, absent."""


def recall(statuses: Sequence[Status]) -> float | None:
    """Recall_t = (retained + partial) / facts; higher is better; None without facts."""
    return _share(statuses, {"retained", "partial"})


def strict_recall(statuses: Sequence[Status]) -> float | None:
    """Facts stated with their whole essential content / facts; higher is better; None without facts."""
    return _share(statuses, {"retained"})


def precision(matching: int, stated: int) -> float | None:
    """Stated entities that match the gold set / stated entities; higher is better; None when nothing was stated."""
    return matching / stated if stated else None


def f1(precision_value: float | None, recall_value: float | None) -> float | None:
    """Harmonic mean of precision and recall; None when either is undefined, 0 when both are 0."""
    if precision_value is None or recall_value is None:
        return None
    total = precision_value + recall_value
    return 2 * precision_value * recall_value / total if total else 0.0


def hallucinated_rate(unsupported: int, stated: int) -> float | None:
    """Stated entities without a source / stated entities; lower is better; None when nothing was stated."""
    return unsupported / stated if stated else None


def mean_curve(curves: Iterable[Sequence[float | None]]) -> list[float | None]:
    """Per turn the mean over the curves that have a value there; index 0 is turn 1; None where no curve has one."""
    curves = list(curves)
    length = max((len(curve) for curve in curves), default=0)
    return [mean(curve[index] for curve in curves if index < len(curve)) for index in range(length)]


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None when there is none."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def _share(statuses: Sequence[Status], counted: set[Status]) -> float | None:
    return sum(status in counted for status in statuses) / len(statuses) if statuses else None
