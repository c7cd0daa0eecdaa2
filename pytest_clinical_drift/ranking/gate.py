"""From a slate's figures and limits to PASS, CAUTION, FAIL or not evaluated. What was not observed never passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_clinical_drift.ranking.figure_types import Figure, SlateCode, SlateReason
from pytest_clinical_drift.ranking.prospective import ALL, ViewFigures
from pytest_clinical_drift.report.words import limit_numbers, rounded
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.slate_limits import PRIMARY, TIERS
from pytest_clinical_drift.verdict.states import FigureState, Verdict


@dataclass(frozen=True, slots=True)
class SlateJudgement:
    metric: str
    verdict: FigureState
    figure: Figure
    limit: str = ""
    detail: SlateReason | None = None
    """Why it is not evaluated, or why a good value is not enough."""
    per_year: Mapping[str, float | None] = field(default_factory=dict)
    """Figures by year, of the temporal metric."""

    @classmethod
    def not_evaluated(cls, metric: str, code: SlateCode, limit: str = "") -> SlateJudgement:
        figure = Figure.undefined(code)
        return cls(metric, FigureState.NOT_EVALUATED, figure, limit, figure.reason)

    def __str__(self) -> str:
        if self.figure.value is None:
            return f"{self.metric} {FigureState.NOT_EVALUATED}: {self.detail}"
        interval = self.figure.interval
        held = limit_numbers(self.limit)
        shown = f" [{rounded(interval.low, '.3f', held)}, {rounded(interval.high, '.3f', held)}]" if interval else ""
        limit = f" against {self.limit}" if self.limit else ""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.metric} {rounded(self.figure.value, '.3f', held)}{shown}{limit}{detail}"


@dataclass(frozen=True, slots=True)
class SlateVerdict:
    verdict: str
    reasons: tuple[SlateReason | SlateJudgement, ...]
    """The decisive ones first; `str()` gives the sentence of each."""


def slate_figure(figures: ViewFigures, metric: str) -> Figure:
    name, _, tier = metric.rpartition("_")
    if tier not in TIERS:
        name, tier = metric, ALL
    cell = figures.tiers.get(tier)
    if cell is None:
        return Figure.undefined(SlateCode.NO_TIER, tier=tier)
    return cell.figures.get(name, Figure.undefined(SlateCode.TIER_ONLY, metric=name))


def judge_prospective(figures: ViewFigures, metric: str, limits: MetricLimits, *, followed: bool) -> SlateJudgement:
    """Judge one prospective metric; as long as nothing prospective was observed anywhere, there is nothing to judge."""
    if not figures.observed:
        return SlateJudgement.not_evaluated(metric, SlateCode.NOTHING_OBSERVED, str(limits.pass_limit))
    judged = judge(metric, slate_figure(figures, metric), limits, needs_interval=True)
    if judged.verdict == FigureState.PASS and metric.startswith("enrichment_vs_popularity") and not followed:
        return SlateJudgement(metric, FigureState.CAUTION, judged.figure, judged.limit, SlateReason(SlateCode.INFLATED))
    return judged


def judge(metric: str, figure: Figure, limits: MetricLimits, *, needs_interval: bool) -> SlateJudgement:
    """By the value; a PASS is held back where the interval reaches past the pass limit, or where there is none."""
    if figure.value is None:
        return SlateJudgement(metric, FigureState.NOT_EVALUATED, figure, str(limits.pass_limit), figure.reason)
    band = limits.band(figure.value)
    limit = str(limits.caution_limit if band == FigureState.FAIL else limits.pass_limit)
    if band == FigureState.PASS and needs_interval and (doubt := _doubt(figure, limits)):
        return SlateJudgement(metric, FigureState.CAUTION, figure, limit, doubt)
    return SlateJudgement(metric, band, figure, limit)


def _doubt(figure: Figure, limits: MetricLimits) -> SlateReason | None:
    interval = figure.interval
    if interval is None:
        return SlateReason(SlateCode.NO_INTERVAL)
    worst = interval.low if limits.direction == "higher" else interval.high
    if not limits.pass_limit.holds(worst):
        return SlateReason(SlateCode.INTERVAL_REACHES, {"limit": str(limits.pass_limit)})
    return None if interval.high > interval.low else SlateReason(SlateCode.ZERO_WIDTH)


def judge_slate(
    judgements: Sequence[SlateJudgement],
    integrity: Sequence[SlateReason],
    *,
    proven: bool,
    expected: Mapping[str, object],
) -> SlateVerdict:
    """The worst of what was evaluated. FAIL for a changed slate; not evaluated without the primary figure.

    `integrity` holds the differences from what was frozen; `proven` tells whether there was a hash to compare with.
    """
    if integrity:
        return SlateVerdict(FigureState.FAIL, tuple(integrity))
    failed, doubtful, missing = (
        [item for item in judgements if item.verdict == state]
        for state in (FigureState.FAIL, FigureState.CAUTION, FigureState.NOT_EVALUATED)
    )
    if failed:
        return SlateVerdict(FigureState.FAIL, (*failed, *doubtful))
    primary = next((item for item in judgements if item.metric == PRIMARY), None)
    if PRIMARY in expected and (primary is None or primary.verdict == FigureState.NOT_EVALUATED):
        reason = primary.detail if primary is not None else None
        return SlateVerdict(
            FigureState.NOT_EVALUATED, (reason or SlateReason(SlateCode.NOT_RUN, {"metric": PRIMARY}), *doubtful)
        )
    reasons = (*doubtful, *missing, *(() if proven else (SlateReason(SlateCode.UNPROVEN),)))
    return SlateVerdict(FigureState.CAUTION if reasons else FigureState.PASS, reasons)


def exit_code(verdicts: Iterable[str], *, failed: bool, incomplete: bool) -> int:
    """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but something could not be evaluated, 7 neither but a part of the tests."""
    present = set(verdicts)
    if failed or FigureState.FAIL in present:
        return 1
    if incomplete or FigureState.NOT_EVALUATED in present:
        return 6
    return 7 if Verdict.PARTIAL in present else 0
