"""Templates: pages that escape everything under a policy by which only our own script runs, and plain sentences."""

import base64
import contextlib
import hashlib
import pickle
from collections.abc import Sequence
from functools import cache
from importlib import resources
from inspect import getmembers, isfunction
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.bccache import Bucket
from markupsafe import Markup

from pytest_clinical_drift.evidence.terms.vocabulary import keep, kept_beside
from pytest_clinical_drift.report import clean, words


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
    """Templates; pages escape everything, plain text and markdown take care of it themselves. No unknown names.

    Every function of `clean` and `words` is a filter and a function of templates.
    """
    made = Environment(
        loader=PackageLoader("pytest_clinical_drift", "data/templates"),
        autoescape=select_autoescape(disabled_extensions=("txt.j2", "md.j2"), default=True),
        undefined=StrictUndefined,
        bytecode_cache=_Compiled(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tools = dict(getmembers(clean, isfunction) + getmembers(words, isfunction))
    made.filters |= tools | {"clean": clean.printable}
    made.globals |= tools | {"words": words.words}
    return made


def text_lines(template: str, macro: str, **values: Any) -> list[str]:
    """The lines that a macro of a text template makes."""
    text: str = getattr(environment().get_template(template).module, macro)(**values)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def page_source(template: str, *, styles: Sequence[str], scripts: Sequence[str] = (), **values: Any) -> str:
    """A self-contained page: its own styles and scripts run, known by their hashes, and nothing else does."""
    folder = resources.files("pytest_clinical_drift") / "data" / "templates"
    style, script = (
        "\n".join((folder / name).read_text(encoding="utf-8") for name in part) for part in (styles, scripts)
    )
    policy = f"default-src 'none'; style-src '{_hash(style)}'" + (f"; script-src '{_hash(script)}'" if script else "")
    own = {"policy": Markup(policy), "style": Markup(style), "script": Markup(script)}
    return environment().get_template(template).render(**own, **values)


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
