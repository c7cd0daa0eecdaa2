"""Reads the controls' own words and knowledge from the data folder, once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_DATA = Path(__file__).resolve().parents[2] / "data"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def load(name: str) -> Any:
    """One of the package's YAML files; treat it as read-only."""
    return yaml.load((_DATA / name).read_text(encoding="utf-8"), Loader=_LOADER)


def words(section: str) -> Any:
    """A section of the controls' vocabulary."""
    return load("control.yaml")[section]


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """A pattern for whole words and phrases in any case; a trailing * leaves the word's end open."""
    parts = []
    for phrase in phrases:
        body = re.escape(phrase.rstrip("*").lower()).replace(r"\ ", r"\s+")
        parts.append(body + (r"\w*" if phrase.endswith("*") else ""))
    return re.compile(r"(?<!\w)(?:" + "|".join(parts) + r")(?!\w)", re.IGNORECASE)


def plain(text: str) -> str:
    """Typographic quotes and special spaces written the simple way."""
    return text.translate(_SIMPLE)


_SIMPLE = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " ", "\u202f": " ", "\u2009": " "}
)
