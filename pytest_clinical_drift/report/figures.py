"""Figures against their limits, as the rows of a page's table."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.report.reasons import rests_on
from pytest_clinical_drift.report.words import interval_text, judged_text, label, shared_reasons, worse_text
from pytest_clinical_drift.verdict.reasons import FigureState
from pytest_clinical_drift.verdict.values import MetricVerdict


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A metric, in words: a number is written with as many digits as its limits ask for."""

    label: str
    value: str
    with_open: str
    """With open alarms counted; empty where that is the same."""
    interval: str
    limit: str
    """Of PASS."""
    verdict: FigureState
    basis: str
    """What it rests on, or why it has no value; empty where many figures share that."""

    @property
    def style(self) -> str:
        """Class of the style sheet."""
        return self.verdict.replace(" ", "-")


def figure_rows(judgements: Sequence[MetricVerdict], *, of_set: bool = False) -> list[FigureRow]:
    """`of_set`: over the set events count cases, within a case they count what else there is."""
    shared = shared_reasons(judgements)
    rows = []
    for item in judgements:
        told = bool(item.reasons) and item.reasons[0] in shared
        row = FigureRow(
            label=label(item.metric),
            value=judged_text(item, of_set=of_set),
            with_open=worse_text(item, of_set=of_set),
            interval=interval_text(item),
            limit=item.limit,
            verdict=item.verdict,
            basis="" if told else rests_on(item),
        )
        rows.append(row)
    return rows
