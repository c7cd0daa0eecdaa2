"""Figures against their limits, as a table of the terminal."""

from collections.abc import Collection, Sequence

from pytest_clinical_drift.report.layout import fill, table_lines
from pytest_clinical_drift.report.reasons import rests_on, shared_lines
from pytest_clinical_drift.report.words import interval_text, judged_text, label, shared_reasons, worse_text
from pytest_clinical_drift.verdict.reasons import Reason
from pytest_clinical_drift.verdict.values import MetricVerdict

_WIDE = 110
"""Columns from which on the interval has one of its own."""


def figure_table(judgements: Sequence[MetricVerdict], width: int, *, of_set: bool = False) -> list[str]:
    """Metric, value at both ends, interval, limit of PASS and verdict, aligned; what else is to say wraps.

    In a narrow window the interval moves to what wraps.
    """
    shared = shared_reasons(judgements)
    rows = []
    for item in judgements:
        interval = interval_text(item)
        moved = f"interval {interval}" if interval and width < _WIDE else ""
        detail = _detail(item, shared, of_set=of_set)
        rows.append(
            (
                label(item.metric),
                judged_text(item, of_set=of_set),
                worse_text(item, of_set=of_set),
                "" if moved else interval,
                item.limit,
                str(item.verdict),
                "; ".join(filter(None, (moved, detail))),
            )
        )
    first = "set" if of_set else "metric"
    last = "basis" if of_set else ""
    headers = (first, "value", "with open", "95 % interval", "PASS limit", "verdict", last)
    return table_lines(rows, headers, width) + [fill(line, width) for line in shared_lines(judgements)]


def _detail(item: MetricVerdict, shared: Collection[Reason], *, of_set: bool) -> str:
    """What a figure rests on, unless many share it; within a case only where it needs explaining."""
    explained = of_set or item.metric == "k_conflict" or item.value is None
    if not explained or any(reason in shared for reason in item.reasons):
        return ""
    return rests_on(item)
