"""Figures as every report writes them: with their unit, and with both ends where open alarms make two."""

from collections import Counter
from collections.abc import Sequence

from pytest_clinical_drift.report.words import counted, limit_numbers, number, span, words
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.metric_table import metric_named
from pytest_clinical_drift.verdict.reasons import Reason
from pytest_clinical_drift.verdict.states import FigureState
from pytest_clinical_drift.verdict.values import MetricVerdict


def is_unread_zero(item: MetricVerdict) -> bool:
    """Whether a count of events is 0 only because nobody who may decide has read for it: no 0 was measured."""
    return item.verdict == FigureState.UNREAD and item.value == 0 and metric_named(item.metric).made_of_events


def judged_text(item: MetricVerdict, *, of_set: bool = False) -> str:
    """A judgement's value; the word for having none where it has none, or nobody has read for it."""
    return str(item.verdict) if item.value is None or is_unread_zero(item) else _bounded(item, item.value, of_set)


def breaches_read(result: RunResult) -> bool:
    """Whether somebody who may decide has read replies for broken demands: rules alone confirm none."""
    return "breach" in result.deciders.deciding or bool(result.deciders.reviewers)


def worse_text(item: MetricVerdict, *, of_set: bool = False) -> str:
    """The value with open alarms counted against the model; empty where it is the same."""
    return "" if item.worst is None or item.worst == item.value else _bounded(item, item.worst, of_set)


def _bounded(item: MetricVerdict, value: float, of_set: bool) -> str:
    """A metric's value: over the set events count cases, within a case they count facts or what else there is."""
    shown = number(item.metric, value, limit_values(item))
    if metric_named(item.metric).counts_events:
        shown = counted(value, "case" if of_set else words("metrics")[item.metric].get("unit", "fact"))
    return f"at least {shown}" if item.at_least else shown


def limit_values(item: MetricVerdict | None) -> list[float]:
    """The numbers of a judgement's limits, on whose right side every figure has to be seen."""
    return limit_numbers(item.limit, item.caution) if item else []


def shared_reasons(judgements: Sequence[MetricVerdict]) -> list[Reason]:
    """Reasons for having no figure that more than two metrics have: told once, below the table."""
    missing = [item.reasons[0] for item in judgements if item.value is None and item.reasons]
    counts = Counter(reason.code for reason in missing)
    by_code = {reason.code: reason for reason in reversed(missing) if not reason.values}
    return [by_code[code] for code in counts if counts[code] > 2 and code in by_code]


def interval_text(item: MetricVerdict) -> str:
    """A judgement's interval; empty where it has none, or nobody has read for the figure."""
    if item.interval is None or is_unread_zero(item):
        return ""
    return span(item.interval.low, item.interval.high, ".3f", limit_values(item))
