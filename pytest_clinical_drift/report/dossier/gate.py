"""The gate in the dossier: figures against their limits, what is shown beside them, and the limits in force."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pytest_clinical_drift.report.figures import FigureRow, figure_rows
from pytest_clinical_drift.report.memory_charts import quality_chart
from pytest_clinical_drift.report.reasons import shared_lines, ungated_lines
from pytest_clinical_drift.report.words import label
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds


@dataclass(frozen=True, slots=True)
class UngatedLine:
    text: str
    detail: bool
    """Whether it belongs to the line before it."""


@dataclass(frozen=True, slots=True)
class LimitsRow:
    """A metric with its limits, and how they differ from the bundled ones."""

    label: str
    limits: MetricLimits | None
    """None where it is not gated here."""
    never_fails: bool
    change: str


@dataclass(frozen=True, slots=True)
class GateView:
    figures: Sequence[FigureRow]
    shared: Sequence[str]
    """Why many figures have no value, told once."""
    chart: Markup
    ungated: Sequence[UngatedLine]
    continuity: float | None
    """Session goal alignment."""
    no_continuity: str
    """Why it was not evaluated; empty where it was, or nobody asked."""


def gate_view(result: RunResult) -> GateView:
    return GateView(
        figures=figure_rows(result.judgements, of_set=True),
        shared=shared_lines(result.judgements),
        chart=quality_chart(result),
        ungated=[UngatedLine(line.strip(), line[:1].isspace()) for line in ungated_lines(result)],
        continuity=result.continuity_score,
        no_continuity=result.continuity_not_evaluated or "",
    )


def limits_rows(thresholds: Thresholds) -> list[LimitsRow]:
    """Every metric that is gated here or by the bundled thresholds."""
    bundled = load_thresholds().metrics
    gated = thresholds.metrics
    rows = []
    for name in gated | bundled:
        limits = gated.get(name)
        row = LimitsRow(
            label=label(name),
            limits=limits,
            never_fails=limits is not None and limits.worst != "fail",
            change=_against(limits, bundled.get(name)),
        )
        rows.append(row)
    return rows


def _against(limits: MetricLimits | None, bundled: MetricLimits | None) -> str:
    if limits is None:
        return "not gated here, gated by the bundled file"
    if bundled is None:
        return "not in the bundled file"
    if bundled == limits.model_copy(update={"why": bundled.why}):
        return "as bundled"
    return f"differs: bundled PASS {bundled.pass_limit}, CAUTION {bundled.caution_limit}"
