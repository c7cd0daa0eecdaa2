"""How good the judge is: from a valid file of the project, or measured on labelled questions now.

`clinical-drift calibrate` does the same and keeps the result, or writes the exact prompts and asks nobody.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.errors import InputError, UnknownSetting
from pytest_clinical_drift.judging.calibration import (
    Calibration,
    LabelledSet,
    calibrate,
    file_name,
    find_calibration,
    load_calibration_set,
    read_calibration,
    trouble_with,
    write_calibration,
)
from pytest_clinical_drift.judging.inquiry import OFFLINE, Inquiry
from pytest_clinical_drift.judging.prompts import messages_for
from pytest_clinical_drift.judging.protocol import Judge, build_judge
from pytest_clinical_drift.report.judge_text import render_calibration
from pytest_clinical_drift.subjects.base import read_settings
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

CALIBRATIONS = "calibration"
"""Folder of a project in which calibration files are looked for."""
_TELL_EVERY = 30.0
_KNOWN: dict[str, type] = {"offline": bool, "allow_subject": bool, "calibration": Path, "calibration_set": Path}

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Settings of the judge that are not the judge's own: how a run uses it."""

    offline: bool = False
    """Nobody is asked: only stored answers count."""
    allow_subject: bool = False
    """The model under test may judge itself."""
    calibration: Path | None = None
    """A calibration file; None: the project's folder is searched."""
    calibration_set: Path | None = None
    """Labelled questions; None: the bundled ones."""


def make_judge(spec: str, settings: Mapping[str, str]) -> tuple[Judge | None, JudgeOptions]:
    """The judge, not yet loaded (None: rules), and what a run needs to know of it."""
    own = {key: value for key, value in settings.items() if key in _KNOWN}
    options = JudgeOptions(**read_settings("the judge", own, _KNOWN, option="--drift-judge-set"))
    try:
        return build_judge(spec, {key: value for key, value in settings.items() if key not in own}), options
    except UnknownSetting as error:
        raise InputError(f"{error}; of every judge: {', '.join(sorted(_KNOWN))}") from None


def calibration_of(
    judge: Judge, inquiry: Inquiry, options: JudgeOptions, root: Path, today: datetime.date, say: Say | None
) -> Calibration:
    """The valid calibration that the project has, or one made now; InputError where it names one that is not valid."""
    if options.calibration is not None:
        found = read_calibration(options.calibration)
        if trouble := trouble_with(found, judge.identity(), today):
            raise InputError(
                f"--drift-judge-set calibration={options.calibration}: {trouble}; see clinical-drift calibrate"
            )
        return found
    if known := find_calibration(root / CALIBRATIONS, judge.identity(), today):
        return known
    labelled = load_calibration_set(options.calibration_set).of(judge.kinds)
    if say is not None and options.offline:
        say(f"no valid calibration of {judge.name} was found, and nobody is asked: only stored answers are counted")
    elif say is not None:
        say(
            f"no valid calibration of {judge.name} was found: it is measured on {len(labelled.rows):,} labelled "
            "questions first (keep the result with clinical-drift calibrate --out)"
        )
    return _measure(judge, inquiry, labelled, today, say)


def _measure(
    judge: Judge, inquiry: Inquiry, labelled: LabelledSet, today: datetime.date, say: Say | None
) -> Calibration:
    """Put labelled questions to a judge; InputError where it answers none at all."""
    count, last = inquiry.count, time.monotonic()

    def tell() -> None:
        nonlocal last
        if say is not None and time.monotonic() - last > _TELL_EVERY:
            last = time.monotonic()
            rows = len(labelled.rows)
            say(f"calibrating: {count.answered:,} of {count.asked:,} answers to {rows:,} questions so far")

    found = calibrate(inquiry, labelled, name=judge.name, identity=judge.identity(), today=today, waiting=tell)
    if count.answered and count.failed == count.answered and OFFLINE not in count.last_failure:
        raise InputError(f"--drift-judge {judge.name}: it answered no question at all ({count.last_failure})")
    return found


def labelled_questions(place: Path | None, limit: int | None) -> LabelledSet:
    """The set that `clinical-drift calibrate` asks, or the part of it."""
    if limit is not None and limit < 1:
        raise InputError(f"--limit: expected at least 1, found {limit}")
    labelled = load_calibration_set(place)
    return labelled.part(limit) if limit is not None else labelled


def calibrate_judge(
    spec: str, settings: Mapping[str, str], *, labelled: LabelledSet, out: Path, store: Path, root: Path, say: Say
) -> None:
    """Ask, count, print and write; answers already stored are not asked again."""
    judge, options = make_judge(spec, settings)
    if judge is None:
        raise InputError(f"--drift-judge {spec}: rules alone are no judge to calibrate")
    for remark in () if options.offline else judge.check():
        say(remark)
    inquiry = Inquiry(judge, store, offline=options.offline)
    usable = labelled.of(judge.kinds)
    say(f"{judge.name} is asked {len(usable.rows):,} labelled questions")
    try:
        found = _measure(judge, inquiry, usable, datetime.date.today(), say)
    finally:
        inquiry.stop()
    deciding = found.deciding(**load_thresholds(project_thresholds(root)).judge.floors) & judge.kinds
    say(render_calibration(found, deciding))
    target = out / file_name(judge.name, judge.identity()) if out.is_dir() else out
    say(f"written: {write_calibration(found, target)}")


def write_prompts(labelled: LabelledSet, path: Path) -> int:
    """Write the exact prompts of a set, a line per question and wording; nobody is asked."""
    rows = [
        {
            "id": question.id,
            "kind": question.kind,
            "wording": wording,
            "messages": [message.as_dict() for message in messages_for(question, wording)],
        }
        for question, _ in labelled.rows
        for wording in (1, 2)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return len(rows)
