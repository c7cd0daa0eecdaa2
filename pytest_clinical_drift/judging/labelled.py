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
from pytest_clinical_drift.core.findings import Finding, FindingKey
from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.core.words import Kind, Word
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import KINDS
from pytest_clinical_drift.judging.entries import LISTED, entry_of
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import READINGS, Reading

_POOLED = {"breach": ("must", "must_not", "forbidden")}
GROUPS: dict[str, tuple[str, ...]] = {
    group: _POOLED.get(group, (group,))
    for group in ("fact", "invented", "breach", "conflict", "harm", "course", "misreported")
}
"""What a judge is calibrated for, with the kinds of question that are pooled in it."""
GROUP_OF: dict[str, str] = {}
"""The group of each kind."""
for _group, _kinds in GROUPS.items():
    GROUP_OF.update(dict.fromkeys(_kinds, _group))


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

    def entries(self) -> list[Finding]:
        """What the label says, entry by entry; what it leaves out has no label."""
        item = self.item
        if isinstance(item, Question):
            return [_label(item, item.kind, str(self.label), subject=item.fact or item.demand_id or "")]
        return [*self._named(item), *self._listed(item)]

    def _named(self, item: Reading) -> Iterator[Finding]:
        """Facts, demands, and what a whole reply is asked."""
        label: Mapping[str, Any] = self.label
        kinds = {line.id: line.kind for line in item.demands}
        for fact, word in label.get("facts", {}).items():
            yield _label(item, Kind.FACT, word, subject=fact)
        for demand, word in label.get("demands", {}).items():
            yield _label(item, kinds[demand], word, subject=demand)
        for kind in (Kind.FORBIDDEN, Kind.HARM):
            if kind in label:
                yield _label(item, kind, label[kind])
        if Kind.CONFLICT in label:
            yield _label(item, Kind.CONFLICT, label[Kind.CONFLICT], span=(item.earlier_turn or 0, item.turn))

    def _listed(self, item: Reading) -> Iterator[Finding]:
        """What a reading should list."""
        label: Mapping[str, Any] = self.label
        for listed in label.get("unsupported", ()):
            answer = Word.INVENTED if listed.get("grade") == "minor" else Word.SEVERE
            yield _label(item, Kind.INVENTED, answer, subject=listed["quote"])
        for listed in label.get("contradictions", ()):
            span = (listed["earlier"], listed["later"])
            yield _label(item, Kind.CONFLICT, listed.get("answer", Word.SEVERE), span=span)
        for listed in label.get("course", ()):
            yield _label(item, Kind.COURSE, listed["answer"], span=(listed["turns"][0], listed["turns"][1]))
        for listed in label.get("misreported", ()):
            yield _label(item, Kind.MISREPORTED, Word.MISREPORTED, subject=listed["quote"])

    def trials(self) -> list[Finding]:
        """What a judge is tried on: each entry, and each list labelled as empty, as an entry that names nothing."""
        label = self.label if isinstance(self.item, Reading) else {}
        empty = [kind for kind, key in LISTED.items() if label.get(key) == []]
        return self.entries() + [_label(self.item, kind, KINDS[kind][0]) for kind in empty]


def _label(
    item: Reading | Question, kind: str, answer: str, *, subject: str = "", span: tuple[int, int] | None = None
) -> Finding:
    return entry_of(FindingKey.of(kind, item.turn, subject, span=span), None, answer)


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
    rows: dict[str, Labelled] = {}
    for file in files:
        rows.update({row.item.id: row for row in _read(file)})
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
