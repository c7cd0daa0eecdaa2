"""How good the judge is, before it is asked anything that counts: from a valid file, or measured now."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from pathlib import Path

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.judge_options import JudgeOptions
from pytest_clinical_drift.judging.calibration import (
    Calibration,
    LabelledSet,
    calibrate,
    find_calibration,
    load_calibration_set,
    read_calibration,
    trouble_with,
)
from pytest_clinical_drift.judging.inquiry import OFFLINE, Count, Inquiry
from pytest_clinical_drift.judging.protocol import Judge

CALIBRATIONS = "calibration"
"""Folder of a project in which calibration files are looked for."""
_TELL_EVERY = 30.0

Say = Callable[[str], object]


def known_calibration(judge: Judge, options: JudgeOptions, root: Path, today: datetime.date) -> Calibration | None:
    """The valid calibration that the project has; InputError where it names one that is not valid."""
    identity = judge.identity()
    if options.calibration is None:
        return find_calibration(root / CALIBRATIONS, identity, today)
    found = read_calibration(options.calibration)
    if trouble := trouble_with(found, identity, today):
        raise InputError(
            f"--drift-judge-set calibration={options.calibration}: {trouble}; see clinical-drift calibrate"
        )
    return found


def calibrate_first(
    judge: Judge, inquiry: Inquiry, options: JudgeOptions, today: datetime.date, say: Say | None
) -> Calibration:
    """Measure a judge of which the project has no valid calibration."""
    labelled = load_calibration_set(options.calibration_set).of(judge.kinds)
    if say is not None and options.offline:
        say(f"no valid calibration of {judge.name} was found, and nobody is asked: only stored answers are counted")
    elif say is not None:
        say(
            f"no valid calibration of {judge.name} was found: it is measured on {len(labelled.rows):,} labelled "
            "questions first (keep the result with clinical-drift calibrate --out)"
        )
    return measure(judge, inquiry, labelled, today, say)


def measure(
    judge: Judge, inquiry: Inquiry, labelled: LabelledSet, today: datetime.date, say: Say | None
) -> Calibration:
    """Put labelled questions to a judge; InputError where it answers none at all."""
    found = calibrate(
        inquiry,
        labelled,
        name=judge.name,
        identity=judge.identity(),
        today=today,
        waiting=_reporter(inquiry.count, len(labelled.rows), say),
    )
    count = inquiry.count
    if count.answered and count.failed == count.answered and OFFLINE not in count.last_failure:
        raise InputError(f"--drift-judge {judge.name}: it answered no question at all ({count.last_failure})")
    return found


def _reporter(count: Count, questions: int, say: Say | None) -> Callable[[], object] | None:
    """A line now and then while it goes on."""
    if say is None:
        return None
    last = [time.monotonic()]

    def tell() -> None:
        if time.monotonic() - last[0] > _TELL_EVERY:
            last[0] = time.monotonic()
            say(f"calibrating: {count.answered:,} of {count.asked:,} answers to {questions:,} questions so far")

    return tell
