"""The command line beside pytest: `clinical-drift COMMAND`."""

from __future__ import annotations

import argparse
import datetime
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib import metadata, resources
from pathlib import Path

import yaml

from pytest_clinical_drift.errors import InputError, sentence

BAD_INPUT = 4
_TYPES = {"path": Path, "int": int, "float": float}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; bad input is one sentence on stderr and exit code 4."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = globals()[f"_{options.command.replace('-', '_')}"]
    try:
        return command(options)
    except (InputError, OSError) as error:
        sys.stderr.write(f"clinical-drift: {sentence(error)}\n")
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    """Built from `data/commands.yaml`."""
    parser = argparse.ArgumentParser(prog="clinical-drift", description="Tools around the clinical drift gate.")
    parser.add_argument("--version", action="version", version=f"clinical-drift {_version()}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    told = (resources.files("pytest_clinical_drift") / "data" / "commands.yaml").read_text(encoding="utf-8")
    for name, given in yaml.safe_load(told).items():
        command = commands.add_parser(name, help=given["help"], description=given["help"])
        for argument, how in given["arguments"].items():
            kind = {"type": _TYPES[how["type"]]} if "type" in how else {}
            command.add_argument(argument, **{**how, **kind})
    return parser


def _validate(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.authoring.interludes import lint_bank
    from pytest_clinical_drift.authoring.lint import SCHEMA, lint_path, render_json, render_text
    from pytest_clinical_drift.cases.interludes import is_interludes

    checked = (lint_bank if is_interludes(options.path) else lint_path)(options.path)
    _say(render_json(checked) if options.format == "json" else render_text(checked))
    if any(remark.place == SCHEMA for remark in checked.remarks):
        return BAD_INPUT
    return 1 if any(remark.level == "error" for remark in checked.remarks) else 0


def _new(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.cases.files import write_new_case

    file = write_new_case(options.case_id, options.out)
    _say(f"written: {file}\ncheck it with: clinical-drift validate {file}")
    return 0


def _plans(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.authoring.plans import links, make_plans, read_reasoning, write_plans
    from pytest_clinical_drift.cases.files import add_plans, load_cases
    from pytest_clinical_drift.judging.nli import ENTAILMENT, CrossEncoder

    cases = load_cases(options.path)
    if options.path.is_dir() and options.output.resolve().is_relative_to(options.path.resolve()):
        raise InputError(f"{options.output}: lies among the cases and would be read as one; choose another --output")
    if options.linked:
        encoder = CrossEncoder(options.nli, option="--nli FOLDER")
        rows, linked = read_reasoning(options.linked), links(options.path)
        plans = make_plans(cases, rows, linked, lambda pairs: encoder.probabilities(pairs, ENTAILMENT)[0])
    else:
        plans = make_plans(cases)
    if not plans:
        _say(f"nothing to write: every case has a target plan ({len(cases)})")
        return 0
    write_plans(plans, options.output, verifier=f"nli:{options.nli}" if options.linked else None)
    counts = ", ".join(f"{sum(plan.source == kind for plan in plans)} {kind}" for kind in ("linked", "rules"))
    _say(f"{len(plans)} plans written to {options.output} ({counts})")
    if options.into_cases:
        for file in add_plans(options.path, {plan.case_id: plan.text for plan in plans}):
            _say(f"target_plan added to {file}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.report.compare import render_html, render_markdown, render_text
    from pytest_clinical_drift.results.files import load_runs, paired_differences
    from pytest_clinical_drift.verdict.baseline import comparison_exit_code
    from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

    runs = load_runs(options.results)
    if len(runs) < 2:
        raise InputError(f"compare {options.results[0]}: a comparison needs two runs or more, found one")
    differences = paired_differences(runs, load_thresholds(project_thresholds(Path.cwd())).baseline)
    if options.html:
        options.html.write_text(render_html(runs, differences), encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(render_markdown(runs, differences), encoding="utf-8")
    else:
        _say(render_text(runs, differences, shutil.get_terminal_size().columns))
    return comparison_exit_code(differences) if options.fail_if_worse else 0


def _power(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.metrics.paired import estimate_power
    from pytest_clinical_drift.report.page import text_lines
    from pytest_clinical_drift.results.files import load_baseline
    from pytest_clinical_drift.verdict.baseline import by_id, recall_sd
    from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

    if options.cases < 2:
        raise InputError(f"--cases must be at least 2, found {options.cases}")
    if not 0 < options.drop <= 1:
        raise InputError(f"--drop must lie between 0 and 1, found {options.drop:g}")
    spread = None
    if options.results:
        spread = recall_sd(by_id(load_baseline(options.results, "--results").cases).values())
    margin = load_thresholds(project_thresholds(Path.cwd())).baseline.margin
    power = estimate_power(cases=options.cases, drop=options.drop, margin=margin, sd=spread)
    _say("\n".join(text_lines("power.txt.j2", "lines", power=power)))
    return 0


def _review(options: argparse.Namespace) -> int:
    if (options.results is None) == (options.cases is None):
        raise InputError("review: name the results folder of a run, or cases with --cases PATH")
    if options.cases is not None:
        return _review_cases(options.cases, options.out)
    from pytest_clinical_drift.gate.reviewing import write_review_page

    return write_review_page(options.results, options.out, _say, parts=options.split, last=options.last)


def _review_cases(path: Path, out: Path | None) -> int:
    from pytest_clinical_drift.cases.files import load_cases
    from pytest_clinical_drift.cases.signing import signed_cases
    from pytest_clinical_drift.report.case_page import FILE_NAME, render_cases
    from pytest_clinical_drift.results.files import write_atomically

    cases = load_cases(path)
    written = write_atomically(out or Path(FILE_NAME), render_cases(cases))
    _say(f"{signed_cases(cases)} of {len(cases)} cases clinically signed\nwritten: {written}")
    return 0


def _sign_case(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.cases.signing import sign_case

    today = datetime.datetime.now(tz=datetime.UTC).date()
    case = sign_case(options.case, by=options.by, role=options.role, when=today)
    _say(f"signed: {options.case} ({case.id}) by {options.by}, {options.role}; names are declared, not authenticated")
    return 0


def _verdict(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.reviewing import judge_with_reviews

    return judge_with_reviews(options.results, options.reviews, options.out, _say)


def _merge(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.merging import merge

    return merge(options.folders, options.out, options.junitxml, _say)


def _launch(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.launching import launch

    given = {name: getattr(options, name) for name in ("workers", "shards", "on", "retries", "out")}
    return launch(options.pytest, **given, junit=options.junitxml, say=_say)


def _schema(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.results.schema import shipped_schema

    sys.stdout.write(shipped_schema())
    return 0


def _calibrate(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.calibrate import calibrate, labelled_set
    from pytest_clinical_drift.gate.options import read_pairs
    from pytest_clinical_drift.judging.calibrating import write_prompts

    if options.prompts:
        labelled = labelled_set(options.set, options.limit)
        _say(f"{write_prompts(labelled, options.prompts)} prompts written to {options.prompts}")
        return 0
    if not options.drift_judge or not options.out:
        raise InputError(
            "calibrate: name the judge with --drift-judge SPEC and where to write with --out FILE_OR_FOLDER"
        )
    settings = read_pairs(options.drift_judge_set, "--drift-judge-set")
    labelled = labelled_set(options.set, options.limit)
    given = {"external": options.external, "out": options.out, "root": Path.cwd()}
    calibrate(options.drift_judge, settings, labelled=labelled, say=_say, **given)
    return 0


def _start(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.api import Settings
    from pytest_clinical_drift.gate.options import read_pairs
    from pytest_clinical_drift.gate.starting import start

    root = Path.cwd()
    settings = Settings(
        model=options.model or _asked("candidate", "--model", "server:candidate@http://localhost:8000/v1"),
        judges=tuple(options.drift_judge) or (_asked("judge", "--drift-judge", "server:reader@https://host/v1"),),
        settings=read_pairs(options.drift_set, "--drift-set"),
        judge_settings=read_pairs(options.drift_judge_set, "--drift-judge-set"),
        root=root,
        results=root / "results",
        store=root / ".clinical-drift/store.sqlite",
    )
    return start(settings, ci=options.ci, agree=lambda: options.yes or _agreed(), say=_say)


def _asked(what: str, option: str, example: str) -> str:
    if not sys.stdin.isatty():
        raise InputError(f"start: name the {what} with {option} SPEC, such as {example}")
    return input(f"{what} (such as {example}): ").strip()


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise InputError("start: nothing was asked; add --yes to go ahead without a prompt")
    return input("go ahead? [y/N] ").strip().lower() in ("y", "yes")


def _agreement(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.judging.agreement import compare_reviews
    from pytest_clinical_drift.judging.reviews import read_reviews
    from pytest_clinical_drift.report.agreement import render_agreement

    files = [read_reviews(file) for file in (options.first, options.second, options.third) if file is not None]
    _say(render_agreement(*compare_reviews(*files)))
    return 0


def _freeze(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.options import read_pairs
    from pytest_clinical_drift.ranking.freezing import freeze

    manifest = freeze(
        options.predictions,
        options.out,
        model_version=options.model_version,
        parameters=read_pairs(options.param, "--param"),
        candidates=options.candidates,
        labels=options.labels,
        slate_id=options.slate_id,
    )
    _say(
        f"frozen: {options.out}\nsha256 {manifest.sha256}\nkeep this hash elsewhere: verify --sha256 proves against it"
    )
    return 0


def _sign(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.signing import sign

    given = {name: getattr(options, name) for name in ("key", "signer", "decision", "until", "conditions")}
    return sign(options.results, **given, allowed=options.allowed_signers, say=_say)


def _verify(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.results.files import RESULTS_FILE

    if (options.folder / RESULTS_FILE).exists():
        from pytest_clinical_drift.gate.signing import verify_release

        today = datetime.datetime.now(tz=datetime.UTC).date()
        return verify_release(options.folder, options.allowed_signers, _say, today)
    return _verify_slate(options)


def _verify_slate(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.ranking.freezing import verify

    result = verify(options.folder, options.sha256)
    for problem in result.problems:
        _say(problem)
    _say(f"{'unchanged' if result.unchanged else 'CHANGED'}: {options.folder}\nsha256 {result.sha256}")
    if result.unchanged and options.sha256 is None:
        _say("without --sha256 this shows only that folder and manifest agree, not that both are the old ones")
    return 0 if result.unchanged else 1


def _version() -> str:
    try:
        return metadata.version("pytest-clinical-drift")
    except metadata.PackageNotFoundError:  # a checkout on the path that was never installed
        return "unreleased"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
