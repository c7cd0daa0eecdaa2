"""What a run will cost; `clinical-drift calibrate`: a judge measured; `start`: from there to a first verdict, with the
files of a project.
"""

import datetime
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import probed_turns
from pytest_clinical_drift.conversation import dialogue
from pytest_clinical_drift.conversation.seals import KEY_VARIABLE
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.items import STUDY
from pytest_clinical_drift.gate.pytest_reports import Say
from pytest_clinical_drift.gate.run import GateRun, judge_policy
from pytest_clinical_drift.gate.settings import Settings, read_pairs
from pytest_clinical_drift.judging.calibration_file import file_name, fingerprint, read_calibration, write_calibration
from pytest_clinical_drift.judging.judge_options import make_judges, procedure_of
from pytest_clinical_drift.judging.labelled import Labelled, load_calibration_set
from pytest_clinical_drift.judging.make_calibration import CALIBRATIONS, cost_line, make_calibration
from pytest_clinical_drift.judging.pdsqi import WORDINGS, rated_turns
from pytest_clinical_drift.judging.public_sets import load_external, measure_external
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.report.calibration_text import render_calibration, render_external
from pytest_clinical_drift.report.run_lines import JudgeEstimate, RunEstimate, estimate_lines, judge_estimate_lines
from pytest_clinical_drift.report.start_files import Project, ci_file, pytest_ini, thresholds_file
from pytest_clinical_drift.subjects.spec import on_this_machine, parse_spec
from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds
from pytest_clinical_drift.versions import PACKAGE, own_version

CiSystem = Literal["github", "gitlab", "none"]
CI_FILES: Mapping[str, str] = {"github": ".github/workflows/clinical-drift.yml", "gitlab": ".gitlab-ci.yml"}
FIRST_CASES = 3
"""Cases of the first run: the shortest ones."""
_BUSY = 429
"""The status of a server that asks for patience, which a run has."""
_CHARACTERS_PER_TOKEN = 4.2
"""English prose under common tokenizers; good enough for an estimate."""
_TEXT_TOKENS = 250
"""Of a reply or summary."""
_READING_TOKENS, _QUESTION_TOKENS = (2_600, 250), (1_500, 60)
"""Of prompt and answer, as on the bundled cases."""
_CAREFUL, _WEAK = 0.25, 2.4
"""Single questions per reading: of a careful strong model, and of recorded weak ones."""


def estimate(cases: Sequence[Case], run: GateRun, *, calibration: bool = True) -> list[str]:
    """Requests and tokens of a run, a line each for the model and for the judge, one for its calibration if due.

    The number of readings is exact; how many questions they raise depends on the model.
    """
    plan, session = run.plan, run.session
    turns, summaries, tokens = sum(len(case.turns) for case in cases), 0, 0.0
    for case in cases:
        before = (plan.system_prompt or "", dialogue.INTAKE, dialogue.PATIENT, case.patient_summary)
        history = sum(map(_tokens, before))
        probed = probed_turns(case, plan.probe_every_turn)
        summaries += len(probed)
        for turn in case.turns:
            history += _tokens(turn.message)
            tokens += history
            history += _TEXT_TOKENS
            tokens += (history + _tokens(dialogue.PROBE)) * (turn.turn in probed)
        tokens += (history + _tokens(dialogue.PROBE)) * plan.single_message
    requests = sum(plan.requests(case) for case in cases)
    lines = estimate_lines(
        RunEstimate(
            cases=len(cases),
            turns=turns,
            requests=requests,
            prompt=tokens * plan.repeats,
            completion=requests * _TEXT_TOKENS,
        )
    )
    if not session.judges or session.is_control:
        return lines
    handovers = sum(turn.handover for case in cases for turn in case.turns)
    readings = (turns + summaries + handovers + len(cases)) * plan.repeats
    ratings = sum(len(rated_turns(case)) for case in cases) * len(WORDINGS) * plan.repeats if session.rates else 0
    due = sum(state.fact.hard_stop for case in cases for state in facts_at(case, len(case.turns))) * 2 * plan.repeats
    few, many = (round(readings * rate) + due for rate in (_CAREFUL, _WEAK))
    prompt, answer = (
        ((readings + ratings) * of_reading + few * of_question, (readings + ratings) * of_reading + many * of_question)
        for of_reading, of_question in zip(_READING_TOKENS, _QUESTION_TOKENS, strict=True)
    )
    due_now = calibration and session.known_to_decide() is None
    more = cost_line(load_calibration_set(session.options.calibration_set), session.procedure) if due_now else ""
    return lines + judge_estimate_lines(
        JudgeEstimate(
            readings=readings,
            questions=(few, many),
            prompt=prompt,
            answer=answer,
            checks=session.options.audit + 2 * session.options.canaries,
            ratings=ratings,
            calibration=more,
        )
    )


