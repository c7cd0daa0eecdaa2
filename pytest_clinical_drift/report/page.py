"""Templates: pages that escape everything under a policy by which only our own script runs, and plain text."""

import base64
import contextlib
import hashlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.bccache import Bucket
from markupsafe import Markup

from pytest_clinical_drift.core.packaged import beside_bytecode, load_text, write_beside_bytecode
from pytest_clinical_drift.report import clean, words


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


_FILTERS: dict[str, Callable[..., str]] = {
    "clean": clean.printable,
    "inert": clean.inert,
    "one_line": clean.one_line,
    "opening": clean.opening,
    "begun": words.begun,
    "cannot_happen": words.cannot_happen,
    "counted": words.counted,
    "day": words.day,
    "kind_name": words.kind_name,
    "label": words.label,
    "listed": words.listed,
    "one_event": words.one_event,
    "rounded": words.rounded,
    "thousands": words.thousands,
    "wrong_with": words.wrong_with,
}
"""What templates may apply to a value: cleaning, and the one way in which numbers and names are written."""


@cache
def environment() -> Environment:
    """Templates; pages escape everything, plain text and markdown take care of it themselves. No unknown names.

    A template gets a view and prints its fields: it has no functions but filters and its own macros.
    """
    made = Environment(
        loader=PackageLoader("pytest_clinical_drift", "data/templates"),
        autoescape=select_autoescape(disabled_extensions=("txt.j2", "md.j2"), default=True),
        undefined=StrictUndefined,
        bytecode_cache=_Compiled(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= _FILTERS
    return made


def render(template: str, **values: object) -> str:
    return environment().get_template(template).render(**values)


def text_lines(template: str, macro: str, **values: object) -> list[str]:
    """The lines that a macro of a text template makes."""
    text: str = getattr(environment().get_template(template).module, macro)(**values)
    return clean.as_lines(text)


@dataclass(frozen=True, slots=True)
class Assets:
    """The style sheets and scripts of a page, which it carries: they alone run there, known by their hashes."""

    policy: Markup
    style: Markup
    script: Markup


def page_source(template: str, *, styles: Sequence[str], scripts: Sequence[str] = (), **values: object) -> str:
    """A self-contained page: its own styles and scripts run, known by their hashes, and nothing else does."""
    style = _joined(styles)
    script = _joined(scripts)
    policy = f"default-src 'none'; style-src '{_hash(style)}'"
    if script:
        policy += f"; script-src '{_hash(script)}'"
    assets = Assets(policy=Markup(policy), style=Markup(style), script=Markup(script))
    return render(template, assets=assets, **values)


def _joined(files: Sequence[str]) -> str:
    return "\n".join(load_text(f"templates/{name}") for name in files)


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
