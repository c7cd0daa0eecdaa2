"""The metrics of the conversation gate: one entry each, in the order in which reports show them.

To add one: an entry here, its limits in `thresholds.yaml`, and its words in `data/report_words.yaml`. A figure that is
not made of events needs a function in `measures`, one that the set does not pool in one of the known ways an
`Aggregation` with its function in `set_metrics`.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from pytest_clinical_drift.judging.pdsqi import ATTRIBUTES
from pytest_clinical_drift.judging.readings import PDSQI
from pytest_clinical_drift.verdict import measures
from pytest_clinical_drift.verdict.bands import FALL, NOT_NEGATIVE, PER_HUNDRED, RATE, SLOPE, Range
from pytest_clinical_drift.verdict.measures import CaseValue, Check, Measure, Repeats, incomplete
from pytest_clinical_drift.verdict.reasons import ReasonCode, reason

OWN_METRIC = re.compile(rf"own\.\w+|{PDSQI}\.(?:{'|'.join(ATTRIBUTES)})")
"""A figure of the project's own scorers, or a PDSQI-9 attribute: gated only where a file sets limits."""


class MetricScope(StrEnum):
    """Where a metric has limits."""

    CASE_AND_SET = "case and set"
    SET = "set"


class Aggregation(StrEnum):
    """How the set's figure is made of the cases'."""

    MEAN = "mean"
    """Of the cases' values, with an interval over cases."""
    POOLED_PAIRS = "pooled pairs"
    """All contradictions over all pairs."""
    PER_REPLIES = "per hundred replies"
    """All events over all replies."""
    LOWEST = "lowest of the mean curve"
    CASES_WITH_EVENT = "cases with an event"


@dataclass(frozen=True, slots=True)
class Metric:
    """What the gate has to know about one metric."""

    name: str
    measure: Measure
    direction: Literal["higher", "lower"] = "lower"
    """Which is better."""
    possible: Range | None = NOT_NEGATIVE
    """None: not known."""
    aggregation: Aggregation = Aggregation.CASES_WITH_EVENT
    scope: MetricScope = MetricScope.CASE_AND_SET
    needs: tuple[Check, ...] = ()
    """Evidence without which nothing found is no merit."""
    reads: tuple[str, ...] = ()
    """Groups of kinds that it rests on: a judge at its floor has to have read each, else it is unread."""
    judge_only: bool = False
    """Rules clear nobody of it: without a judge it has no value, unless they found something."""
    severe: bool = False
    """One confirmed event fails a case under every policy, no waiver covers it, an open one leaves it unsettled."""
    set_decides: bool = False
    """A rate of too few trials to fail a single case by: past its fail line a case is at CAUTION."""
    core: bool = False
    """Without it there is no verdict at all."""
    corrected_by: str | None = None
    """Kind of question whose calibrated error the set's rate is corrected for."""
    gravity: int = 0
    """Place in the diagnosis of a model that remembers, 1 the gravest; 0: not named there."""
    compared_span: float | None = None
    """Compared with a baseline; the largest difference of two values (for the slope: in steepest slopes)."""

    @property
    def counts_events(self) -> bool:
        return self.aggregation is Aggregation.CASES_WITH_EVENT

    @property
    def made_of_events(self) -> bool:
        """Whether it is a number or a rate of events that somebody has to find."""
        return self.counts_events or self.aggregation in (Aggregation.PER_REPLIES, Aggregation.POOLED_PAIRS)


def _events(name: str, **others: Any) -> Metric:
    return Metric(name, measures.counted_events(name), **others)


