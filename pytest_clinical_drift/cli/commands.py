"""What the commands do that are more than one call; each gets its arguments by name, and `say` for what it prints."""

import datetime
import shlex
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cli import BAD_INPUT
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.make_calibration import Say


def compare(results: list[Path], *, html: Path | None, markdown: Path | None, fail_if_worse: bool, say: Say) -> int:
    from pytest_clinical_drift.gate.reviewed import check_file
    from pytest_clinical_drift.report.compare import render_html, render_markdown, render_text
    from pytest_clinical_drift.results.comparing import comparison_exit_code, load_runs, paired_differences
    from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

    runs = load_runs(results)
    if len(runs) < 2:
        raise InputError(f"compare {results[0]}: a comparison needs two runs or more, found one")
    for path in results:
        check_file(path)
    differences = paired_differences(runs, load_thresholds(project_thresholds(Path.cwd())).baseline)
    if html:
        html.write_text(render_html(runs, differences), encoding="utf-8")
    if markdown:
        markdown.write_text(render_markdown(runs, differences), encoding="utf-8")
    else:
        say(render_text(runs, differences, shutil.get_terminal_size().columns))
    return comparison_exit_code(differences) if fail_if_worse else 0


def schema(*, say: Say) -> int:
    from pytest_clinical_drift.results.files import SCHEMA_FILE

    say(SCHEMA_FILE.read_text(encoding="utf-8").rstrip("\n"))
    return 0


def power(*, cases: int | None, drop: float, results: Path | None, say: Say) -> int:
    from pytest_clinical_drift.metrics.paired import estimate_power
    from pytest_clinical_drift.report.power_text import power_lines
    from pytest_clinical_drift.results.comparing import load_baseline
    from pytest_clinical_drift.verdict.baseline import by_id, comparison_rules, recall_spread
    from pytest_clinical_drift.verdict.thresholds import load_thresholds, project_thresholds

    spread = None
    if results:
        finished = by_id(load_baseline(results, "--results").cases)
        spread = recall_spread(finished.values())
        cases = len(finished) if cases is None else cases
        if spread is None:
            raise InputError(f"--results {results}: fewer than two cases have a Recall@T10")
    if cases is None:
        raise InputError("power needs --cases N, or --results PATH to take the number of cases from")
    if cases < 2:
        raise InputError(f"--cases must be at least 2, found {cases}")
    if not 0 < drop <= 1:
        raise InputError(f"--drop must lie between 0 and 1, found {drop:g}")
    rules = comparison_rules(load_thresholds(project_thresholds(Path.cwd())))
    estimated = estimate_power(cases=cases, drop=drop, rules=rules, baseline=spread)
    say("\n".join(power_lines(estimated)))
    return 0


def new(case_id: str, *, out: Path | str, say: Say) -> int:
    from pytest_clinical_drift.cases.files import write_new_case

    file = write_new_case(case_id, Path(out))
    say(f"written: {file}\ncheck it with: clinical-drift validate {file}")
    return 0


def validate(path: Path, *, say: Say) -> int:
    from pytest_clinical_drift.authoring import Level
    from pytest_clinical_drift.authoring.lint import SCHEMA, lint_path

    remarks, text = lint_path(path)
    say(text)
    if any(remark.place == SCHEMA for remark in remarks):
        return BAD_INPUT
    return 1 if any(remark.level == Level.ERROR for remark in remarks) else 0


def sign_case(case: Path, *, by: str, role: str, say: Say) -> int:
    from pytest_clinical_drift.cases.files import sign_case

    signed = sign_case(case, by=by, role=role, when=datetime.datetime.now(tz=datetime.UTC).date())
    say(f"signed: {case} ({signed.id}) by {by}, {role}; names are declared, not authenticated")
    return 0


def plans(path: Path, *, output: Path, linked: Path | None, nli: str, into_cases: bool, say: Say) -> int:
    from pytest_clinical_drift.authoring.plans import add_plans, links, make_plans, read_reasoning, write_plans
    from pytest_clinical_drift.cases.files import load_cases
    from pytest_clinical_drift.judging.nli import ENTAILMENT, CrossEncoder

    cases = load_cases(path)
    if path.is_dir() and output.resolve().is_relative_to(path.resolve()):
        raise InputError(f"{output}: lies among the cases and would be read as one; choose another --output")
    if linked:
        encoder = CrossEncoder(nli, option="--nli FOLDER")
        rows = read_reasoning(linked)
        made = make_plans(cases, rows, links(path), lambda pairs: encoder.probabilities(pairs, ENTAILMENT)[0])
    else:
        made = make_plans(cases)
    if not made:
        say(f"nothing to write: every case has a target plan ({len(cases)})")
        return 0
    write_plans(made, output, verifier=f"nli:{nli}" if linked else None)
    by_source = Counter(plan.source for plan in made)
    say(f"{len(made)} plans written to {output} ({by_source['linked']} linked, {by_source['rules']} rules)")
    if into_cases:
        for file in add_plans(path, {plan.case_id: plan.text for plan in made}):
            say(f"target_plan added to {file}")
    return 0


def agreement(first: Path, second: Path, *, third: Path | None, say: Say) -> int:
    from pytest_clinical_drift.judging.reviews import compare_reviews, read_reviews
    from pytest_clinical_drift.report.judge_text import render_agreement

    files = [read_reviews(file) for file in (first, second, third) if file is not None]
    say(render_agreement(*compare_reviews(*files)))
    return 0


def freeze(
    predictions: Path,
    *,
    out: Path,
    param: list[str],
    candidates: Path | None,
    labels: Path | None,
    say: Say,
    **given: Any,
) -> int:
    from pytest_clinical_drift.gate.settings import read_pairs
    from pytest_clinical_drift.ranking.freezing import SlateSources, freeze

    sources = SlateSources(predictions, candidates, labels)
    manifest = freeze(sources, out, parameters=read_pairs(param, "--param"), **given)
    say(f"frozen: {out}\nsha256 {manifest.sha256}\nkeep this hash elsewhere: verify --sha256 proves against it")
    return 0


def example(what: str, *, out: Path, say: Say) -> int:
    from pytest_clinical_drift.ranking.freezing import write_example

    folder = write_example(out)
    needed = "" if find_spec("polars") else "pip install 'pytest-clinical-drift[ranking]' && "
    say(f"written: {folder}\nnext: {needed}pytest --{what} {shlex.quote(str(folder))}")
    return 0


def verify(folder: Path, *, allowed_signers: Path | None, sha256: str | None, say: Say) -> int:
    from pytest_clinical_drift.results.files import RESULTS_FILE
    from pytest_clinical_drift.results.signed import RELEASE_FILE

    if not folder.is_dir():
        raise InputError(f"verify {folder}: no such folder")
    if any((folder / name).exists() for name in (RESULTS_FILE, RELEASE_FILE)):
        from pytest_clinical_drift.gate.signing import verify_release

        return verify_release(folder, allowed_signers, say, datetime.datetime.now(tz=datetime.UTC).date())
    from pytest_clinical_drift.ranking.freezing import verify_slate

    return verify_slate(folder, sha256, say)
