"""How good a judge is: the whole procedure, both wordings, on labelled questions; and what it may decide."""

from __future__ import annotations

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.cases.files import read_text
from pytest_clinical_drift.cases.model import bundled
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import KINDS, UNSURE, Answer, against
from pytest_clinical_drift.judging.inquiry import Inquiry
from pytest_clinical_drift.judging.opinions import DISMISSED, UPHELD, outcome_of
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.questions import Question, from_mapping
from pytest_clinical_drift.metrics.stats import proportion_interval
from pytest_clinical_drift.subjects.base import Identity

VALID_DAYS = 30
"""For a judge whose identity is not proven: an alias may be another model tomorrow."""
CONFIDENCE = 0.95


class Share(BaseModel, frozen=True):
    hits: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None


class KindLimits(BaseModel, frozen=True):
    """How good the procedure is on one kind of question."""

    sensitivity: Share
    """Faults upheld in both wordings, of all faults; an open one counts as missed."""
    specificity: Share
    """Clean ones dismissed, of all clean ones; an open one counts as an error."""
    false_confirmed: Share
    """Clean ones upheld in both wordings, of all clean ones."""
    missed: Share
    """Faults dismissed, of all faults."""
    consistent: Share
    """Questions asked twice whose two answers lean the same way."""
    failed: int = 0


class Calibration(BaseModel, frozen=True):
    """The file that a project commits."""

    judge: str
    """The judge's name."""
    identity: str
    """Hash of judge, settings and prompts."""
    proven: bool
    prompt_version: str
    prompts: str
    made: datetime.date
    questions: int
    disputed: int = 0
    """Questions of the set whose label was disputed: kept apart, not asked."""
    labelled_by: str = "models"
    """Who labelled the set: not clinicians, unless it says so."""
    seconds_per_question: float | None = None
    """Time per answer, all in flight at once; None where every answer was stored."""
    tokens_per_question: tuple[float, float] | None = None
    """Of prompt and answer, per answer; None where the judge does not count them."""
    kinds: dict[str, KindLimits]
    confusions: dict[str, int] = {}
    """`kind: label -> answer` with how often, where they differ."""

    def deciding(self, *, sensitivity: float, specificity: float) -> frozenset[str]:
        """Kinds whose lower limits reach the floors: the others are shown and decide nothing."""
        return frozenset(
            kind
            for kind, limits in self.kinds.items()
            if limits.sensitivity.low >= sensitivity and limits.specificity.low >= specificity
        )


def calibrate(
    inquiry: Inquiry,
    labelled: LabelledSet,
    *,
    name: str,
    identity: Identity,
    today: datetime.date,
    waiting: Callable[[], object] | None = None,
) -> Calibration:
    """Ask every labelled question as a run would, and count."""
    inquiry.submit("calibration", [question for question, _ in labelled.rows])
    labels = {question.id: label for question, label in labelled.rows}
    outcomes = [(q, labels[q.id], [a for _, a in given]) for q, given in inquiry.wait("calibration", waiting=waiting)]
    given = [(q.kind, label, answer.answer) for q, label, answers in outcomes for answer in answers]
    confused = Counter(f"{kind}: {label} -> {told}" for kind, label, told in given if told != label)
    count = inquiry.count
    fresh, told = count.answered - count.reused, count.tokens
    per_answer = [round(told[what] / told["answers"], 1) for what in ("prompt", "answer") if told["answers"]]
    return Calibration(
        judge=name,
        identity=identity.fingerprint(prompt_hash()),
        proven=identity.proven,
        prompt_version=prompt_version(),
        prompts=prompt_hash(),
        made=today,
        questions=len(outcomes),
        disputed=labelled.disputed,
        seconds_per_question=round(count.seconds / fresh, 4) if fresh else None,
        tokens_per_question=(per_answer[0], per_answer[1]) if per_answer else None,
        kinds={kind: _limits(of) for kind in KINDS if (of := [o for o in outcomes if o[0].kind == kind])},
        confusions=dict(confused.most_common(20)),
    )


_Outcome = tuple[Question, str, list[Answer]]


def _limits(outcomes: Sequence[_Outcome]) -> KindLimits:
    """As the judge alone would have it, harm included, which a person confirms."""
    bad: list[str] = []
    clean: list[str] = []
    leanings = []
    for question, label, answers in outcomes:
        told = [answer.answer for answer in answers]
        (bad if against(question.kind, label) else clean).append(outcome_of(question, told))
        leanings.append([against(question.kind, answer) for answer in told if answer != UNSURE])
    twice = [leaning for leaning in leanings if len(leaning) == 2]
    return KindLimits(
        sensitivity=_share(bad.count(UPHELD), len(bad)),
        specificity=_share(clean.count(DISMISSED), len(clean)),
        false_confirmed=_share(clean.count(UPHELD), len(clean)),
        missed=_share(bad.count(DISMISSED), len(bad)),
        consistent=_share(sum(one == two for one, two in twice), len(twice)),
        failed=sum(bool(answer.failed) for _, _, given in outcomes for answer in given),
    )


def _share(hits: int, of: int) -> Share:
    interval = proportion_interval(hits, of, confidence=CONFIDENCE)
    return Share(hits=hits, of=of, low=interval.low if interval else 0.0, high=interval.high if interval else 1.0)


# ---- the file


def file_name(name: str, identity: Identity) -> str:
    """Named by judge, prompt version and a fingerprint of both."""
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:80]
    return f"{slug}-prompts-{prompt_version()}-{identity.fingerprint(prompt_hash())[:10]}.json"


def read_calibration(path: Path) -> Calibration:
    """A calibration file; InputError in one sentence when it is none."""
    try:
        return Calibration.model_validate_json(read_text(path))
    except ValidationError as error:
        raise InputError(f"{path}: is no calibration file ({first_fault(error)})") from None


def write_calibration(calibration: Calibration, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(calibration.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return path


def trouble_with(calibration: Calibration, identity: Identity, today: datetime.date) -> str:
    """Why a calibration says nothing about this judge today; empty where it does."""
    if calibration.prompts != prompt_hash():
        return f"it was made with other prompts (version {calibration.prompt_version}; now {prompt_version()})"
    if calibration.identity != identity.fingerprint(prompt_hash()):
        return f"it is of another judge or of other settings ({calibration.judge})"
    if not calibration.proven and (today - calibration.made).days > VALID_DAYS:
        return f"it was made on {calibration.made}, over {VALID_DAYS} days ago, and the judge's identity is not proven"
    return ""


def find_calibration(folder: Path, identity: Identity, today: datetime.date) -> Calibration | None:
    """The newest valid calibration of a judge in a project's folder; None where there is none."""
    found = [read_calibration(path) for path in sorted(folder.glob("*.json"))]
    valid = [calibration for calibration in found if not trouble_with(calibration, identity, today)]
    return max(valid, key=lambda calibration: calibration.made, default=None)


# ---- the labelled questions


class _Line(BaseModel):
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
        except ValueError as error:
            told = first_fault(error) if isinstance(error, ValidationError) else error
            raise InputError(f"{file}, line {number}: is no labelled question ({told})") from None
        if row.label not in KINDS[question.kind]:
            raise InputError(f"{file}, line {number}: {row.label!r} is no answer to a question of kind {question.kind}")
        if row.question.get("id", question.id) != question.id:
            raise InputError(f"{file}, line {number}: the id does not fit the question; its content was changed")
        yield question, row.label, row.disputed
