"""Keys and entries of readings, made up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_clinical_drift.core.findings import Finding, FindingKey, Opinion
from pytest_clinical_drift.judging.entries import entry_of


def key(kind: str, *parts: int | str, source: str = "") -> FindingKey:
    """The key of a kind: turn and subject, or two turns."""
    turn, *rest = parts
    if rest and isinstance(rest[0], int):
        return FindingKey.of(kind, rest[0], span=(int(turn), rest[0]))
    return FindingKey.of(kind, int(turn), str(rest[0]) if rest else "", source=source)


def entry(of: FindingKey, answer: str, quote: str = "", earlier_quote: str = "", **more: Any) -> Finding:
    """An entry of a reading."""
    return entry_of(of, Opinion("reader", 1, answer, quote, "", earlier_quote, reading=True, **more), answer)


def at(of: FindingKey, finding: Finding) -> dict[FindingKey, Finding]:
    """What was settled of a conversation: this finding, under this key."""
    return {of: replace(finding, key=of)}
