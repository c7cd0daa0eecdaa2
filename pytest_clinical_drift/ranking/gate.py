"""From a slate's figures and limits to PASS, CAUTION, FAIL or not evaluated. What was not observed never passes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from pytest_clinical_drift.ranking.figures import Figure, SlateCode, SlateReason
from pytest_clinical_drift.ranking.prospective import ALL, ViewFigures
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.slate_limits import PRIMARY, TIERS
from pytest_clinical_drift.verdict.states import FigureState, Verdict

INTEGRITY = "integrity"
"""The test that compares a slate with what was frozen."""


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
    def not_evaluated(cls, metric: str, code: SlateCode, limit: str = "") -> Self:
        figure = Figure.undefined(code)
        return cls(metric, FigureState.NOT_EVALUATED, figure, limit, figure.reason)

    def __str__(self) -> str:
        if self.figure.value is None:
            return f"{self.metric} {FigureState.NOT_EVALUATED}: {self.detail}"
        interval = self.figure.interval
        shown = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
        limit = f" against {self.limit}" if self.limit else ""
        return f"{self.metric} {self.figure.value:.3f}{shown}{limit}" + (f": {self.detail}" if self.detail else "")


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
    figure = cell.figures.get(name) if cell else None
    return figure or Figure.undefined(SlateCode.NO_TIER, tier=tier)


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


def judge_slate(judged: Mapping[str, SlateJudgement], tests: Sequence[str]) -> SlateVerdict:
    """The worst of what was evaluated: FAIL for a changed slate, PARTIAL where not all tests ran, not evaluated without
    the primary figure, PASS only where nothing is doubtful or missing."""
    integrity = judged.get(INTEGRITY)
    if integrity is not None and integrity.verdict == FigureState.FAIL and integrity.detail is not None:
        return SlateVerdict(FigureState.FAIL, (integrity.detail,))
    failed, doubtful, missing = (
        [item for item in judged.values() if item.verdict == state]
        for state in (FigureState.FAIL, FigureState.CAUTION, FigureState.NOT_EVALUATED)
    )
    if failed:
        return SlateVerdict(FigureState.FAIL, (*failed, *doubtful))
    if len(judged) < len(tests):
        count = SlateReason(SlateCode.TESTS_RUN, {"run": len(judged), "tests": len(tests)})
        return SlateVerdict(Verdict.PARTIAL, (count, *doubtful, *missing))
    primary = judged[PRIMARY]
    if primary.verdict == FigureState.NOT_EVALUATED and primary.detail is not None:
        return SlateVerdict(FigureState.NOT_EVALUATED, (primary.detail, *doubtful))
    reasons = (*doubtful, *missing)
    return SlateVerdict(FigureState.CAUTION if reasons else FigureState.PASS, reasons)


def exit_code(verdict: str | None, *, failed: bool, incomplete: bool) -> int:
    """0 PASS or CAUTION, 1 FAIL, 6 no FAIL but something could not be evaluated, 7 neither but a part of the tests."""
    if failed or verdict == FigureState.FAIL:
        return 1
    if incomplete or verdict == FigureState.NOT_EVALUATED:
        return 6
    return 7 if verdict == Verdict.PARTIAL else 0
