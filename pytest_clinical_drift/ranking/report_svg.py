"""Charts of a slate as inline SVG: enrichment with intervals, calibration, time to event."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from pytest_clinical_drift.report.clean import one_line

WIDTH = 720
_LABEL, _RIGHT, _ROW, _TOP, _FOOT = 230, 90, 24, 10, 34
_HEIGHT, _LEFT, _BOTTOM = 260, 52, 40


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One figure with its interval; None: not evaluated."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None


def forest(title: str, rows: Sequence[ForestRow], *, reference: float, limit: float | None = None) -> str:
    """Values with intervals on one axis, one row each, and reference lines."""
    if not rows:
        return ""
    known = [number for row in rows for number in (row.value, row.high) if number is not None and math.isfinite(number)]
    top = _round_up(max([*known, reference, limit or 0.0]) * 1.05)
    height = _TOP + _ROW * len(rows) + _FOOT
    low_end = height - _FOOT
    parts = []
    for step in range(6):
        x = _across(top * step / 5, top)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{low_end}"/>')
        parts.append(f'<text x="{x:.1f}" y="{low_end + 16}" text-anchor="middle">{top * step / 5:g}</text>')
    for value, style in ((reference, "marker"), (limit, "level")):
        if value is not None:
            x = _across(value, top)
            parts.append(f'<line class="{style}" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{low_end}"/>')
    parts += [_forest_row(row, _TOP + _ROW * index + _ROW / 2, top) for index, row in enumerate(rows)]
    spoken = "; ".join(f"{row.label}: {_spoken(row)}" for row in rows)
    return _svg(title, spoken, height, parts)


def calibration(title: str, bins: Sequence[tuple[float, float, int]]) -> str:
    """Mean score (across) and hit rate (up) of each tenth of the predictions, the dot sized by how many there are."""
    if not bins:
        return ""
    scores = [score for score, _, _ in bins]
    low, high = min(scores), max(scores)
    span = (high - low) or 1.0
    top = _round_up(max(rate for _, rate, _ in bins) * 1.05 or 0.05)
    parts = _axes(top, "mean score", [(low + span * step / 4, step / 4) for step in range(5)])
    points = []
    for score, rate, count in bins:
        x, y = _x((score - low) / span), _y(rate / top)
        points.append(f"{x:.1f},{y:.1f}")
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3 + min(6.0, math.sqrt(count) / 3):.1f}">'
            f"<title>mean score {score:.3f}: hit rate {rate:.3f} of {count}</title></circle>"
        )
    parts.append(f'<polyline points="{" ".join(points)}"/>')
    spoken = "; ".join(f"mean score {score:.3f}: hit rate {rate:.3f}" for score, rate, _ in bins)
    return _svg(title, spoken, _HEIGHT, parts)


def time_to_event(title: str, days: Sequence[int], *, bins: int = 24) -> str:
    """How many hits came how many days from the freeze; left of the line they are older than the slate."""
    if not days:
        return ""
    low, high = min(*days, 0), max(*days, 0)
    width = max(1, math.ceil((high - low + 1) / bins))
    low = math.floor(low / width) * width  # so that day 0 begins a bar and no bar mixes before and after
    counts: dict[int, int] = {}
    for day in days:
        counts[(day - low) // width] = counts.get((day - low) // width, 0) + 1
    slots = (high - low) // width + 1
    top = _round_up(max(counts.values()))
    marks = sorted({0, slots // 2, slots - 1, -low // width})
    parts = _axes(top, "days from freeze", [(low + slot * width, slot / slots) for slot in marks])
    for slot, count in sorted(counts.items()):
        x, next_x, y = _x(slot / slots), _x((slot + 1) / slots), _y(count / top)
        begins = low + slot * width
        parts.append(
            f'<rect class="{"after" if begins >= 0 else "before"}" x="{x:.1f}" y="{y:.1f}" '
            f'width="{max(1.0, next_x - x - 1):.1f}" height="{_HEIGHT - _BOTTOM - y:.1f}">'
            f"<title>day {begins} to {begins + width - 1}: {count}</title></rect>"
        )
    zero = _x(-low / width / slots)
    parts.append(f'<line class="marker" x1="{zero:.1f}" x2="{zero:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
    before, after = sum(day <= 0 for day in days), sum(day > 0 for day in days)
    return _svg(title, f"{before} on or before the day of the freeze, {after} after it", _HEIGHT, parts)


def _forest_row(row: ForestRow, y: float, top: float) -> str:
    label = escape(one_line(row.label, 34))
    text = f'<text x="{_LABEL - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    text += f'<text x="{WIDTH - 4}" y="{y + 4:.1f}" text-anchor="end">{_short(row)}</text>'
    if row.value is None:
        return text
    whisker = ""
    if row.low is not None and row.high is not None:
        ends = f'x1="{_across(row.low, top):.1f}" x2="{_across(row.high, top):.1f}"'
        whisker = f'<line class="whisker" {ends} y1="{y:.1f}" y2="{y:.1f}"/>'
    x = _across(row.value, top)
    title = f"<title>{escape(one_line(row.label, 80))}: {escape(_spoken(row))}</title>"
    return f'{text}{whisker}<circle cx="{x:.1f}" cy="{y:.1f}" r="4">{title}</circle>'


def _short(row: ForestRow) -> str:
    return "not evaluated" if row.value is None else f"{row.value:.2f}"


def _spoken(row: ForestRow) -> str:
    if row.value is None:
        return "not evaluated"
    interval = f", interval {row.low:.2f} to {row.high:.2f}" if row.low is not None and row.high is not None else ""
    return f"{row.value:.2f}{interval}"


def _axes(top: float, across: str, marks: Sequence[tuple[float, float]]) -> list[str]:
    parts = []
    for step in range(5):
        y = _y(step / 4)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{top * step / 4:.3g}</text>')
    for value, share in marks:
        shown = f"{value:.3g}" if isinstance(value, float) else str(value)
        parts.append(f'<text x="{_x(share):.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{shown}</text>')
    parts.append(f'<text x="{(_LEFT + WIDTH) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">{across}</text>')
    return parts


def _svg(title: str, spoken: str, height: float, parts: Sequence[str]) -> str:
    described = escape(f"{title}. {one_line(spoken, 2000)}")
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{described}">'
    return f"{head}<title>{escape(title)}</title>{''.join(parts)}</svg>"


def _across(value: float, top: float) -> float:
    return _LABEL + min(1.0, max(0.0, value / top)) * (WIDTH - _LABEL - _RIGHT)


def _x(share: float) -> float:
    return _LEFT + share * (WIDTH - _LEFT - 16)


def _y(share: float) -> float:
    return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9))
