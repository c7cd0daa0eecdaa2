"""A rate of the set, corrected for the judge's own error as calibration counted it."""

from collections.abc import Sequence
from dataclasses import replace

from pytest_clinical_drift.metrics.agreement import CorrectedRate, Counted, corrected_rate
from pytest_clinical_drift.metrics.intervals import effective_trials
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.measures import Repeats, pooled_conflict
from pytest_clinical_drift.verdict.metric_table import Metric
from pytest_clinical_drift.verdict.reasons import ReasonCode, reason
from pytest_clinical_drift.verdict.states import FigureState
from pytest_clinical_drift.verdict.values import Deciders, MetricVerdict


def with_correction(
    judged: MetricVerdict,
    metric: Metric,
    limits: MetricLimits,
    complete: Sequence[Repeats],
    confidence: float,
    deciders: Deciders,
) -> MetricVerdict:
    """The judgement with the corrected rate beside it.

    CAUTION instead of PASS where the corrected value leaves the pass limit; FAIL where its whole interval lies past the
    fail line.
    """
    kind = metric.corrected_by or ""
    error = deciders.errors.get(kind)
    if error is None or kind not in deciders.deciding:
        return judged
    upheld, cleared = error
    if deciders.reviewers:
        cleared = (cleared[1], cleared[1])  # people have read what was upheld; what was missed stays missed
    corrected = _corrected(judged, complete, confidence, upheld, cleared)
    if corrected is None:
        return judged
    kind_end = corrected.high if limits.direction == "higher" else corrected.low
    state = judged.verdict
    if limits.band(kind_end) == FigureState.FAIL:
        state = FigureState.FAIL
    elif state == FigureState.PASS and limits.band(corrected.value) != FigureState.PASS:
        state = FigureState.CAUTION
    shown = reason(ReasonCode.CORRECTED, value=corrected.value, low=corrected.low, high=corrected.high)
    return replace(judged, verdict=state, corrected=corrected, reasons=(*judged.reasons, shown))


def _corrected(
    judged: MetricVerdict, complete: Sequence[Repeats], confidence: float, upheld: Counted, cleared: Counted
) -> CorrectedRate | None:
    counts = [_asked_of(judged.metric, repeats) for repeats in complete]
    hits, asked = [row[0] for row in counts], [row[1] for row in counts]
    if not sum(asked) or judged.value is None:
        return None
    groups = [repeats[0].group for repeats in complete]
    size, share = effective_trials(hits, asked, groups, confidence=confidence), sum(hits) / sum(asked)
    rate = corrected_rate((share * size, size), sensitivity=upheld, specificity=cleared, confidence=confidence)
    if rate is None or judged.metric == "k_conflict":
        return rate
    # recall is the share of facts that are not lost or wrong
    value, low, high = (min(1.0, max(0.0, judged.value - (true - share))) for true in (rate.value, rate.high, rate.low))
    return CorrectedRate(value, low, high)


def _asked_of(metric: str, repeats: Repeats) -> tuple[int, int]:
    """Faults upheld, and all that the rate is a share of."""
    if metric == "k_conflict":
        confirmed, _, pairs = pooled_conflict([repeats])
        return confirmed, pairs
    facts = [fact for run in repeats for turn in run.turns[run.horizon - 1 : run.horizon] for fact in turn.findings]
    return sum(fact.state == AlarmState.CONFIRMED for fact in facts), len(facts)
