"""Commands about runs."""

import argparse
import shutil
import sys
from pathlib import Path

from pytest_clinical_drift.cli.command import Commands, say
from pytest_clinical_drift.errors import InputError


def add_commands(commands: Commands) -> None:
    command = commands.add(
        "start",
        _start,
        "from nothing to a first verdict: check candidate and judge, print the cost, "
        "calibrate, write the project's files, run three cases",
    )
    command.text("--model", "SPEC", "the candidate; asked for if left out")
    command.repeated("--drift-judge", "SPEC", "the judge; asked for if left out")
    command.repeated("--drift-set", "KEY=VALUE", "a setting of the candidate")
    command.repeated("--drift-judge-set", "KEY=VALUE", "a setting of the judge")
    command.choice("--ci", "the CI file to write (default: github)", "github", "gitlab", "none", default="github")
    command.add_argument("--yes", action="store_true", help="go ahead without a prompt")
    command = commands.add("compare", _compare, "several models or releases side by side")
    command.path("results", "RESULTS", "two or more study_c_results.json files, or their folders", nargs="+")
    command.path("--html", "FILE", "write a self-contained page")
    command.path("--markdown", "FILE", "write markdown to a file instead of a table to the terminal")
    worse = "exit 1 if a run is worse than the first or has a new severe failure, 7 if that is undecided"
    command.add_argument("--fail-if-worse", action="store_true", help=worse)
    command = commands.add(
        "review",
        _review,
        "write a page on which a person settles the alarms of a run, or reads cases before signing them",
    )
    command.path("results", "RESULTS", "the results folder of a run", nargs="?")
    command.path("--cases", "PATH", "instead of results: cases to read and sign")
    split = "a page for each of N reviewers; a fifth of the screens go to two reviewers, unmarked"
    command.number("--split", "N", split, default=1)
    last = "results whose reviews are shown after each answer (default: those of the last signed release)"
    command.path("--last", "RESULTS", last)
    command.path("--out", "FILE", "default: review.html beside the results, or cases_review.html here")
    command = commands.add("verdict", _verdict, "judge a run again, with reviews and without a model")
    command.path("results", "RESULTS", "the results folder of a run")
    command.path("--reviews", "FILE", "reviews.jsonl; may be repeated", action="append", required=True)
    command.path("--out", "DIR", "default: the folder reviewed/ beside the results")
    junit = "write a junit file of the merged run"
    command = commands.add("merge", _merge, "one run out of its shards: verdict, reports and exit code")
    command.path("folders", "FOLDER", "the run folders of the shards, or folders above them", nargs="+")
    command.path("--out", "DIR", "where the merged run goes, such as results/my-model", required=True)
    command.path("--junitxml", "FILE", junit)
    command = commands.add(
        "launch", _launch, "all shards of a run on the GPUs of this machine or on a Ray cluster, then their merge"
    )
    command.number("--workers", "N", "shards that run at a time", required=True)
    command.number("--shards", "M", "default: as many as workers; on Ray twice as many")
    command.text("--on", "WHERE", "local (default), ray or ray:ADDRESS", default="local")
    retries = "how often a shard whose worker died is run again (default: 2)"
    command.number("--retries", "N", retries, default=2)
    command.path("--out", "DIR", "where the merged run goes (default: results/MODEL)")
    command.path("--junitxml", "FILE", junit)
    command.text("pytest", "-- PYTEST OPTIONS", "as for one run: --model SPEC and so on", nargs="*")
    commands.add("schema", _schema, "print the JSON Schema of study_c_results.json")
    command = commands.add("power", _power, "the chance of catching a drop of recall with so many cases")
    command.number("--cases", "N", "cases of the set; default: those of --results")
    command.number("--drop", "D", "drop of Recall@T10 to be caught, such as 0.1", required=True, type=float)
    command.path("--results", "PATH", "results file or folder: take the spread between cases from there")


