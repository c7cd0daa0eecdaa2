"""Rates of the whole set, corrected for the judge's own error: shown, and able to worsen a verdict, not to mend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_clinical_drift.metrics.corrected import CorrectedRate, Counted, corrected_rate
from pytest_clinical_drift.metrics.stats import effective_trials
from pytest_clinical_drift.scoring.assessment import CONFIRMED, FactFinding
from pytest_clinical_drift.verdict.case_values import Repeats, pooled_conflict
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.values import CAUTION, FAIL, NOT_EVALUATED, PASS, Basis, Judgement, band_of

_KINDS = {"k_conflict": "conflict", "recall_at_t10": "fact"}
"""Corrected metrics, and the kind of question that each rests on."""


def with_correction(
    judged: Judgement, limits: MetricLimits, complete: Sequence[Repeats], basis: Basis, confidence: float
) -> Judgement:
    """The judgement with the corrected rate beside it.

    CAUTION instead of PASS where the corrected value leaves the pass limit; FAIL where its whole interval lies past the
    fail line.
    """
    kind = _KINDS.get(judged.metric, "")
    error = basis.errors.get(kind)
    if error is None or kind not in basis.deciding or judged.value is None:
        return judged
    upheld, cleared = error
    if basis.reviewers:
        cleared = (cleared[1], cleared[1])  # people have read what was upheld; what was missed stays missed
    corrected = _corrected(judged, complete, upheld, cleared, confidence)
    if corrected is None:
        return judged
    kind_end = corrected.high if limits.direction == "higher" else corrected.low
    verdict = judged.verdict
    if band_of(limits, kind_end) == FAIL:
        verdict = FAIL
    elif verdict == PASS and band_of(limits, corrected.value) != PASS:
        verdict = CAUTION
    shown = f"{corrected.value:.3f} [{corrected.low:.3f}, {corrected.high:.3f}] corrected for the judge's error"
    return replace(judged, verdict=verdict, corrected=corrected, detail=f"{judged.detail}; {shown}")


def _corrected(
    judged: Judgement, complete: Sequence[Repeats], upheld: Counted, cleared: Counted, confidence: float
) -> CorrectedRate | None:
    counts = [_counted(judged.metric, repeats) for repeats in complete]
    hits, asked, whole = (sum(row[column] for row in counts) for column in range(3))
    if not asked or judged.verdict == NOT_EVALUATED or judged.value is None:
        return None
    groups = [repeats[0].group for repeats in complete]
    size = effective_trials([row[0] for row in counts], [row[1] for row in counts], groups, confidence=confidence)
    share = hits / asked
    rate = corrected_rate((share * size, size), sensitivity=upheld, specificity=cleared, confidence=confidence)
    if rate is None or judged.metric == "k_conflict":
        return rate
    # recall: what the judge was asked about shifts, the facts that rules settle stay
    value, low, high = (
        min(1.0, max(0.0, judged.value - (true - share) * asked / whole)) for true in (rate.value, rate.high, rate.low)
    )
    return CorrectedRate(value, low, high)


def _counted(metric: str, repeats: Repeats) -> tuple[int, int, int]:
    """Faults upheld, questions, and all that the rate is a share of."""
    if metric == "k_conflict":
        sure, _, pairs = pooled_conflict([repeats])
        return sure, pairs, pairs
    facts: list[FactFinding] = [
        fact for run in repeats for turn in run.turns[run.horizon - 1 : run.horizon] for fact in turn.findings
    ]
    asked = [fact for fact in facts if fact.alarm is not None]
    return sum(fact.state == CONFIRMED for fact in asked), len(asked), len(facts)
