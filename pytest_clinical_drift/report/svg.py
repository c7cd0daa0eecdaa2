"""Charts as inline SVG: text only, themed by the page's style sheet, with a text alternative."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.results.models import LimitRecord

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 16, 40


class Line(NamedTuple):
    label: str
    values: Sequence[float | None]
    style: str
    """Class of the style sheet: colour and dash."""


class Level(NamedTuple):
    label: str
    value: float
    style: str = "fail"
    """pass or fail."""


def limit_levels(limits: LimitRecord | None) -> list[Level]:
    """The lines of a metric's limits in force."""
    if limits is None:
        return []
    return [
        Level(f"PASS {limits.pass_limit}", limits.pass_value, "pass"),
        Level(f"CAUTION {limits.caution}", limits.caution_value, "fail"),
    ]


def curve_chart(
    title: str,
    lines: Sequence[Line],
    *,
    levels: Sequence[Level] = (),
    band: Sequence[Sequence[float] | None] = (),
    marker: int = 10,
) -> Markup:
    """Rates between 0 and 1 over the turns, with reference lines, an interval band and a marked turn."""
    turns = max((len(line.values) for line in lines), default=0)
    if turns == 0:
        return Markup("")

    def x(turn: int) -> str:
        return f"{LEFT + (turn - 1) / max(1, turns - 1) * (WIDTH - LEFT - RIGHT):.1f}"

    def y(value: float) -> str:
        return f"{TOP + (1 - min(1.0, max(0.0, value))) * (HEIGHT - TOP - BOTTOM):.1f}"

    known = [(turn, limits) for turn, limits in enumerate(band, start=1) if limits]
    edge = [(turn, limits[1]) for turn, limits in known] + [(turn, limits[0]) for turn, limits in reversed(known)]
    drawn = [(line, _stretches(line.values), spoken(line.values)) for line in lines]
    size = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "low": HEIGHT - BOTTOM}
    values = {"levels": levels, "edge": edge, "marker": marker, "turns": turns, "x": x, "y": y, "size": size}
    return Markup(environment().get_template("chart.svg.j2").render(title=title, lines=drawn, **values))


def _stretches(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Turns and values of every unbroken stretch."""
    points = groupby(enumerate(values, start=1), key=lambda point: point[1] is not None)
    return [[(turn, value) for turn, value in stretch if value is not None] for known, stretch in points if known]


def sparkline(values: Sequence[float | None]) -> Markup:
    width, height = 96, 22
    step = (width - 4) / max(1, len(values) - 1)
    points = " ".join(
        f"{2 + index * step:.1f},{height - 3 - value * (height - 6):.1f}"
        for index, value in enumerate(values)
        if value is not None
    )
    return Markup(
        '<svg class="spark" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" '
        'aria-label="recall by turn: {2}"><polyline points="{3}"/></svg>'
    ).format(width, height, spoken(values), points)


def spoken(values: Sequence[float | None]) -> str:
    """A curve as a screen reader says it."""
    return ", ".join("not evaluated" if value is None else f"{value:.2f}" for value in values)