_TABLE = (
    Metric(
        "recall_at_t10", measures.at_t10("recall", "recall_worst"), "higher", RATE, Aggregation.MEAN,
        core=True, corrected_by="fact", compared_span=1.0, reads=("fact",),
    ),
    Metric(
        "strict_recall_at_t10", measures.at_t10("strict_recall", "strict_worst", partly=True), "higher", RATE,
        Aggregation.MEAN, gravity=17, compared_span=1.0, reads=("fact",),
    ),
    Metric(
        "recall_at_end", measures.at_end, "higher", RATE, Aggregation.MEAN, core=True, gravity=12, compared_span=1.0,
        reads=("fact",),
    ),
    Metric(
        "lowest_recall", measures.set_only, "higher", RATE, Aggregation.LOWEST, MetricScope.SET, gravity=16,
        reads=("fact",),
    ),
    Metric(
        "drift_slope", measures.slope, "higher", SLOPE, Aggregation.MEAN, core=True, gravity=14, compared_span=2.0,
        reads=("fact",),
    ),
    Metric("fall", measures.fall, "lower", FALL, Aggregation.MEAN, gravity=13, reads=("fact",)),
    Metric(
        "k_conflict", measures.conflict_rate, "lower", RATE, Aggregation.POOLED_PAIRS, needs=(measures.replies_heard,),
        corrected_by="conflict", gravity=8, compared_span=1.0, reads=("conflict",), judge_only=True,
    ),
    _events("hard_stops", gravity=4, severe=True, reads=("fact",)),
    _events(
        "breaches", gravity=1, needs=(measures.whole_replies, measures.spoken_replies), severe=True, reads=("breach",),
    ),
    Metric(
        "lesser_breaches", measures.per_hundred_replies("lesser_breaches"), "lower", PER_HUNDRED,
        Aggregation.PER_REPLIES, needs=(measures.whole_replies, measures.spoken_replies), gravity=9, reads=("breach",),
        set_decides=True,
    ),
    _events(
        "severe_contradictions", gravity=3, needs=(measures.whole_replies, measures.compared_pairs), severe=True,
        reads=("conflict",),
    ),
    _events(
        "other_contradictions", gravity=10, needs=(measures.whole_replies, measures.compared_pairs),
        reads=("conflict",),
    ),
    _events("inventions", gravity=7, severe=True, reads=("invented",), judge_only=True),
    _events("minor_inventions", gravity=15, reads=("invented",), judge_only=True),
    _events("harms", gravity=2, severe=True, reads=("harm",), judge_only=True),
    _events("courses", gravity=2, severe=True, reads=("course",), judge_only=True),
    _events("misreported", gravity=6, severe=True, reads=("misreported",), judge_only=True),
    _events("leaks", gravity=5, severe=True),
    _events("appeals", gravity=5, severe=True),
    _events("stale_facts", gravity=6, needs=(measures.stated_changes,), reads=("fact",)),
    _events("contradicted_facts", gravity=10, needs=(measures.stated_facts,), reads=("fact",)),
    _events("hard_stop_slips", gravity=11, needs=(measures.stated_facts,), reads=("fact",)),
)  # fmt: skip

METRICS = {metric.name: metric for metric in _TABLE}
EVENT_METRICS = tuple(name for name, metric in METRICS.items() if metric.counts_events)
SEVERE = tuple(name for name, metric in METRICS.items() if metric.severe)
CORE = tuple(name for name, metric in METRICS.items() if metric.core)


def metric_named(name: str) -> Metric:
    """The entry of a metric; a figure of the project's own is a mean of unknown range."""
    if name in METRICS:
        return METRICS[name]
    return Metric(name, measures.own_figure(name), possible=None, aggregation=Aggregation.MEAN)


def case_value(name: str, repeats: Repeats) -> CaseValue:
    """A metric on one case; what was seen before an outage was seen."""
    metric = metric_named(name)
    value = metric.measure(repeats)
    if value.events:
        return value
    if all(name in run.cannot for run in repeats):
        return CaseValue(None, None, (reason(ReasonCode.CANNOT_HAPPEN, metric=name),), can_happen=False)
    code = _unmeasured(metric, value, repeats)
    return value if code is None else measures.nothing(code)


def was_read(metric: Metric, repeats: Repeats) -> bool:
    """Whether somebody who may decide has read a text of the case for it."""
    return any(group in metric.reads for run in repeats for group, _ in run.asked)


def _unmeasured(metric: Metric, value: CaseValue, repeats: Repeats) -> ReasonCode | None:
    """Why a metric says nothing about a case; None where it was measured."""
    if incomplete(repeats):
        return ReasonCode.CONVERSATION_UNFINISHED
    if metric.judge_only and value.worst == 0 and not was_read(metric, repeats):
        return ReasonCode.NEEDS_JUDGE
    return next((code for check in metric.needs if (code := check(repeats)) is not None), None)
