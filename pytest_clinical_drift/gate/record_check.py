"""Whether the results file of a run says what follows from the rest of its folder."""

import datetime
from math import isclose
from pathlib import Path
from typing import Any

from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.core.parsing import parse_json
from pytest_clinical_drift.core.text import shortened
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.set_result import errors_of
from pytest_clinical_drift.report.json_file import without_sentences, written_form
from pytest_clinical_drift.results.files import RESULTS_FILE
from pytest_clinical_drift.results.inputs import RunInputs
from pytest_clinical_drift.results.models import RunResult


def is_reviewed(result: RunResult) -> bool:
    """Whether a run was judged with reviews after it had ended."""
    return result.reviewed is not None and result.reviewed.before is not None


def day_of(inputs: RunInputs, result: RunResult) -> datetime.date:
    """The latest day on which the waivers of a record hold: today, unless one of them has expired since."""
    today = datetime.date.today()
    waivers = inputs.thresholds.waivers
    cases = {case.id for case in inputs.cases}
    days = [today, *(waiver.expires for waiver in waivers if waiver.expires < today)]
    for day in sorted(days, reverse=True):
        if result.waivers == tuple(one for one in waivers if one.holds_on(day) and one.case in cases):
            return day
    return today


def check_deciders(folder: Path, inputs: RunInputs, result: RunResult) -> None:
    """InputError unless the judge decides what its calibration lets it decide."""
    judged, deciders = result.manifest.judged, inputs.deciders
    place = f"{folder / RESULTS_FILE}: what the judge decides does not follow from its calibration"
    if deciders.control or judged is None or judged.calibration is None:
        if deciders.deciding and not deciders.control:
            raise InputError(f"{place}: there is none")
        return
    if kind := judged.calibration.not_following():
        raise InputError(f"{place}: the limits of kind {shortened(kind)} are not those of its attempts")
    floors = {str(name): floor for name, floor in inputs.thresholds.judge.floors.items()}
    able = tuple(sorted(judged.calibration.deciding(floors)))
    if not able == deciders.deciding == judged.deciding:
        raise InputError(f"{place}: {', '.join(able) or 'nothing'}")
    if errors_of(judged.calibration, able) != deciders.errors:
        raise InputError(f"{place}: its errors are others")


def check_record(folder: Path, now: RunResult, *, sentences: bool = False) -> None:
    """InputError where the results file of a folder differs from what was judged again, naming what differs."""
    file = folder / RESULTS_FILE
    stated, follows = parse_json(read_text(file)), written_form(now)
    if not sentences:
        stated, follows = without_sentences(stated), without_sentences(follows)
    if found := _difference(stated, follows):
        name, said, judged = found
        raise InputError(
            f"{file}: {name} is {shortened(said)}, but judged again from run.json, log and transcripts it is "
            f"{shortened(judged)}; the file was changed, or another version of this package wrote it"
        )


_NAMED_BY = ("case_id", "metric", "name")


def _difference(stated: Any, follows: Any, place: str = "") -> tuple[str, Any, Any] | None:
    """The first place at which two records differ, such as `cases.anna.verdict`, with both values."""
    if isinstance(stated, dict) and isinstance(follows, dict):
        keys = [*follows, *(key for key in stated if key not in follows)]
        pairs = [(str(key), stated.get(key), follows.get(key)) for key in keys]
    elif isinstance(stated, list) and isinstance(follows, list) and len(stated) == len(follows):
        both = zip(stated, follows, strict=True)
        pairs = [(_entry_name(after, number), before, after) for number, (before, after) in enumerate(both, start=1)]
    else:
        return None if _same(stated, follows) else (place or "the record", stated, follows)
    for name, before, after in pairs:
        if found := _difference(before, after, f"{place}.{name}".lstrip(".")):
            return found
    return None


def _entry_name(entry: Any, number: int) -> str:
    names = [entry[key] for key in _NAMED_BY if key in entry] if isinstance(entry, dict) else []
    return str(names[0] if names else number)


def _same(stated: Any, follows: Any) -> bool:
    """Equal, but for the rounding of another machine."""
    if isinstance(stated, float) and isinstance(follows, float):
        return isclose(stated, follows, rel_tol=1e-9, abs_tol=1e-12)
    return bool(stated == follows) and type(stated) is type(follows)
