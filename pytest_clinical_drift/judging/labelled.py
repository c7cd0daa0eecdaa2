"""Labelled readings and questions on which a judge is measured."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.core.files import numbered_lines
from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import KINDS
from pytest_clinical_drift.judging.entries import LISTED, Entry
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import READINGS, Reading

_POOLED = {"breach": ("must", "must_not", "forbidden")}
GROUPS: dict[str, tuple[str, ...]] = {
    group: _POOLED.get(group, (group,))
    for group in ("fact", "invented", "breach", "conflict", "harm", "course", "misreported")
}
"""What a judge is calibrated for, with the kinds of question that are pooled in it."""
GROUP_OF = {kind: group for group, kinds in GROUPS.items() for kind in kinds}


class _Line(BaseModel):
    question: dict[str, Any]
    label: Any
    subtle: bool = False
    disputed: bool = False


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labelled reading or question."""

    item: Reading | Question
    label: Any
    subtle: bool
    disputed: bool

    @property
    def patient(self) -> str:
        """Items of one patient are not independent."""
        return self.item.case_id

    def entries(self) -> list[Entry]:
        """What the label says, entry by entry; what it leaves out has no label."""
        item, turn = self.item, self.item.turn
        if isinstance(item, Question):
            return [Entry(item.kind, turn, item.fact or item.demand_id or "", str(self.label))]
        label: Mapping[str, Any] = self.label
        kinds = {line.id: line.kind for line in item.demands}
        entries = [Entry("fact", turn, fact, word) for fact, word in label.get("facts", {}).items()]
        entries += [Entry(kinds[name], turn, name, word) for name, word in label.get("demands", {}).items()]
        entries += [Entry(kind, turn, "", label[kind]) for kind in ("forbidden", "harm") if kind in label]
        if "conflict" in label:
            entries.append(Entry("conflict", turn, "", label["conflict"], turns=(item.earlier_turn or 0, turn)))
        for listed in label.get("unsupported", ()):
            answer = "invented" if listed.get("grade") == "minor" else "severe"
            entries.append(Entry("invented", turn, listed["quote"], answer))
        for listed in label.get("contradictions", ()):
            pair = (listed["earlier"], listed["later"])
            entries.append(Entry("conflict", turn, "", listed.get("answer", "severe"), turns=pair))
        for listed in label.get("course", ()):
            entries.append(Entry("course", turn, "", listed["answer"], turns=(listed["turns"][0], listed["turns"][1])))
        misreported = label.get("misreported", ())
        return entries + [Entry("misreported", turn, listed["quote"], "misreported") for listed in misreported]

    def trials(self) -> list[Entry]:
        """What a judge is tried on: each entry, and each list labelled as empty, as an entry that names nothing."""
        label = self.label if isinstance(self.item, Reading) else {}
        empty = [kind for kind, key in LISTED.items() if label.get(key) == []]
        return self.entries() + [Entry(kind, self.item.turn, "", KINDS[kind][0]) for kind in empty]


def labels_hash(labelled: Iterable[Labelled]) -> str:
    """Hash of texts and labels, made before any judge answers."""
    rows = sorted(f"{row.item.id} {json.dumps(row.label, sort_keys=True)}" for row in labelled)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def load_calibration_set(place: Path | None = None) -> list[Labelled]:
    """The labelled readings and questions of a file or folder; the bundled ones unless told."""
    place = place or bundled("cases", "calibration")
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    if not files:
        raise InputError(f"{place}: no calibration set found; expected .jsonl files")
    rows = {row.item.id: row for file in files for row in _read(file)}
    return list(rows.values())


def _read(file: Path) -> Iterator[Labelled]:
    for number, line in numbered_lines(file):
        where = f"{file}, line {number}"
        try:
            row = _Line.model_validate_json(line)
            asked = row.question
            item = (Reading if asked.get("kind") in READINGS else Question).from_mapping(asked)
            labelled = Labelled(item, row.label, row.subtle, row.disputed)
            entries = labelled.entries()
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            fault = first_fault(error) if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
            raise InputError(f"{where}: not a labelled reading or question ({fault})") from None
        for entry in entries:
            if entry.answer not in KINDS.get(entry.kind, ()):
                raise InputError(f"{where}: {entry.answer!r} is not an answer of kind {entry.kind}")
        if asked.get("id", item.id) != item.id:
            raise InputError(f"{where}: the id does not fit the content; it was changed")
        yield labelled
