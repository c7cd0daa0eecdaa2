"""The labelled questions that a judge is measured on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.cases.files import read_text
from pytest_clinical_drift.cases.model import bundled
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import KINDS, against
from pytest_clinical_drift.judging.questions import Question, from_mapping


class _Line(BaseModel):
    """One line of a calibration file."""

    question: dict[str, Any]
    label: str
    disputed: bool = False


class LabelledSet(NamedTuple):
    """Labelled questions, without those whose label is disputed."""

    rows: tuple[tuple[Question, str], ...]
    disputed: int

    def part(self, most: int) -> LabelledSet:
        """Of each kind at most so many with a fault and so many without, the first in the order of their ids."""
        groups: defaultdict[tuple[str, bool], list[tuple[Question, str]]] = defaultdict(list)
        for question, label in sorted(self.rows, key=lambda row: row[0].id):
            groups[question.kind, against(question.kind, label)].append((question, label))
        return LabelledSet(tuple(row for rows in groups.values() for row in rows[:most]), self.disputed)

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


def _read(file: Path) -> Iterator[tuple[Question, str, bool]]:
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _Line.model_validate_json(line)
            question = from_mapping(row.question)
        except ValidationError as error:
            raise InputError(f"{file}, line {number}: is no labelled question ({first_fault(error)})") from None
        except ValueError as error:
            raise InputError(f"{file}, line {number}: is no labelled question ({error})") from None
        if row.label not in KINDS[question.kind]:
            raise InputError(f"{file}, line {number}: {row.label!r} is no answer to a question of kind {question.kind}")
        if row.question.get("id", question.id) != question.id:
            raise InputError(f"{file}, line {number}: the id does not fit the question; its content was changed")
        yield question, row.label, row.disputed
