"""`clinical-drift calibrate`: measures a judge on labelled questions, or writes the exact prompts it would get."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.calibrating import measure
from pytest_clinical_drift.gate.estimate import expected_questions
from pytest_clinical_drift.gate.judge_options import split_settings
from pytest_clinical_drift.judging.archive import Archive
from pytest_clinical_drift.judging.calibration import (
    Calibration,
    LabelledSet,
    file_name,
    load_calibration_set,
    write_calibration,
)
from pytest_clinical_drift.judging.inquiry import Inquiry
from pytest_clinical_drift.judging.prompts import messages_for
from pytest_clinical_drift.judging.protocol import build_judge
from pytest_clinical_drift.report.judge_text import render_calibration
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

Say = Callable[[str], object]


def labelled_questions(place: Path | None, limit: int | None) -> LabelledSet:
    """The set that is asked, or the part of it."""
    if limit is not None and limit < 1:
        raise InputError(f"--limit: expected at least 1, found {limit}")
    labelled = load_calibration_set(place)
    return labelled.part(limit) if limit is not None else labelled


def calibrate_judge(
    spec: str, settings: Mapping[str, str], *, labelled: LabelledSet, out: Path, store: Path, root: Path, say: Say
) -> Calibration:
    """Ask, count, print and write; answers already stored are not asked again."""
    options, others = split_settings(settings)
    judge = build_judge(spec, others)
    if judge is None:
        raise InputError(f"--drift-judge {spec}: rules alone are no judge to calibrate")
    for remark in () if options.offline else judge.check():
        say(remark)
    identity, today = judge.identity(), datetime.date.today()
    inquiry = Inquiry(judge, Archive(store, identity), offline=options.offline)
    usable = labelled.of(judge.kinds)
    say(f"{judge.name} is asked {len(usable.rows):,} labelled questions")
    try:
        found = measure(judge, inquiry, usable, today, say)
    finally:
        inquiry.stop()
    floors = load_thresholds(project_thresholds(root)).judge.floors
    deciding = found.deciding(**floors) & judge.kinds
    say(render_calibration(found, deciding, _false_alarms(found)))
    target = out / file_name(judge.name, identity) if out.is_dir() else out
    say(f"written: {write_calibration(found, target)}")
    return found


def _false_alarms(calibration: Calibration) -> dict[str, tuple[float, float]]:
    """What would be confirmed wrongly, by kind, in one run of the bundled cases: as measured, and its upper limit."""
    asked = expected_questions(load_cases(bundled_cases()))
    rates = {kind: limits.false_confirmed for kind, limits in calibration.kinds.items()}
    return {
        kind: (asked.get(kind, 0.0) * (rate.value or 0.0), asked.get(kind, 0.0) * rate.high)
        for kind, rate in rates.items()
    }


def write_prompts(labelled: LabelledSet, path: Path) -> int:
    """Write the exact prompts of a set, a line per question and wording; nobody is asked."""
    rows: Sequence[dict[str, object]] = [
        {
            "id": question.id,
            "kind": question.kind,
            "wording": wording,
            "messages": [message.as_dict() for message in messages_for(question, wording)],
        }
        for question, _ in labelled.rows
        for wording in (1, 2)
    ]
    try:
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--prompts {path}: cannot be written ({type(error).__name__})") from None
    return len(rows)
