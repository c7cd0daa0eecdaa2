"""Settings of the judge that are not the judge's own: `--drift-judge-set offline=true` and the like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import read_settings

_KNOWN: dict[str, type] = {"offline": bool, "allow_subject": bool, "calibration": Path, "calibration_set": Path}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How a run uses its judge."""

    offline: bool = False
    """Nobody is asked: only stored answers count."""
    allow_subject: bool = False
    """The model under test may judge itself."""
    calibration: Path | None = None
    """A calibration file; None: the project's folder is searched."""
    calibration_set: Path | None = None
    """Labelled questions; None: the bundled ones."""


def split_settings(settings: Mapping[str, str]) -> tuple[JudgeOptions, dict[str, str]]:
    """What a run needs to know, and what the judge itself does."""
    own = {key: value for key, value in settings.items() if key in _KNOWN}
    others = {key: value for key, value in settings.items() if key not in own}
    return JudgeOptions(**read_settings("the judge", own, _KNOWN, option="--drift-judge-set")), others


def read_pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """KEY=VALUE texts of a repeatable option."""
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"{option} {text}: write KEY=VALUE, for example temperature=0")
        pairs[key.strip()] = value.strip()
    return pairs
