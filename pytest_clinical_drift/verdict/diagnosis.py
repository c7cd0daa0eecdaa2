"""Why recall is low, if it is: forgetting, or contradiction; or what else is wrong."""

from collections.abc import Iterable, Sequence

from pytest_clinical_drift.scoring.assessment import AlarmKind, AlarmState
from pytest_clinical_drift.verdict.metric_table import METRICS
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import MetricVerdict

_GRAVEST_FIRST = tuple(sorted((m.name for m in METRICS.values() if m.gravity), key=lambda name: METRICS[name].gravity))
"""What is wrong with a model that remembers, by what was confirmed or lies outside its limit."""

_RECALL = ("recall_at_t10", "recall_at_end")
"""Low at turn 10 or at the end, recall is low."""


def diagnose(judgements: Sequence[MetricVerdict], seen: Iterable[MetricVerdict], thresholds: Thresholds) -> Reason:
    """The gravest thing that is wrong.

    `seen` are the judgements of every case, also of those that were not run to the end. Stable is only what has nothing
    confirmed, and says so where something is open or was not evaluated.
    """
    limits, values = thresholds.metrics, {item.metric: item.value for item in judgements}
    missed = {name for name, value in values.items() if value is not None and not limits[name].pass_limit.holds(value)}
    events = [event for item in seen for event in item.events]
    confirmed = {event.metric for event in events if event.state == AlarmState.CONFIRMED} | missed
    wrong = next((metric for metric in _GRAVEST_FIRST if metric in confirmed), None)
    if missed and wrong is None:  # a figure of the project's own
        wrong = min(missed)
    if all(values.get(name) is None for name in _RECALL):
        if wrong is None:
            return reason(ReasonCode.NOTHING_TO_DIAGNOSE)
        return reason(ReasonCode.RECALL_NOT_EVALUATED, metric=wrong)
    evaluated = not ("k_conflict" in values and values["k_conflict"] is None)
    if not missed.isdisjoint(_RECALL):
        kinds = [
            event.kind
            for event in events
            if event.state == AlarmState.CONFIRMED and event.metric in ("hard_stops", "contradicted_facts")
        ]
        if evaluated and "k_conflict" in missed:
            return reason(ReasonCode.ACTIVE_CONTRADICTION)
        # whoever denies more than is missing has not passively forgotten
        denies = kinds.count(AlarmKind.CONTRADICTED) > kinds.count(AlarmKind.LOST)
        return reason(ReasonCode.CONTRADICTS_FACTS if denies else ReasonCode.FORGETTING, advice_evaluated=evaluated)
    if wrong is not None:
        return reason(ReasonCode.REMEMBERS_BUT, metric=wrong)
    waiting = len(events) > 0 or any(item.worst not in (None, item.value) for item in judgements)
    return reason(ReasonCode.STABLE, open=waiting, advice_evaluated=evaluated)
