"""The command line beside pytest: `clinical-drift COMMAND`; here its arguments, in `commands.py` what it does."""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError, sentence
from pytest_clinical_drift.versions import own_version

BAD_INPUT = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; bad input is one sentence on stderr and exit code 4."""
    given = vars(make_parser().parse_args(arguments))
    module, function = given.pop("function").split(":")
    del given["command"]
    try:
        code: int = getattr(import_module(f"pytest_clinical_drift.{module}"), function)(**given, say=_say)
    except (InputError, OSError) as error:
        sys.stderr.write(f"clinical-drift: {sentence(error)}\n")
        return BAD_INPUT
    return code


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class _Command(argparse.ArgumentParser):
    """The parser of a command, with the kinds of argument that commands take."""

    def text(self, name: str, metavar: str, help: str, **more: Any) -> None:
        self.add_argument(name, metavar=metavar, help=help, **more)

    def path(self, name: str, metavar: str, help: str, **more: Any) -> None:
        self.text(name, metavar, help, type=Path, **more)

    def repeated(self, name: str, metavar: str, help: str) -> None:
        self.text(name, metavar, help, action="append", default=[])


def make_parser() -> argparse.ArgumentParser:
    parser = _Command(prog="clinical-drift", description="Tools around the clinical drift gate.")
    parser.add_argument("--version", action="version", version=f"clinical-drift {own_version()}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")

    def add(name: str, purpose: str, function: str = "") -> _Command:
        """A command; `function` is called with its arguments by name and with `say`."""
        command = commands.add_parser(name, help=purpose, description=purpose)
        command.set_defaults(function=function or f"cli.commands:{name.replace('-', '_')}")
        return command

    for add_group in (_add_runs, _add_cases, _add_judges, _add_releases):
        add_group(add)
    return parser


_Add = Callable[..., _Command]


def _add_runs(add: _Add) -> None:
    command = add(
        "start",
        "from nothing to a first verdict: check candidate and judge, print the cost, "
        "calibrate, write the project's files, run three cases",
        "gate.starting:start",
    )
    command.text("--model", "SPEC", "the candidate; asked for if left out")
    command.repeated("--drift-judge", "SPEC", "the judge; asked for if left out")
    command.repeated("--drift-set", "KEY=VALUE", "a setting of the candidate")
    command.repeated("--drift-judge-set", "KEY=VALUE", "a setting of the judge")
    systems = ("github", "gitlab", "none")
    command.add_argument("--ci", choices=systems, default="github", help="the CI file to write (default: github)")
    command.add_argument("--yes", action="store_true", help="go ahead without a prompt")
    command = add("compare", "several models or releases side by side")
    command.path("results", "RESULTS", "two or more study_c_results.json files, or their folders", nargs="+")
    command.path("--html", "FILE", "write a self-contained page")
    command.path("--markdown", "FILE", "write markdown to a file instead of a table to the terminal")
    worse = "exit 1 if a run is worse than the first or has a new severe failure, 7 if that is undecided"
    command.add_argument("--fail-if-worse", action="store_true", help=worse)
    command = add(
        "review",
        "write a page on which a person settles the alarms of a run, or reads cases before signing them",
        "gate.reviewing:review",
    )
    command.path("results", "RESULTS", "the results folder of a run", nargs="?")
    command.path("--cases", "PATH", "instead of results: cases to read and sign")
    split = "a page for each of N reviewers; a fifth of the screens go to two reviewers, unmarked"
    command.text("--split", "N", split, default=1, type=int)
    last = "results whose reviews are shown after each answer (default: those of the last signed release)"
    command.path("--last", "RESULTS", last)
    command.path("--out", "FILE", "default: review.html beside the results, or cases_review.html here")
    command = add("verdict", "judge a run again, with reviews and without a model", "gate.reviewed:judge_record")
    command.path("results", "RESULTS", "the results folder of a run")
    command.path(
        "--reviews",
        "FILE",
        "reviews.jsonl; may be repeated; without it the record as it is",
        action="append",
        dest="files",
    )
    command.path("--out", "DIR", "default: the folder reviewed/ beside the results")
    junit = "write a junit file of the merged run"
    command = add("merge", "one run out of its shards: verdict, reports and exit code", "gate.merging:merge")
    command.path("folders", "FOLDER", "the run folders of the shards, or folders above them", nargs="+")
    command.path("--out", "DIR", "where the merged run goes, such as results/my-model", required=True)
    command.path("--junitxml", "FILE", junit, dest="junit")
    purpose = "all shards of a run on the GPUs of this machine or on a Ray cluster, then their merge"
    command = add("launch", purpose, "gate.launching:launch")
    command.text("--workers", "N", "shards that run at a time", required=True, type=int)
    command.text("--shards", "M", "default: as many as workers; on Ray twice as many", type=int)
    command.text("--on", "WHERE", "local (default), ray or ray:ADDRESS", default="local")
    retries = "how often a shard whose worker died is run again (default: 2)"
    command.text("--retries", "N", retries, default=2, type=int)
    command.path("--out", "DIR", "where the merged run goes (default: results/MODEL)")
    command.path("--junitxml", "FILE", junit, dest="junit")
    command.text("options", "-- PYTEST OPTIONS", "as for one run: --model SPEC and so on", nargs="*")
    add("schema", "print the JSON Schema of study_c_results.json")
    command = add("power", "the chance of catching a drop of recall with so many cases")
    command.text("--cases", "N", "cases of the set; default: those of --results", type=int)
    command.text("--drop", "D", "drop of Recall@T10 to be caught, such as 0.1", required=True, type=float)
    command.path("--results", "PATH", "results file or folder: take the spread between cases from there")


def _add_cases(add: _Add) -> None:
    command = add("new", "write a commented case to start from")
    command.text("case_id", "CASE_ID", "lower-case words with hyphens, such as asthma-and-nuts")
    command.path("--out", "DIR", "default: this folder", default=".")
    command = add(
        "validate",
        "check cases: schema and quality; exit 1 if a case has an error, 4 if a file cannot be read as a case",
    )
    command.path("path", "PATH", "a case file or a folder of cases")
    command = add("sign-case", "sign a case as a clinician; a later change of the case voids the signature")
    command.path("case", "CASE.yaml", "a YAML file with one case")
    command.text("--by", "NAME", "who signs", required=True)
    command.text("--role", "ROLE", "such as consultant physician or clinical safety officer", required=True)
    command = add("plans", "write target plans for cases that lack one")
    command.path("path", "CASES", "a case file or a folder of cases")
    command.path("--output", "OUTPUT", "default: target_plans.json", default="target_plans.json")
    command.path("--linked", "JSONL", "rows with a counsellor's `counselor_think`")
    nli = "inference model that verifies the linked plans"
    command.text("--nli", "MODEL", nli, default="cross-encoder/nli-deberta-v3-base")
    command.add_argument("--into-cases", action="store_true", help="also add the plans to the YAML case files")


def _add_judges(add: _Add) -> None:
    purpose = "measure a judge on labelled texts; exit 7 if it decides nothing"
    command = add("calibrate", purpose, "gate.starting:calibrate")
    command.repeated(
        "--drift-judge", "SPEC", "the judge, as for pytest; repeat to add a second judge that settles alarms"
    )
    command.repeated("--drift-judge-set", "K=V", "a setting of the judge")
    command.path("--set", "PATH", "labelled texts; default: the bundled ones")
    command.text(
        "--limit", "N", "at most N texts of each kind of reading: a try, since few texts decide nothing", type=int
    )
    command.repeated("--external", "NAME=PATH", "a public set: primock57, kqa or healthbench")
    command.path("--out", "PATH", "the calibration file, or the folder it goes to")
    command = add("agreement", "how far two reviewers agree")
    command.path("first", "FIRST", "reviews of one person, as the review page saves them")
    command.path("second", "SECOND", "reviews of another person")
    command.path("third", "THIRD", "reviews of somebody else, who decides where the two differ", nargs="?")


def _add_releases(add: _Add) -> None:
    """Commands about what is signed or frozen: releases and slates."""
    signers = "who may sign, as ssh-keygen reads it (default: allowed_signers of dossier.yaml)"
    purpose = "sign a decision on a run with your SSH key; exit 4 where it would not count"
    command = add("sign", purpose, "gate.signing:sign")
    command.path("results", "RESULTS", "the results folder of a run")
    key = "your private SSH key, or a public one whose private key ssh-agent holds"
    command.path("--key", "FILE", key, required=True)
    name = "your name in the allowed-signers file, such as ada@clinic.example"
    command.text("--as", "NAME", name, required=True, dest="signer")
    decisions = ("accept", "accept-until", "reject")
    command.add_argument("--decision", choices=decisions, required=True, help="what you decide on the residual risk")
    command.text("--until", "YYYY-MM-DD", "last day of accept-until")
    command.text("--conditions", "TEXT", "conditions of the acceptance, or why it is rejected", default="")
    command.path("--allowed-signers", "FILE", signers)
    command = add("freeze", "freeze a ranking model's predictions as a slate")
    command.path("predictions", "PREDICTIONS", "predictions: parquet, CSV or JSONL")
    command.path("--out", "DIR", "the slate's new folder", required=True)
    command.text("--model-version", "V", "version of the ranking model", required=True)
    command.repeated("--param", "K=V", "a parameter to put on record")
    command.path("--candidates", "FILE", "all scored candidates, for the popularity baseline")
    command.path("--labels", "FILE", "pairs known at freeze")
    command.text("--slate-id", "ID", "default: made of model version, date and hash")
    command = add("example", "write the bundled example slate, to try `pytest --slate` on")
    command.add_argument("what", choices=("slate",), help="the frozen predictions of a ranking model, with outcomes")
    command.path("--out", "DIR", "its new folder (default: example-slate)", default="example-slate")
    command = add(
        "verify",
        "check a signed run (exit 0 only where it is accepted and unchanged), or prove "
        "that a frozen slate has not changed",
    )
    command.path("folder", "FOLDER", "the results folder of a run, or the slate's folder")
    command.path("--allowed-signers", "FILE", signers)
    command.text("--sha256", "HASH", "the hash that was printed at freezing and kept elsewhere")
