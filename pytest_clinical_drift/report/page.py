"""Templates: pages that escape everything under a policy by which only our own script runs, and plain sentences."""

import base64
import contextlib
import hashlib
import pickle
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.bccache import Bucket
from markupsafe import Markup

from pytest_clinical_drift.evidence.terms.parsed import keep, kept_beside
from pytest_clinical_drift.report.clean import inert, one_line, opening, printable
from pytest_clinical_drift.report.figures import (
    breaches_read,
    interval_text,
    is_unread_zero,
    judged_text,
    limit_values,
    shared_reasons,
    worse_text,
)
from pytest_clinical_drift.report.words import (
    counted,
    kind_name,
    label,
    limit_numbers,
    listed,
    number,
    optional,
    rounded,
    span,
    words,
)


class _Compiled(BytecodeCache):
    """Compiled templates, kept beside Python's bytecode: compiling them takes a third of a second."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
            bucket.bytecode_from_string(self._file(bucket).read_bytes())

    def dump_bytecode(self, bucket: Bucket) -> None:
        keep(self._file(bucket), bucket.bytecode_to_string())

    def get_source_checksum(self, source: str) -> str:
        """Of all that compiling depends on: the template, Jinja, and the settings in this file."""
        return super().get_source_checksum(source + jinja2.__version__ + Path(__file__).read_text(encoding="utf-8"))

    def _file(self, bucket: Bucket) -> Path:
        return kept_beside(Path(__file__).with_name(bucket.key), ".template")


@cache
def environment() -> Environment:
    """Templates; pages escape everything, plain text and markdown take care of it themselves. No unknown names."""
    made = Environment(
        loader=PackageLoader("pytest_clinical_drift", "data/templates"),
        autoescape=select_autoescape(disabled_extensions=("txt.j2", "md.j2"), default=True),
        undefined=StrictUndefined,
        bytecode_cache=_Compiled(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"clean": printable, "counted": counted, "label": label, "inert": inert, "one_line": one_line}
    made.filters |= {"opening": opening}
    made.filters |= {"optional": optional, "rounded": rounded, "kind_name": kind_name, "listed": listed}
    made.globals |= {"judged_text": judged_text, "worse_text": worse_text, "interval_text": interval_text}
    made.globals |= {
        "words": words,
        "number": number,
        "span": span,
        "limit_values": limit_values,
        "limit_numbers": limit_numbers,
        "shared_reasons": shared_reasons,
        "is_unread_zero": is_unread_zero,
        "breaches_read": breaches_read,
    }
    return made


def text_lines(template: str, macro: str, **values: Any) -> list[str]:
    """The lines that a macro of a text template makes."""
    text: str = getattr(environment().get_template(template).module, macro)(**values)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def page_source(template: str, *, styles: Sequence[str], scripts: Sequence[str] = (), **values: Any) -> str:
    """A self-contained page: its own styles and scripts run, known by their hashes, and nothing else does."""
    style, script = (_source(names) for names in (styles, scripts))
    policy = f"default-src 'none'; style-src '{_hash(style)}'"
    if script:
        policy += f"; script-src '{_hash(script)}'"
    shown = environment().get_template(template)
    return shown.render(policy=Markup(policy), style=Markup(style), script=Markup(script), **values)


def _source(names: Sequence[str]) -> str:
    folder = resources.files("pytest_clinical_drift") / "data" / "templates"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
