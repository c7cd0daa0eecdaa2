"""Curves over turns as inline SVG, themed by the page's style sheet, with a text alternative."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from pytest_clinical_drift.report.page import render
from pytest_clinical_drift.report.words import rounded
from pytest_clinical_drift.results.models import LimitRecord

_WIDTH = 720
_HEIGHT = 280
_LEFT = 48
_RIGHT = 704
_LOW = 240
_TOP = 16
"""Where the plot begins."""
_TOKEN_AXIS = 24
"""Height of a second axis above it."""
_NEAR_END = 0.8
"""Share of the turns beyond which the words of a marker stand on its left."""
_GRID = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Line(NamedTuple):
    label: str
    values: Mapping[int, float | None]
    """By turn, of the turns that were probed: between them the line goes on."""
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


@dataclass(frozen=True, slots=True)
class Extras:
    """What a chart shows besides its lines."""

    levels: Sequence[Level] = ()
    """Reference lines."""
    band: Sequence[tuple[int, float, float]] = ()
    """Turn, lower and upper end of an interval."""
    marker: tuple[float, str] | None = (10, "T10")
    """A turn and its name."""
    tokens: Mapping[int, float] | None = None
    """Of the probed turns: they make a second axis."""
    held: Sequence[float] = ()
    """Limits besides the reference lines that no value may be rounded onto."""


PLAIN = Extras()


# -- what the template prints: places are numbers of the picture, as text


@dataclass(frozen=True, slots=True)
class Tick:
    at: str
    label: str


@dataclass(frozen=True, slots=True)
class GridLine:
    y: str
    text_y: str
    label: str


@dataclass(frozen=True, slots=True)
class LevelView:
    y: str
    text_y: str
    label: str
    style: str


@dataclass(frozen=True, slots=True)
class MarkerView:
    x: str
    text_x: str
    label: str
    leftwards: bool


@dataclass(frozen=True, slots=True)
class Dot:
    x: str
    y: str
    title: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Values of turns in a row."""

    points: str
    """Of its line; empty where it has one value."""
    dots: Sequence[Dot]


@dataclass(frozen=True, slots=True)
class CurveView:
    style: str
    stretches: Sequence[Stretch]


@dataclass(frozen=True, slots=True)
class ChartView:
    """A chart, ready to be printed."""

    title: str
    spoken: str
    """What a screen reader says of the lines."""
    width: int
    height: int
    left: int
    right: int
    top: int
    low: int
    middle: str
    grid: Sequence[GridLine]
    ticks: Sequence[Tick]
    tokens: Sequence[Tick]
    band: str
    levels: Sequence[LevelView]
    marker: MarkerView | None
    curves: Sequence[CurveView]


def curve_chart(title: str, turns: int, lines: Sequence[Line], extras: Extras = PLAIN) -> Markup:
    """Rates between 0 and 1 over so many turns."""
    if turns == 0:
        return Markup("")
    return Markup(render("chart.svg.j2", chart=_chart_view(title, turns, lines, extras)))


@dataclass(frozen=True, slots=True)
class _Plane:
    """Where turns and values lie in the picture."""

    turns: int
    top: int

    def x(self, turn: float) -> str:
        return f"{_LEFT + (turn - 1) / max(1, self.turns - 1) * (_RIGHT - _LEFT):.1f}"

    def y(self, value: float) -> str:
        return f"{self.top + (1 - min(1.0, max(0.0, value))) * (_LOW - self.top):.1f}"

    def points(self, points: Sequence[tuple[int, float]]) -> str:
        return " ".join(f"{self.x(turn)},{self.y(value)}" for turn, value in points)


def _chart_view(title: str, turns: int, lines: Sequence[Line], extras: Extras) -> ChartView:
    plane = _Plane(turns, _TOP + (_TOKEN_AXIS if extras.tokens else 0))
    held = [*extras.held, *(level.value for level in extras.levels)]
    ticks = _ticks(turns)
    upper = [(turn, high) for turn, _, high in extras.band]
    lower = [(turn, low) for turn, low, _ in reversed(extras.band)]
    return ChartView(
        title=title,
        spoken="; ".join(f"{line.label}: {_spoken(line.values, turns, held)}" for line in lines),
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_RIGHT,
        top=plane.top,
        low=_LOW,
        middle=str((_LEFT + _RIGHT) / 2),
        grid=[GridLine(plane.y(rate), _moved(plane.y(rate), 4), str(rate)) for rate in _GRID],
        ticks=[Tick(plane.x(turn), str(turn)) for turn in ticks],
        tokens=_token_ticks(ticks, extras.tokens or {}, plane),
        band=plane.points([*upper, *lower]),
        levels=[_level(level, plane) for level in extras.levels],
        marker=_marker(extras.marker, plane),
        curves=[_curve(line, plane, held) for line in lines],
    )


def _moved(place: str, by: int) -> str:
    return str(float(place) + by)


def _level(level: Level, plane: _Plane) -> LevelView:
    y = plane.y(level.value)
    return LevelView(y=y, text_y=_moved(y, -4), label=level.label, style=level.style)


def _marker(marker: tuple[float, str] | None, plane: _Plane) -> MarkerView | None:
    if marker is None or marker[0] > plane.turns:
        return None
    turn, label = marker
    leftwards = turn > _NEAR_END * plane.turns
    x = plane.x(turn)
    return MarkerView(x=x, text_x=_moved(x, -4 if leftwards else 4), label=label, leftwards=leftwards)


def _ticks(turns: int) -> list[int]:
    """Turns that the axis names: all of a short run, some ten of a long one."""
    if turns <= 12:
        return list(range(1, turns + 1))
    if turns <= 24:
        return list(range(1, turns + 1, 2))
    step = next(size for size in (5, 10, 20, 40, 50, 100, 200, 500, 1_000_000) if turns / size <= 10)
    return [1, *range(step, turns + 1, step)]


def _token_ticks(ticks: Sequence[int], tokens: Mapping[int, float], plane: _Plane) -> list[Tick]:
    """What the second axis names at a tick: the tokens of the last probe up to it; short, as 12.3k."""
    named = []
    for tick in ticks:
        last = max((turn for turn in tokens if turn <= tick), default=None)
        if last is not None:
            count = tokens[last]
            label = f"{count:,.0f}" if count < 1_000 else f"{count / 1_000:.1f}k"
            named.append(Tick(plane.x(tick), label))
    return named


def _curve(line: Line, plane: _Plane, limits: Sequence[float]) -> CurveView:
    """Its unbroken stretches."""
    groups = groupby(line.values.items(), key=lambda point: point[1] is not None)
    parts = [[(turn, value) for turn, value in part if value is not None] for known, part in groups if known]
    return CurveView(line.style, [_stretch(part, plane, limits) for part in parts])


def _stretch(part: Sequence[tuple[int, float]], plane: _Plane, limits: Sequence[float]) -> Stretch:
    dots = []
    for turn, value in part:
        title = f"turn {turn}: {rounded(value, limits=limits)}"
        dots.append(Dot(x=plane.x(turn), y=plane.y(value), title=title))
    return Stretch(plane.points(part) if len(part) > 1 else "", dots)


def _spoken(values: Mapping[int, float | None], turns: int, limits: Sequence[float]) -> str:
    """The values as a screen reader says them, with their turns where others are left out."""
    said = {turn: "not evaluated" if value is None else rounded(value, limits=limits) for turn, value in values.items()}
    if len(said) == turns:
        return ", ".join(said.values())
    return ", ".join(f"turn {turn} {text}" for turn, text in said.items())