def _tokens(text: str) -> float:
    return len(text) / _CHARACTERS_PER_TOKEN


def labelled_set(place: Path | None, limit: int | None) -> list[Labelled]:
    """The set that is read, or a part of it: at most so many texts of each kind, the first by id."""
    if limit is not None and limit < 1:
        raise InputError(f"--limit: expected at least 1, found {limit}")
    labelled = load_calibration_set(place)
    if limit is None:
        return labelled
    rows = sorted(labelled, key=lambda row: row.item.id)
    kinds = dict.fromkeys(row.item.kind for row in rows)
    return [row for kind in kinds for row in [r for r in rows if r.item.kind == kind][:limit]]


def calibrate(
    *,
    drift_judge: Sequence[str],
    drift_judge_set: Sequence[str],
    set: Path | None,
    limit: int | None = None,
    external: Sequence[str] = (),
    out: Path | None,
    say: Say,
) -> int:
    """Measure judges on labelled texts and public sets, print and write it; every attempt of the same judge counts."""
    if not drift_judge or not out:
        raise InputError(
            "calibrate: name the judge with --drift-judge SPEC and where to write with --out FILE_OR_FOLDER"
        )
    labelled, sets = labelled_set(set, limit), [load_external(given) for given in external]
    judges, options = make_judges(drift_judge, read_pairs(drift_judge_set, "--drift-judge-set"))
    if not judges:
        raise InputError(f"--drift-judge {' '.join(drift_judge)}: rules alone are not a judge to calibrate")
    if options.offline:
        raise InputError("--drift-judge-set offline=true: calibrating asks the judge anew; leave it out")
    for remark in (remark for judge in judges for remark in judge.check()):
        say(remark)
    identities = [judge.identity() for judge in judges]
    name = " + ".join(judge.name for judge in judges)
    target = out / file_name(name, identities) if out.is_dir() or not out.suffix else out
    known = read_calibration(target) if target.is_file() else None
    earlier = known if known is not None and known.identity == fingerprint(identities) else None
    policy, today = judge_policy(load_thresholds(project_thresholds(Path.cwd())).judge), datetime.date.today()
    procedure = procedure_of(judges, policy)
    say(f"{name}: {cost_line(labelled, procedure)}")
    made = make_calibration(judges, procedure, labelled, today=today, rules=policy, say=say).after(earlier)
    deciding = made.deciding(policy.floors)
    say(render_calibration(made, deciding, policy.floors))
    tables = {table.name: table for table in made.external}
    queue = JudgeQueue(*judges)
    try:
        for set_name, items in sets:
            say(f"{set_name}: {len(items):,} labelled items")
            tables[set_name] = measure_external(queue, set_name, items, procedure, today=today)
            say(render_external(tables[set_name]))
    finally:
        queue.stop()
    written = write_calibration(made.model_copy(update={"external": tuple(tables.values())}), target)
    say(f"written: {written}")
    return 0 if deciding else 7  # as UNSETTLED: this judge settles nothing


