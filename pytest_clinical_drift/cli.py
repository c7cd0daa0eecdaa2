"""The command line beside pytest: `clinical-drift validate`, `clinical-drift plans`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from pytest_clinical_drift.errors import InputError, sentence

BAD_INPUT = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; bad input is one sentence on stderr and exit code 4."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except (InputError, OSError) as error:
        sys.stderr.write(f"clinical-drift: {sentence(error)}\n")
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="clinical-drift", description="Tools around the clinical drift gate.")
    parser.add_argument("--version", action="version", version=f"clinical-drift {_version()}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    new = commands.add_parser("new", help="write a commented case to start from")
    new.add_argument("case_id", metavar="CASE_ID", help="lower-case words with hyphens, such as asthma-and-nuts")
    new.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="default: this folder")
    new.set_defaults(command=_new)
    validate = commands.add_parser("validate", help="check cases: schema and quality")
    validate.add_argument("path", type=Path, help="a case file or a folder of cases")
    validate.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    validate.set_defaults(command=_validate)
    compare = commands.add_parser("compare", help="several models or releases side by side")
    compare.add_argument("results", type=Path, nargs="+", help="study_c_results.json files, or their folders")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write a self-contained page")
    compare.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write markdown to a file instead of the terminal"
    )
    compare.add_argument(
        "--fail-if-worse", action="store_true", help="exit 1 if a run is worse than the first, 7 if that cannot be told"
    )
    compare.set_defaults(command=_compare)
    review = commands.add_parser("review", help="write a page on which a person settles the alarms of a run")
    review.add_argument("results", type=Path, metavar="RESULTS", help="the folder of a run's results")
    review.add_argument("--out", type=Path, metavar="FILE", help="default: review.html beside the results")
    review.set_defaults(command=_review)
    verdict = commands.add_parser("verdict", help="judge a run again, with reviews and without a model")
    verdict.add_argument("results", type=Path, metavar="RESULTS", help="the folder of a run's results")
    verdict.add_argument(
        "--reviews", type=Path, metavar="FILE", action="append", required=True, help="reviews.jsonl; may be repeated"
    )
    verdict.add_argument("--out", type=Path, metavar="DIR", help="default: the folder reviewed/ beside the results")
    verdict.set_defaults(command=_verdict)
    power = commands.add_parser("power", help="the chance of catching a drop of recall with so many cases")
    power.add_argument("--cases", type=int, required=True, metavar="N", help="cases of the set")
    power.add_argument(
        "--drop", type=float, required=True, metavar="D", help="drop of Recall@T10 to be caught, such as 0.1"
    )
    power.add_argument("--results", type=Path, metavar="FILE", help="take the spread between cases from these results")
    power.set_defaults(command=_power)
    calibrate = commands.add_parser("calibrate", help="measure a judge on labelled questions")
    calibrate.add_argument("--drift-judge", metavar="SPEC", help="the judge, as for pytest")
    calibrate.add_argument(
        "--drift-judge-set", action="append", default=[], metavar="K=V", help="a setting of the judge"
    )
    calibrate.add_argument("--set", type=Path, metavar="PATH", help="labelled questions; default: the bundled ones")
    calibrate.add_argument("--limit", type=int, metavar="N", help="of each kind only N with a fault and N without")
    calibrate.add_argument("--out", type=Path, metavar="FILE", help="the calibration file, or the folder it goes to")
    calibrate.add_argument("--drift-store", type=Path, default=Path(".clinical-drift/store.sqlite"), metavar="FILE")
    calibrate.add_argument(
        "--prompts", type=Path, metavar="FILE", help="write the exact prompts instead; nobody is asked"
    )
    calibrate.set_defaults(command=_calibrate)
    freeze = commands.add_parser("freeze", help="freeze a ranking model's predictions as a slate")
    freeze.add_argument("predictions", type=Path, help="predictions: parquet, CSV or JSONL")
    freeze.add_argument("--out", type=Path, required=True, metavar="DIR", help="the slate's new folder")
    freeze.add_argument("--model-version", required=True, metavar="V", help="version of the ranking model")
    freeze.add_argument("--param", action="append", default=[], metavar="K=V", help="a parameter to put on record")
    freeze.add_argument(
        "--candidates", type=Path, metavar="FILE", help="all scored candidates, for the popularity baseline"
    )
    freeze.add_argument("--labels", type=Path, metavar="FILE", help="pairs known at freeze")
    freeze.add_argument("--slate-id", metavar="ID", help="default: made of model version, date and hash")
    freeze.set_defaults(command=_freeze)
    verify = commands.add_parser("verify", help="prove that a frozen slate has not changed")
    verify.add_argument("folder", type=Path, help="the slate's folder")
    verify.add_argument("--sha256", metavar="HASH", help="the hash that was printed at freezing and kept elsewhere")
    verify.set_defaults(command=_verify)
    plans = commands.add_parser("plans", help="write target plans for cases that lack one")
    plans.add_argument("path", type=Path, metavar="CASES", help="a case file or a folder of cases")
    plans.add_argument("--output", type=Path, default=Path("target_plans.json"), help="default: target_plans.json")
    plans.add_argument("--linked", type=Path, metavar="JSONL", help="rows with a counsellor's `counselor_think`")
    plans.add_argument(
        "--nli",
        default="cross-encoder/nli-deberta-v3-base",
        metavar="MODEL",
        help="inference model that verifies the linked plans",
    )
    plans.add_argument("--into-cases", action="store_true", help="also add the plans to the YAML case files")
    plans.set_defaults(command=_plans)
    return parser


def _validate(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.authoring.lint import SCHEMA, lint_path, render_json, render_text

    checked = lint_path(options.path)
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
        _say(f"each of {len(cases)} cases has a target plan")
        return 0
    write_plans(plans, options.output, verifier=f"nli:{options.nli}" if options.linked else None)
    counts = ", ".join(f"{sum(plan.source == kind for plan in plans)} {kind}" for kind in ("linked", "rules"))
    _say(f"{len(plans)} plans written to {options.output} ({counts})")
    if options.into_cases:
        for file in add_plans(options.path, {plan.case_id: plan.text for plan in plans}):
            _say(f"target_plan added to {file}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.report.compare import render_html, render_markdown
    from pytest_clinical_drift.verdict.comparison import load_results, paired_differences, told_worse
    from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

    records = load_results(options.results)
    differences = paired_differences(records, load_thresholds(project_thresholds(Path.cwd())).baseline)
    if options.html:
        options.html.write_text(render_html(records, differences), encoding="utf-8")
    text = render_markdown(records, differences)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    else:
        _say(text)
    return told_worse(differences) if options.fail_if_worse else 0


def _power(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.metrics.power import estimate_power
    from pytest_clinical_drift.report.page import text_lines
    from pytest_clinical_drift.verdict.baseline import load_baseline, recall_sd
    from pytest_clinical_drift.verdict.thresholds import load_thresholds

    if options.cases < 2:
        raise InputError(f"--cases must be at least 2, found {options.cases}")
    if not 0 < options.drop <= 1:
        raise InputError(f"--drop must lie between 0 and 1, found {options.drop:g}")
    spread = recall_sd(load_baseline(options.results, "--results")) if options.results else None
    margin = load_thresholds().baseline.margin
    power = estimate_power(cases=options.cases, drop=options.drop, margin=margin, sd=spread)
    _say("\n".join(text_lines("power.txt.j2", "lines", power=power)))
    return 0


def _review(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.review_command import write_review_page

    return write_review_page(options.results, options.out, _say)


def _verdict(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.review_command import judge_with_reviews

    return judge_with_reviews(options.results, options.reviews, options.out, _say)


def _calibrate(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.calibrate_command import calibrate_judge, labelled_questions, write_prompts
    from pytest_clinical_drift.gate.judge_options import read_pairs

    labelled = labelled_questions(options.set, options.limit)
    if options.prompts:
        _say(f"{write_prompts(labelled, options.prompts)} prompts written to {options.prompts}")
        return 0
    if not options.drift_judge or not options.out:
        raise InputError("calibrate: name the judge with --drift-judge SPEC and the file to write with --out FILE")
    settings = read_pairs(options.drift_judge_set, "--drift-judge-set")
    places = {"out": options.out, "store": options.drift_store, "root": Path.cwd()}
    calibrate_judge(options.drift_judge, settings, labelled=labelled, say=_say, **places)
    return 0


def _freeze(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.ranking.freezing import freeze

    parameters = {}
    for text in options.param:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"--param {text}: write KEY=VALUE")
        parameters[key] = value
    manifest = freeze(
        options.predictions,
        options.out,
        model_version=options.model_version,
        parameters=parameters,
        candidates=options.candidates,
        labels=options.labels,
        slate_id=options.slate_id,
    )
    _say(
        f"frozen: {options.out}\nsha256 {manifest.sha256}\nkeep this hash elsewhere: verify --sha256 proves against it"
    )
    return 0


def _verify(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.ranking.freezing import verify

    found = verify(options.folder, options.sha256)
    for problem in found.problems:
        _say(problem)
    _say(f"{'unchanged' if found.unchanged else 'CHANGED'}: {options.folder}\nsha256 {found.sha256}")
    if found.unchanged and options.sha256 is None:
        _say("without --sha256 this shows only that folder and manifest agree, not that both are the old ones")
    return 0 if found.unchanged else 1


def _version() -> str:
    try:
        return metadata.version("pytest-clinical-drift")
    except metadata.PackageNotFoundError:  # a checkout on the path that was never installed
        return "unreleased"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
