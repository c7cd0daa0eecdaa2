"""What is shown beside the verdict and never gated, a line each, details indented: the mean curve, repeats, the
baseline, the sanity band."""

from collections.abc import Sequence

from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.metrics.paired import PairedResult
from pytest_clinical_drift.report.clean import as_lines
from pytest_clinical_drift.report.words import counted, label, limit_values, rounded
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.baseline import BaselineComparison
from pytest_clinical_drift.verdict.ungated import FlakyCase, RepeatFigures, SanityBand

_MOST_NAMED = 5


def lines_beside_verdict(result: RunResult, notes: Sequence[str]) -> list[str]:
    """`notes` are remarks on the baseline, in words."""
    lines = [_mean_curve(result)]
    if result.repeat_spread is not None:
        lines += _repeats(result.repeat_spread)
    if result.baseline is not None:
        lines += _baseline(result.baseline, notes)
    if result.sanity_band is not None:
        lines += _sanity_band(result.sanity_band)
    return as_lines(*lines)


def _mean_curve(result: RunResult) -> str:
    memory = result.memory
    if memory is None or memory.line is None:
        return "mean curve: too few turns for a line"
    if not any(probe.recall for probe in memory.probes):
        return "mean curve: recall is 0 on every turn"
    slope = rounded(memory.line.slope, "+.3f", limit_values(result.judgement("drift_slope")))
    text = f"mean curve, turns 1 to {min(memory.turns, SLOPE_TURNS)}: β {slope}"
    return text if memory.line.r_squared is None else f"{text}, R² {rounded(memory.line.r_squared)}"


def _repeats(spread: RepeatFigures) -> list[str]:
    if spread.recall_sd is None:
        return [f"{spread.repeats} repeats: nothing evaluated twice"]
    within = f"sd of Recall@T10 within a case {rounded(spread.recall_sd, '.3f')}"
    first = f"{spread.repeats} repeats: {within}; {counted(len(spread.flaky), 'flaky case')}"
    return [first, *(f"  flaky: {case.case_id} ({_verdicts(case)})" for case in spread.flaky)]


def _verdicts(case: FlakyCase) -> str:
    """ "2 PASS, 1 FAIL", in the order of the repeats."""
    distinct = dict.fromkeys(case.verdicts)
    return ", ".join(f"{case.verdicts.count(verdict)} {verdict}" for verdict in distinct)


def _baseline(baseline: BaselineComparison, notes: Sequence[str]) -> list[str]:
    name = baseline.model or "the baseline"
    lines = [f"against {name}: {baseline.verdict} ({counted(baseline.pairs, 'paired case')})"]
    lines += [f"  {label(metric)}: {_paired(found)}" for metric, found in baseline.metrics.items()]
    stops = baseline.new_hard_stops
    if stops:
        more = f" and {len(stops) - _MOST_NAMED} more" if len(stops) > _MOST_NAMED else ""
        lines.append(f"  new hard stop in {', '.join(stops[:_MOST_NAMED])}{more}")
    lines += [f"  moved: {move.case_id} {rounded(move.before)} → {rounded(move.after)}" for move in baseline.moved]
    if baseline.unpaired:
        lines.append(f"  {counted(len(baseline.unpaired), 'case')} without a counterpart in the baseline")
    return lines + [f"  note: {note}" for note in notes]


def _paired(found: PairedResult) -> str:
    if found.difference is None:
        return "no pair to compare"
    held = (found.margin, -found.margin)
    text = rounded(found.difference, "+.3f", held)
    interval = found.interval
    if interval is not None and interval.units > 1:
        text += f" [{rounded(interval.low, '+.3f', held)}, {rounded(interval.high, '+.3f', held)}]"
    return f"{text}, margin {found.margin:g}: {found.verdict} (positive is better)"


def _sanity_band(band: SanityBand) -> list[str]:
    if band.silence is None or band.echo_at_start is None or band.echo_at_t10 is None:
        return ["sanity band: no fact to score"]
    later = f"at turn 10 or the last, where facts have changed, {rounded(band.echo_at_t10)}"
    echo = f"echo of the intake {rounded(band.echo_at_start)} ({later})"
    lines = [f"sanity band: {echo}, empty summary {rounded(band.silence)}"]
    lines += [f"  broken: {_broken(fault, band)}" for fault in band.faults]
    if band.faults:
        lines += [f"  not found in its own intake: {fact}" for fact in band.missed[:_MOST_NAMED]]
    return lines


def _broken(fault: str, band: SanityBand) -> str:
    if fault == "echo_loses_facts":
        return f"an echo of the intake keeps only {rounded(band.echo_at_start, '.1%')} of its facts"
    return f"an empty summary keeps {rounded(band.silence, '.1%')} of the facts"
