"""Charts of a slate, 720 wide: enrichment with intervals, calibration, time to event; as places for the template."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clinical_drift.report.words import rounded, span

_MOST_BARS = 24
_LEFT, _ACROSS = 52, 652
_LOW, _UP = 220, 210
"""Where the plot begins, and how far it goes, in both directions."""
_FOREST_LEFT, _FOREST_ACROSS = 230, 400
_ROW, _FIRST_ROW = 24, 22


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of the grid or a tick, with its label."""

    at: str
    label: str


@dataclass(frozen=True, slots=True)
class ForestRow:
    label: str
    value: float | None
    told: str
    """The value with its interval, in words."""
    y: int
    dot: str
    low: str
    high: str
    """Places of value and interval; empty where they are not known."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Enrichment over popularity with its interval, a row each, beside 1.0."""

    top: float
    spoken: str
    foot: int
    grid: Sequence[Mark]
    one: str
    rows: Sequence[ForestRow]


@dataclass(frozen=True, slots=True)
class Point:
    x: str
    y: str
    radius: str
    title: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """Mean score (across) and hit rate (up) of each tenth of the predictions."""

    spoken: str
    grid: Sequence[Mark]
    marks: Sequence[Mark]
    points: Sequence[Point]
    line: str


@dataclass(frozen=True, slots=True)
class Bar:
    after: bool
    """From the day of the freeze on."""
    x: str
    y: str
    width: str
    height: str
    title: str


@dataclass(frozen=True, slots=True)
class Days:
    """How many hits came how many days from the freeze."""

    spoken: str
    grid: Sequence[Mark]
    marks: Sequence[Mark]
    bars: Sequence[Bar]
    zero: str


def forest(cells: Sequence[tuple[str, Mapping[str, Any]]]) -> Forest:
    """Enrichment over popularity with its interval, a row each, beside 1.0, what drugs of the same popularity earn."""
    known = [1.0]
    for _, cell in cells:
        figure = cell["enrichment_vs_popularity"]
        ends = (figure["value"], *figure.get("interval", ())[1:])
        known += [number for number in ends if number is not None]
    top = _round_up(max(known) * 1.05)
    rows = [_forest_row(name, cell, top, at) for at, (name, cell) in enumerate(cells)]
    steps = [top * step / 5 for step in range(6)]
    return Forest(
        top=top,
        spoken="; ".join(f"{row.label}: {row.told}" for row in rows),
        foot=10 + _ROW * len(rows),
        grid=[Mark(_place(value, top), f"{value:g}") for value in steps],
        one=_place(1, top),
        rows=rows,
    )


def _forest_row(name: str, cell: Mapping[str, Any], top: float, at: int) -> ForestRow:
    figure = cell["enrichment_vs_popularity"]
    value = figure["value"]
    told = "not evaluated" if value is None else rounded(value)
    dot = low = high = ""
    if value is not None:
        dot = _place(value, top)
    if value is not None and "interval" in figure:
        first, last = figure["interval"]
        told += f", interval {span(first, last)}"
        low = _place(first, top)
        high = _place(last, top)
    return ForestRow(label=name, value=value, told=told, y=_FIRST_ROW + _ROW * at, dot=dot, low=low, high=high)


def _place(value: float, top: float) -> str:
    return f"{_FOREST_LEFT + _FOREST_ACROSS * min(1, max(0, value / top)):.1f}"


def calibration(bins: Sequence[Mapping[str, Any]]) -> Calibration | None:
    """Mean score (across) and hit rate (up) of each tenth of the predictions, the dot sized by how many there are."""
    if not bins:
        return None
    scores = [item["mean_score"] for item in bins]
    low = min(scores)
    width = (max(scores) - low) or 1.0
    rates = [item["hits"] / item["predictions"] for item in bins]
    top = _round_up(max(rates) * 1.05 or 0.05)
    points = []
    told = []
    for item, rate in zip(bins, rates, strict=True):
        told.append(f"mean score {rounded(item['mean_score'], '.3f')}: hit rate {rounded(rate, '.3f')}")
        point = Point(
            x=_x((item["mean_score"] - low) / width),
            y=_y(rate / top),
            radius=f"{3 + min(6.0, math.sqrt(item['predictions']) / 3):.1f}",
            title=f"{told[-1]} of {item['predictions']}",
        )
        points.append(point)
    return Calibration(
        spoken="; ".join(told),
        grid=_grid(top),
        marks=[Mark(_x(step / 4), f"{low + width * step / 4:.3g}") for step in range(5)],
        points=points,
        line=" ".join(f"{point.x},{point.y}" for point in points),
    )


def time_to_event(days: Sequence[int]) -> Days | None:
    """How many hits came how many days from the freeze; day 0 begins a bar, so that none mixes before and after."""
    if not days:
        return None
    width = math.ceil((max(*days, 0) - min(*days, 0) + 1) / _MOST_BARS)
    counts = Counter(day // width for day in days)
    low = min(*counts, 0)
    slots = max(*counts, 0) - low + 1
    top = _round_up(max(counts.values()))
    before = sum(day <= 0 for day in days)
    bars = []
    for slot, count in sorted(counts.items()):
        begins = slot * width
        bar = Bar(
            after=begins >= 0,
            x=_x((slot - low) / slots),
            y=_y(count / top),
            width=f"{max(1, _ACROSS / slots - 1):.1f}",
            height=f"{_UP * count / top:.1f}",
            title=f"day {begins} to {begins + width - 1}: {count}",
        )
        bars.append(bar)
    named = sorted({0, slots // 2, slots - 1, -low})
    return Days(
        spoken=f"{before} on or before the day of the freeze, {len(days) - before} after it",
        grid=_grid(top),
        marks=[Mark(_x(at / slots), str((low + at) * width)) for at in named],
        bars=bars,
        zero=_x(-low / slots),
    )


def _x(share: float) -> str:
    return f"{_LEFT + _ACROSS * share:.1f}"


def _y(share: float) -> str:
    return f"{_LOW - _UP * share:.1f}"


def _grid(top: float) -> list[Mark]:
    return [Mark(_y(step / 4), f"{top * step / 4:.3g}") for step in range(5)]


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9))