def start(
    *,
    model: str | None,
    drift_judge: Sequence[str],
    drift_set: Sequence[str],
    drift_judge_set: Sequence[str],
    ci: CiSystem,
    yes: bool,
    say: Say,
) -> int:
    """Check both models, say what they cost, calibrate, write what is missing and run the first cases.

    The user agrees between the price and the first request that costs anything. The exit code is that of the run.
    """
    settings = Settings(
        model=model or _asked("candidate", "--model", "server:candidate@http://localhost:8000/v1"),
        judges=tuple(drift_judge) or (_asked("judge", "--drift-judge", "server:reader@https://host/v1"),),
        settings=read_pairs(drift_set, "--drift-set"),
        judge_settings=read_pairs(drift_judge_set, "--drift-judge-set"),
        root=Path.cwd(),
    )
    run = GateRun(settings)
    first = sorted(run.cases.values(), key=lambda case: (len(case.turns), case.id))[:FIRST_CASES]
    if not run.session.judges:
        raise InputError("start: a judge reads the conversations; name one with --drift-judge SPEC")
    run.session.refuse_subject()
    remarks = run.subject.check(run.inputs.cases)
    _refuse(f"--model {settings.model}", run.subject)
    for judge in run.session.judges:
        remarks += judge.check()
        _refuse(f"--drift-judge {judge.identity().spec}", judge)
    calibration_is_due = run.session.known_to_decide() is None
    whole = list(run.cases.values())
    remarks += [f"the first {len(first)} cases", *(f"  {line}" for line in estimate(first, run))]
    remarks += [f"all {len(whole)} cases", *(f"  {line}" for line in estimate(whole, run, calibration=False))]
    for remark in remarks:
        say(remark)
    if not yes:
        _needs_terminal("no terminal to confirm on; add --yes")
        if input("go ahead? [y/N] ").strip().lower() not in ("y", "yes"):
            say("cancelled: nothing sent, nothing written")
            return 0
    if calibration_is_due:
        texts, out = run.session.options.calibration_set, settings.root / CALIBRATIONS
        calibrate(drift_judge=settings.judges, drift_judge_set=drift_judge_set, set=texts, out=out, say=say)
    judge_options: list[str] = []
    if (settings.root / "pytest.ini").exists():  # it is kept, and may name another judge
        judge_options += [part for spec in settings.judges for part in ("--drift-judge", spec)]
        judge_options += [part for given in drift_judge_set for part in ("--drift-judge-set", given)]
    _write_project(settings, ci, say)
    command = ["pytest", "--model", settings.model]
    words = [*command, *(f"{STUDY}/{case.id}" for case in first), *judge_options]
    say(f"$ {' '.join(words)}")
    code = subprocess.run([sys.executable, "-m", *words], cwd=settings.root, check=False).returncode
    if run.session.known_to_decide():
        release = " ".join((*command, *judge_options, "--junitxml=gate.xml"))
        say(f"next, the release verdict on all {len(whole)} cases: {release}")
    else:
        say("next, another judge: this one decides nothing, so no run with it can pass (docs/judges.md)")
    return code


def _asked(what: str, option: str, example: str) -> str:
    _needs_terminal(f"name the {what} with {option} SPEC, such as {example}")
    return input(f"{what} (such as {example}): ").strip()


def _needs_terminal(instead: str) -> None:
    if not sys.stdin.isatty():
        raise InputError(f"start: {instead}")


def _refuse(name: str, model: object) -> None:
    """InputError for a model that answers with an error: all that follows would be in vain."""
    fault = getattr(model, "trouble", None)
    if fault is not None and fault.values.get("status") != _BUSY:
        raise InputError(f"{name}: {fault}; start again once it answers")


def _write_project(settings: Settings, ci: CiSystem, say: Say) -> None:
    """What a project commits besides the calibration, unless it is there; and what keeps the CI file from working."""
    root, specs = settings.root.resolve(), (settings.model, *settings.judges)
    keys = [given["key_env"] for given in (settings.settings, settings.judge_settings) if "key_env" in given]
    keys.append(KEY_VARIABLE)
    project = Project(
        model=settings.model,
        judges=settings.judges,
        settings=settings.settings,
        judge_settings=settings.judge_settings,
        keys=list(dict.fromkeys(keys)),
    )
    files = {"pytest.ini": pytest_ini(project), "thresholds.yaml": thresholds_file()}
    remarks = []
    if ci in CI_FILES:
        file, number = CI_FILES[ci], own_version()
        extra = "[hf]" if any(parse_spec(spec).kind == "hf" for spec in specs) else ""
        package = f"{PACKAGE}{extra}{f'=={number}' if number[0].isdigit() else ''}"
        files[file] = ci_file(ci, project, package)
        advice = "name an address that it reaches, or use your own runner"
        remarks = [
            f"{file}: a hosted runner does not reach {spec}; {advice}" for spec in specs if on_this_machine(spec)
        ]
        top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
        if top != root:
            advice = f"move it to {top} and run its steps in {root.relative_to(top).as_posix()}"
            remarks.append(f"{file}: is read only at the top of the repository; {advice}")
    for name, lines in files.items():
        path = settings.root / name
        if path.exists():
            say(f"{path} already exists; not overwritten")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            say(f"written: {path}")
    for remark in remarks:
        say(remark)
