"""Templates: pages that escape everything under a policy by which only our own script runs, plain sentences, and charts
as inline SVG, themed by the page's style sheet, with a text alternative."""

import base64
import contextlib
import hashlib
import pickle
from collections.abc import Mapping, Sequence
from functools import cache
from inspect import getmembers, isfunction
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import jinja2
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.bccache import Bucket
from markupsafe import Markup

from pytest_clinical_drift.core.packaged import beside_bytecode, load_text, write_beside_bytecode
from pytest_clinical_drift.report import clean, sentences, words
from pytest_clinical_drift.report.words import rounded
from pytest_clinical_drift.results.models import LimitRecord


class _Compiled(BytecodeCache):
    """Compiled templates, kept beside Python's bytecode: compiling them takes a third of a second."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
            bucket.bytecode_from_string(self._file(bucket).read_bytes())

    def dump_bytecode(self, bucket: Bucket) -> None:
        write_beside_bytecode(self._file(bucket), bucket.bytecode_to_string())

    def get_source_checksum(self, source: str) -> str:
        """Of all that compiling depends on: the template, Jinja, and the settings in this file."""
        return super().get_source_checksum(source + jinja2.__version__ + Path(__file__).read_text(encoding="utf-8"))

    def _file(self, bucket: Bucket) -> Path:
        return beside_bytecode(Path(__file__).with_name(bucket.key), ".template")


@cache
def environment() -> Environment:
    """Templates; pages escape everything, plain text and markdown take care of it themselves. No unknown names.

    Every function of `clean`, `sentences` and `words` is a filter and a function of templates.
    """
    made = Environment(
        loader=PackageLoader("pytest_clinical_drift", "data/templates"),
        autoescape=select_autoescape(disabled_extensions=("txt.j2", "md.j2"), default=True),
        undefined=StrictUndefined,
        bytecode_cache=_Compiled(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tools = functions_of(clean, sentences, words)
    made.filters |= tools | {"clean": clean.printable}
    made.globals |= tools | {"words": words.words, "text_lines": text_lines}
    return made


def functions_of(*modules: ModuleType) -> dict[str, Any]:
    """What templates may call of these modules, by name."""
    return {name: function for module in modules for name, function in getmembers(module, isfunction)}


def text_lines(template: str, macro: str, **values: Any) -> list[str]:
    """The lines that a macro of a text template makes."""
    text: str = getattr(environment().get_template(template).module, macro)(**values)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def page_source(template: str, *, styles: Sequence[str], scripts: Sequence[str] = (), **values: Any) -> str:
    """A self-contained page: its own styles and scripts run, known by their hashes, and nothing else does."""
    style, script = ("\n".join(load_text(f"templates/{name}") for name in part) for part in (styles, scripts))
    policy = f"default-src 'none'; style-src '{_hash(style)}'" + (f"; script-src '{_hash(script)}'" if script else "")
    own = {"policy": Markup(policy), "style": Markup(style), "script": Markup(script)}
    return environment().get_template(template).render(**own, **values)


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


# -- charts

_SIZE = {"width": 720, "height": 280, "left": 48, "right": 704, "low": 240}
_TOP, _TOKEN_AXIS = 16, 24
"""Where the plot begins, and the height of a second axis above it."""


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


def curve_chart(
    title: str,
    turns: int,
    lines: Sequence[Line],
    *,
    levels: Sequence[Level] = (),
    band: Sequence[tuple[int, float, float]] = (),
    marker: tuple[float, str] | None = (10, "T10"),
    tokens: Mapping[int, float] | None = None,
    held: Sequence[float] = (),
) -> Markup:
    """Rates between 0 and 1 over so many turns, with reference lines, an interval band and a marked turn.

    `tokens` of the probed turns make a second axis. `held` are limits besides the lines drawn that no value may be
    rounded onto.
    """
    if turns == 0:
        return Markup("")
    left, right, top, low = _SIZE["left"], _SIZE["right"], _TOP + (_TOKEN_AXIS if tokens else 0), _SIZE["low"]
    held, ticks = [*held, *(level.value for level in levels)], _ticks(turns)

    def x(turn: float) -> str:
        return f"{left + (turn - 1) / max(1, turns - 1) * (right - left):.1f}"

    def y(value: float) -> str:
        return f"{top + (1 - min(1.0, max(0.0, value))) * (low - top):.1f}"

    chart = environment().get_template("chart.svg.j2")
    source = chart.render(
        title=title,
        lines=[(line, *_curve(line.values, turns, held)) for line in lines],
        levels=levels,
        edge=[(turn, high) for turn, _, high in band] + [(turn, low) for turn, low, _ in reversed(band)],
        held=held,
        marker=marker,
        turns=turns,
        x=x,
        y=y,
        size=_SIZE | {"top": top},
        ticks=ticks,
        tokens=_token_labels(ticks, tokens or {}),
    )
    return Markup(source)


def _ticks(turns: int) -> list[int]:
    """Turns that the axis names: all of a short run, some ten of a long one."""
    if turns <= 24:
        return list(range(1, turns + 1, 1 if turns <= 12 else 2))
    step = next(size for size in (5, 10, 20, 40, 50, 100, 200, 500, 1_000_000) if turns / size <= 10)
    return [1, *range(step, turns + 1, step)]


def _token_labels(ticks: Sequence[int], tokens: Mapping[int, float]) -> list[tuple[int, str]]:
    """What the second axis names at a tick: the tokens of the last probe up to it; short, as 12.3k."""
    last = {tick: max((turn for turn in tokens if turn <= tick), default=0) for tick in ticks}
    counts = [(tick, tokens[turn]) for tick, turn in last.items() if turn]
    return [(tick, f"{count:,.0f}" if count < 1_000 else f"{count / 1_000:.1f}k") for tick, count in counts]


def _curve(
    values: Mapping[int, float | None], turns: int, limits: Sequence[float]
) -> tuple[list[list[tuple[int, float]]], str]:
    """Turns and values of its unbroken stretches; and the values as a screen reader says them, with their turns where
    others are left out."""
    points = groupby(values.items(), key=lambda point: point[1] is not None)
    stretches = [[(turn, value) for turn, value in stretch if value is not None] for known, stretch in points if known]
    said = {turn: "not evaluated" if value is None else rounded(value, limits=limits) for turn, value in values.items()}
    texts = [text if len(said) == turns else f"turn {turn} {text}" for turn, text in said.items()]
    return stretches, ", ".join(texts)
