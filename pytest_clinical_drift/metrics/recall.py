"""Entity recall and its companions."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest


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


def mean_curve(curves: Iterable[Sequence[float | None]]) -> list[float | None]:
    """Per turn the mean over the curves that have a value there; index 0 is turn 1; None where no curve has one."""
    return [mean(values) for values in zip_longest(*curves)]


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None when there is none."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None
