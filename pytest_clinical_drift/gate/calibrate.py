"""`clinical-drift calibrate`: measure a judge on labelled texts and public sets, print it, keep it."""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.pytest_reports import Say
from pytest_clinical_drift.gate.run import judge_policy
from pytest_clinical_drift.judging.calibration_file import (
    Calibration,
    ExternalTable,
    file_name,
    fingerprint,
    read_calibration,
    write_calibration,
)
from pytest_clinical_drift.judging.judge_options import make_judges, procedure_of
from pytest_clinical_drift.judging.labelled import LabelledSet, load_calibration_set
from pytest_clinical_drift.judging.make_calibration import cost_line, make_calibration
from pytest_clinical_drift.judging.procedure import Judges
from pytest_clinical_drift.judging.protocol import Judge
from pytest_clinical_drift.judging.public_sets import load_external, measure_external
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.report.judge_text import render_calibration, render_external
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds


def labelled_set(place: Path | None, limit: int | None) -> LabelledSet:
    """The set that is read, or a part of it: at most so many texts of each kind, the first by id."""
    if limit is not None and limit < 1:
        raise InputError(f"--limit: expected at least 1, found {limit}")
    labelled = load_calibration_set(place)
    if limit is None:
        return labelled
    rows = sorted(labelled.rows, key=lambda row: row.item.id)
    kinds = dict.fromkeys(row.item.kind for row in rows)
    return LabelledSet(tuple(row for kind in kinds for row in [r for r in rows if r.item.kind == kind][:limit]))


def calibrate(
    specs: Sequence[str],
    settings: Mapping[str, str],
    *,
    labelled: LabelledSet,
    external: Sequence[str],
    out: Path,
    root: Path,
    say: Say,
) -> bool:
    """Measure, print and write; a file of the same judge is continued, every attempt pooled. Whether it may decide."""
    judges, options = make_judges(specs, settings)
    if not judges:
        raise InputError(f"--drift-judge {' '.join(specs)}: rules alone are not a judge to calibrate")
    if options.offline:
        raise InputError("--drift-judge-set offline=true: calibrating asks the judge anew; leave it out")
    sets = [load_external(given) for given in external]
    for judge in judges:
        for remark in judge.check():
            say(remark)
    identities = [judge.identity() for judge in judges]
    name = " + ".join(judge.name for judge in judges)
    target = out / file_name(name, identities) if out.is_dir() or not out.suffix else out
    known = read_calibration(target) if target.is_file() else None
    earlier = known if known is not None and known.identity == fingerprint(identities) else None
    policy = judge_policy(load_thresholds(project_thresholds(root)).judge)
    procedure = procedure_of(judges, policy)
    today = datetime.date.today()
    say(f"{name}: {cost_line(labelled, procedure)}")
    made = make_calibration(judges, procedure, labelled, today=today, rules=policy, say=say).after(earlier)
    deciding = made.deciding(policy.floors)
    say(render_calibration(made, deciding, policy.floors))
    if sets:
        made = _with_external(made, judges, procedure, sets, today=today, say=say)
    say(f"written: {write_calibration(made, target)}")
    for judge in judges:
        judge.close()
    return bool(deciding)


def _with_external(
    made: Calibration,
    judges: Sequence[Judge],
    procedure: Judges,
    sets: Sequence[tuple[str, list]],  # type: ignore[type-arg]
    *,
    today: datetime.date,
    say: Say,
) -> Calibration:
    queue = JudgeQueue(judges[0], judges[1] if len(judges) > 1 else None, fresh=True)
    tables: list[ExternalTable] = []
    try:
        for name, items in sets:
            say(f"{name}: {len(items):,} labelled items")
            tables.append(measure_external(queue, name, items, procedure, today=today))
            say(render_external(tables[-1]))
    finally:
        queue.stop(close=False)
    kept = [table for table in made.external if table.name not in {table.name for table in tables}]
    return made.model_copy(update={"external": (*kept, *tables)})
