"""The labelled questions that a judge is measured on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from pytest_clinical_drift.cases.model import bundled
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import KINDS, against
from pytest_clinical_drift.judging.questions import Question, from_mapping


class _Line(BaseModel):
    """One line of a calibration file."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: dict[str, Any]
    label: str
    source: str = ""
    disputed: bool = False


class LabelledSet(NamedTuple):
    """Labelled questions, without those whose label is disputed."""

    rows: tuple[tuple[Question, str], ...]
    disputed: int

    def part(self, most: int) -> LabelledSet:
        """Of each kind at most so many with a fault and so many without, the first in the order of their ids."""
        taken: Counter[tuple[str, bool]] = Counter()
        kept = []
        for question, label in sorted(self.rows, key=lambda row: row[0].id):
            group = question.kind, against(question.kind, label)
            taken[group] += 1
            if taken[group] <= most:
                kept.append((question, label))
        return LabelledSet(tuple(kept), self.disputed)

    def of(self, kinds: frozenset[str]) -> LabelledSet:
        """Those that a judge can answer at all."""
        return LabelledSet(tuple(row for row in self.rows if row[0].kind in kinds), self.disputed)


def load_calibration_set(place: Path | None = None) -> LabelledSet:
    """The labelled questions of a file or folder; the bundled ones unless told."""
    place = place or bundled("cases", "calibration")
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    if not files:
        raise InputError(f"{place}: no calibration set found; expected .jsonl files")
    lines = [line for file in files for line in _read(file)]
    rows = {question.id: (question, label) for question, label, disputed in lines if not disputed}
    return LabelledSet(tuple(rows.values()), sum(disputed for _, _, disputed in lines))


def _read(file: Path) -> list[tuple[Question, str, bool]]:
    found = []
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({type(error).__name__})") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = _Line.model_validate_json(line)
            question = from_mapping(row.question)
        except (ValidationError, ValueError, TypeError, KeyError) as error:
            cause = str(error).splitlines()[0]
            raise InputError(f"{file}, line {number}: is no labelled question ({cause})") from None
        if row.label not in KINDS[question.kind]:
            raise InputError(f"{file}, line {number}: {row.label!r} is no answer to a question of kind {question.kind}")
        if row.question.get("id", question.id) != question.id:
            raise InputError(f"{file}, line {number}: the id does not fit the question; its content was changed")
        found.append((question, row.label, row.disputed))
    return found