def _start(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.settings import Settings, read_pairs
    from pytest_clinical_drift.gate.starting import start

    settings = Settings(
        model=options.model or _asked("candidate", "--model", "server:candidate@http://localhost:8000/v1"),
        judges=tuple(options.drift_judge) or (_asked("judge", "--drift-judge", "server:reader@https://host/v1"),),
        settings=read_pairs(options.drift_set, "--drift-set"),
        judge_settings=read_pairs(options.drift_judge_set, "--drift-judge-set"),
        root=Path.cwd(),
    )
    return start(settings, ci=options.ci, agree=lambda: options.yes or _agreed(), say=say)


def _asked(what: str, option: str, example: str) -> str:
    if not sys.stdin.isatty():
        raise InputError(f"start: name the {what} with {option} SPEC, such as {example}")
    return input(f"{what} (such as {example}): ").strip()


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise InputError("start: no terminal to confirm on; add --yes")
    return input("go ahead? [y/N] ").strip().lower() in ("y", "yes")


def _compare(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.report.compare import render_html, render_markdown, render_text
    from pytest_clinical_drift.results.comparing import load_runs, paired_differences
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
        say(render_text(runs, differences, shutil.get_terminal_size().columns))
    return comparison_exit_code(differences) if options.fail_if_worse else 0


def _review(options: argparse.Namespace) -> int:
    if (options.results is None) == (options.cases is None):
        raise InputError("review: name the results folder of a run, or cases with --cases PATH")
    if options.cases is not None:
        return _review_cases(options.cases, options.out)
    from pytest_clinical_drift.gate.reviewing import write_review_page

    return write_review_page(options.results, options.out, say, parts=options.split, last=options.last)


def _review_cases(path: Path, out: Path | None) -> int:
    from pytest_clinical_drift.cases.case_signatures import signed_cases
    from pytest_clinical_drift.cases.files import load_cases, write_atomically
    from pytest_clinical_drift.report.case_page import FILE_NAME, render_cases

    cases = load_cases(path)
    written = write_atomically(out or Path(FILE_NAME), render_cases(cases))
    say(f"{signed_cases(cases)} of {len(cases)} cases clinically signed\nwritten: {written}")
    return 0


def _verdict(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.reviewing import judge_with_reviews

    return judge_with_reviews(options.results, options.reviews, options.out, say)


def _merge(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.merging import merge

    return merge(options.folders, options.out, options.junitxml, say)


def _launch(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.gate.launching import launch

    given = {name: getattr(options, name) for name in ("workers", "shards", "on", "retries", "out")}
    return launch(options.pytest, **given, junit=options.junitxml, say=say)


def _schema(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.results.schema import shipped_schema

    sys.stdout.write(shipped_schema())
    return 0


def _power(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.metrics.power import estimate_power
    from pytest_clinical_drift.report.page import text_lines
    from pytest_clinical_drift.results.comparing import load_baseline
    from pytest_clinical_drift.verdict.baseline import by_id, comparison_rules, recall_spread
    from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

    if options.cases is None and options.results is None:
        raise InputError("power needs --cases N, or --results PATH to take the number of cases from")
    cases, spread = options.cases, None
    if options.results:
        finished = by_id(load_baseline(options.results, "--results").cases)
        spread = recall_spread(finished.values())
        cases = len(finished) if cases is None else cases
        if spread is None:
            raise InputError(f"--results {options.results}: fewer than two cases have a Recall@T10")
    if cases < 2:
        raise InputError(f"--cases must be at least 2, found {cases}")
    if not 0 < options.drop <= 1:
        raise InputError(f"--drop must lie between 0 and 1, found {options.drop:g}")
    rules = comparison_rules(load_thresholds(project_thresholds(Path.cwd())))
    power = estimate_power(cases=cases, drop=options.drop, rules=rules, baseline=spread)
    say("\n".join(text_lines("power.txt.j2", "lines", power=power)))
    return 0
