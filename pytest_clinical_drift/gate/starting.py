"""`clinical-drift start`: from a candidate and a judge to a first verdict, with the files that a project commits."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.calibrate import calibrate, labelled_set
from pytest_clinical_drift.gate.estimate import estimate
from pytest_clinical_drift.gate.items import STUDY
from pytest_clinical_drift.gate.pytest_reports import Say
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.gate.settings import Settings
from pytest_clinical_drift.judging.make_calibration import CALIBRATIONS
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.subjects.spec import on_this_machine, parse_spec
from pytest_clinical_drift.versions import PACKAGE, own_version

CiSystem = Literal["github", "gitlab", "none"]
CI_FILES: Mapping[str, str] = {"github": ".github/workflows/clinical-drift.yml", "gitlab": ".gitlab-ci.yml"}
FIRST_CASES = 3
"""Cases of the first run: the shortest ones."""
_BUSY = 429
"""The status of a server that asks for patience, which a run has."""


def start(settings: Settings, *, ci: CiSystem, agree: Callable[[], bool], say: Say) -> int:
    """Check both models, say what they cost, calibrate, write what is missing and run the first cases.

    `agree` is asked between the price and the first request that costs anything. The exit code is that of the run.
    """
    run = GateRun(settings)
    first = sorted(run.cases.values(), key=lambda case: (len(case.turns), case.id))[:FIRST_CASES]
    if not run.session.judges:
        raise InputError("start: a judge reads the conversations; name one with --drift-judge SPEC")
    run.session.refuse_subject()
    for remark in _first_answers(run):
        say(remark)
    say(f"the first {len(first)} cases")
    for line in estimate(first, run.plan, session=run.session):
        say(f"  {line}")
    say(f"all {len(run.cases)} cases")
    for line in estimate(list(run.cases.values()), run.plan, session=run.session, calibration=False):
        say(f"  {line}")
    if not agree():
        say("cancelled: nothing sent, nothing written")
        return 0
    if not run.session.has_calibration:
        labelled, folder = labelled_set(run.session.options.calibration_set, None), settings.root / CALIBRATIONS
        calibrate(
            settings.judges, settings.judge_settings, labelled=labelled, external=(), out=folder, root=settings.root,
            say=say,
        )  # fmt: skip
    kept = (settings.root / "pytest.ini").exists()
    for path, text in _files(settings, ci).items():
        say(_write_new(settings.root / path, text))
    for remark in _ci_remarks(settings, ci):
        say(remark)
    command = ["pytest", "--model", settings.model, *(f"{STUDY}/{case.id}" for case in first)]
    if kept:  # it may name another judge
        command += _judge_options(settings)
    say(f"$ {' '.join(command)}")
    code = subprocess.run([sys.executable, "-m", *command], cwd=settings.root, check=False).returncode
    say(_next_step(run, kept=kept))
    return code


def _first_answers(run: GateRun) -> list[str]:
    """Greet both models; InputError for one that answers with an error: all that follows would be in vain."""
    remarks = run.subject.check(run.inputs.cases)
    _refuse(f"--model {run.settings.model}", run.subject)
    for judge in run.session.judges:
        remarks += judge.check()
        _refuse(f"--drift-judge {judge.identity().spec}", judge)
    return remarks


def _refuse(name: str, model: object) -> None:
    fault = getattr(model, "trouble", None)
    if fault is not None and fault.values.get("status") != _BUSY:
        raise InputError(f"{name}: {fault}; start again once it answers")


def _judge_options(settings: Settings) -> list[str]:
    judges = [part for spec in settings.judges for part in ("--drift-judge", spec)]
    pairs = [part for key, value in settings.judge_settings.items() for part in ("--drift-judge-set", f"{key}={value}")]
    return judges + pairs


def _next_step(run: GateRun, *, kept: bool) -> str:
    if not run.session.decides:
        return "next, another judge: this one decides nothing, so no run with it can pass (docs/judges.md)"
    judge = " ".join(("", *_judge_options(run.settings))) if kept else ""
    command = f"pytest --model {run.settings.model}{judge} --junitxml=gate.xml"
    return f"next, the release verdict on all {len(run.cases)} cases: {command}"


def _files(settings: Settings, ci: CiSystem) -> dict[str, str]:
    """What a project commits besides the calibration, by path."""
    keys = [s["key_env"] for s in (settings.settings, settings.judge_settings) if "key_env" in s]
    files = {
        "pytest.ini": text_lines("start.txt.j2", "pytest_ini", settings=settings),
        "thresholds.yaml": text_lines("start.txt.j2", "thresholds"),
    }
    if ci in CI_FILES:
        given = {"keys": list(dict.fromkeys(keys)), "package": _package(settings)}
        files[CI_FILES[ci]] = text_lines("start.txt.j2", ci, settings=settings, **given)
    return {path: "\n".join(lines) + "\n" for path, lines in files.items()}


def _package(settings: Settings) -> str:
    """What the pipeline installs: this version, with the extra that its models need."""
    hf = any(parse_spec(spec).kind == "hf" for spec in (settings.model, *settings.judges))
    number = own_version()
    return f"{PACKAGE}{'[hf]' if hf else ''}{f'=={number}' if number[0].isdigit() else ''}"


def _ci_remarks(settings: Settings, ci: CiSystem) -> list[str]:
    """What has to be changed before the CI file that was written can work."""
    if ci not in CI_FILES:
        return []
    file, root = CI_FILES[ci], settings.root.resolve()
    remarks = [
        f"{file}: a hosted runner does not reach {spec}; name an address that it reaches, or use your own runner"
        for spec in (settings.model, *settings.judges)
        if on_this_machine(spec)
    ]
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    if top != root:
        below = root.relative_to(top).as_posix()
        remarks.append(
            f"{file}: is read only at the top of the repository; move it to {top} and run its steps in {below}"
        )
    return remarks


def _write_new(path: Path, text: str) -> str:
    if path.exists():
        return f"{path} already exists; not overwritten"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return f"written: {path}"
