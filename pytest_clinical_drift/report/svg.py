"""Charts as inline SVG: text only, themed by the page's style sheet, with a text alternative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 16, 40


@dataclass(frozen=True, slots=True)
class Line:
    """One curve; index 0 is turn 1, None is a gap."""

    label: str
    values: Sequence[float | None]
    style: str
    """Class of the style sheet: colour and dash."""


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal reference line."""

    label: str
    value: float
    style: str = "fail"
    """pass or fail."""


def limit_levels(limits: Mapping[str, Any] | None) -> list[Level]:
    """The lines of a metric's limits in force; `limits` is its entry in the results file."""
    if limits is None:
        return []
    return [
        Level(f"PASS {limits['pass']}", limits["pass_value"], "pass"),
        Level(f"CAUTION {limits['caution']}", limits["caution_value"], "fail"),
    ]


def curve_chart(
    title: str,
    lines: Sequence[Line],
    *,
    levels: Sequence[Level] = (),
    band: Sequence[tuple[float, float] | None] = (),
    marker: int | None = None,
) -> str:
    """Rates between 0 and 1 over the turns, with reference lines, an interval band and a marked turn."""
    turns = max((len(line.values) for line in lines), default=0)
    if turns == 0:
        return ""
    parts = [_frame(turns)]
    if any(band):
        parts.append(_band(band, turns))
    for level in levels:
        y = _y(level.value)
        parts.append(f'<line class="level {level.style}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="note" x="{LEFT + 4}" y="{y - 4:.1f}">{escape(level.label)}</text>')
    if marker is not None and marker <= turns:
        x = _x(marker, turns)
        parts.append(f'<line class="marker" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        side = f'x="{x - 4:.1f}" text-anchor="end"' if marker == turns else f'x="{x + 4:.1f}"'
        parts.append(f'<text class="note" {side} y="{HEIGHT - BOTTOM - 6}">T{marker}</text>')
    parts += [_curve(line, turns) for line in lines]
    described = "; ".join(f"{line.label}: {_spoken(line.values)}" for line in lines)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}. {escape(described)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def sparkline(values: Sequence[float | None]) -> str:
    """A small curve for a table row."""
    width, height = 96, 22
    step = (width - 4) / max(1, len(values) - 1)
    points = " ".join(
        f"{2 + index * step:.1f},{height - 3 - value * (height - 6):.1f}"
        for index, value in enumerate(values)
        if value is not None
    )
    return (
        f'<svg class="spark" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="recall by turn: {_spoken(values)}"><polyline points="{points}"/></svg>'
    )


def _frame(turns: int) -> str:
    parts = []
    for tenth in (0, 2, 4, 6, 8, 10):
        y = _y(tenth / 10)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="axis" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    step = 1 if turns <= 12 else 2
    for turn in range(1, turns + 1, step):
        parts.append(
            f'<text class="axis" x="{_x(turn, turns):.1f}" y="{HEIGHT - BOTTOM + 16}" '
            f'text-anchor="middle">{turn}</text>'
        )
    parts.append(
        f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">turn</text>'
    )
    return "".join(parts)


def _curve(line: Line, turns: int) -> str:
    """A polyline per unbroken stretch, with a dot at each turn."""
    pieces: list[list[str]] = [[]]
    dots = []
    for turn, value in enumerate(line.values, start=1):
        if value is None:
            pieces.append([])
            continue
        x, y = _x(turn, turns), _y(value)
        pieces[-1].append(f"{x:.1f},{y:.1f}")
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>turn {turn}: {value:.2f}</title></circle>')
    drawn = "".join(f'<polyline points="{" ".join(piece)}"/>' for piece in pieces if len(piece) > 1)
    return f'<g class="{line.style}">{drawn}{"".join(dots)}</g>'


def _band(band: Sequence[tuple[float, float] | None], turns: int) -> str:
    known = [(turn, limits) for turn, limits in enumerate(band, start=1) if limits is not None]
    upper = [f"{_x(turn, turns):.1f},{_y(high):.1f}" for turn, (_, high) in known]
    lower = [f"{_x(turn, turns):.1f},{_y(low):.1f}" for turn, (low, _) in reversed(known)]
    return f'<polygon class="band" points="{" ".join(upper + lower)}"/>'


def _x(turn: int, turns: int) -> float:
    return LEFT + (turn - 1) / max(1, turns - 1) * (WIDTH - LEFT - RIGHT) if turns > 1 else LEFT


def _y(value: float) -> float:
    return TOP + (1 - min(1.0, max(0.0, value))) * (HEIGHT - TOP - BOTTOM)


def _spoken(values: Sequence[float | None]) -> str:
    return ", ".join("not evaluated" if value is None else f"{value:.2f}" for value in values)
