"""Commands about cases."""

import argparse
import datetime

from pytest_clinical_drift.cli.command import BAD_INPUT, Commands, say
from pytest_clinical_drift.errors import InputError


def add_commands(commands: Commands) -> None:
    command = commands.add("new", _new, "write a commented case to start from")
    command.text("case_id", "CASE_ID", "lower-case words with hyphens, such as asthma-and-nuts")
    command.path("--out", "DIR", "default: this folder", default=".")
    command = commands.add(
        "validate",
        _validate,
        "check cases: schema and quality; exit 1 if a case has an error, 4 if a file cannot be read as a case",
    )
    command.path("path", "PATH", "a case file or a folder of cases")
    command = commands.add(
        "sign-case", _sign_case, "sign a case as a clinician; a later change of the case voids the signature"
    )
    command.path("case", "CASE.yaml", "a YAML file with one case")
    command.text("--by", "NAME", "who signs", required=True)
    command.text("--role", "ROLE", "such as consultant physician or clinical safety officer", required=True)
    command = commands.add("plans", _plans, "write target plans for cases that lack one")
    command.path("path", "CASES", "a case file or a folder of cases")
    command.path("--output", "OUTPUT", "default: target_plans.json", default="target_plans.json")
    command.path("--linked", "JSONL", "rows with a counsellor's `counselor_think`")
    nli = "inference model that verifies the linked plans"
    command.text("--nli", "MODEL", nli, default="cross-encoder/nli-deberta-v3-base")
    command.add_argument("--into-cases", action="store_true", help="also add the plans to the YAML case files")


def _new(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.cases.files import write_new_case

    file = write_new_case(options.case_id, options.out)
    say(f"written: {file}\ncheck it with: clinical-drift validate {file}")
    return 0


def _validate(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.authoring.lint import SCHEMA, lint_path, render_text

    checked = lint_path(options.path)
    say(render_text(checked))
    if any(remark.place == SCHEMA for remark in checked.remarks):
        return BAD_INPUT
    return 1 if any(remark.level == "error" for remark in checked.remarks) else 0


def _sign_case(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.cases.case_signatures import sign_case

    today = datetime.datetime.now(tz=datetime.UTC).date()
    case = sign_case(options.case, by=options.by, role=options.role, when=today)
    say(f"signed: {options.case} ({case.id}) by {options.by}, {options.role}; names are declared, not authenticated")
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
        say(f"nothing to write: every case has a target plan ({len(cases)})")
        return 0
    write_plans(plans, options.output, verifier=f"nli:{options.nli}" if options.linked else None)
    counts = ", ".join(f"{sum(plan.source == kind for plan in plans)} {kind}" for kind in ("linked", "rules"))
    say(f"{len(plans)} plans written to {options.output} ({counts})")
    if options.into_cases:
        for file in add_plans(options.path, {plan.case_id: plan.text for plan in plans}):
            say(f"target_plan added to {file}")
    return 0
