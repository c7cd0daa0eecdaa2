"""`clinical-drift verdict`: a finished run judged with what people have answered; and any record judged again."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_clinical_drift.core.findings import Finding
from pytest_clinical_drift.core.words import State
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.publishing import FinishedRun
from pytest_clinical_drift.gate.pytest_reports import Say, shown
from pytest_clinical_drift.gate.record_check import check_deciders, check_record, is_reviewed
from pytest_clinical_drift.gate.reopened import (
    Conversation,
    Record,
    checked_record,
    dated,
    judge,
    open_run,
    read_run,
    reopen,
)
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.reviews import Reviews, check_reviews, read_reviews
from pytest_clinical_drift.report.headlines import next_step, run_sentence
from pytest_clinical_drift.report.run_lines import changes_lines
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.folders import REVIEWED, TRANSCRIPTS
from pytest_clinical_drift.results.inputs import INPUTS_FILE, RunInputs, check_inputs, read_inputs
from pytest_clinical_drift.results.models import ReviewRecord, RunResult
from pytest_clinical_drift.results.releases import read_sheet
from pytest_clinical_drift.results.run_log import CANARIES_FILE, LOG_FILE
from pytest_clinical_drift.scoring.assessment import AlarmState

REVIEWS = "reviews"
"""Folder of a run judged with reviews that holds them, in the order in which they were given."""


def judge_record(results: Path, files: Sequence[Path] | None, out: Path | None, say: Say) -> int:
    """Judge a run again from its folder, with what people have answered since, and end as a run would."""
    if files:
        return judge_with_reviews(results, files, out, say)
    if (results / RESULTS_FILE).exists():
        collected, result = _judged(results)
        check_record(results, result)
        say(f"{results / RESULTS_FILE}: follows from {INPUTS_FILE}, {LOG_FILE} and transcripts")
        say(run_sentence(result))
        return collected.exit_code()
    if (results / REVIEWS).is_dir():
        raise InputError(f"{results}: the results file of a run with reviews is gone; judge the run's own folder again")
    record = read_run(results, read_inputs(results))
    collected, result = judge(record)
    for file in FinishedRun(collected, result).write(out or results, read_sheet(Path.cwd()), place=results):
        say(f"written: {file}")
    say(run_sentence(result))
    return collected.exit_code()


def judge_with_reviews(results: Path, files: Sequence[Path], out: Path | None, say: Say) -> int:
    """Judge a run again with what people have answered, say what changed, and end as a run would."""
    reviews, sheet = Reviews(), read_sheet(Path.cwd())
    for file in files:
        reviews = read_reviews(file, known=reviews)
    record, before_reviews = reopen(results)
    collected, result = rejudge(record, before_reviews, reviews)
    place = out or results / REVIEWED
    if place.resolve() == results.resolve():
        raise InputError(f"--out {place}: holds the run itself, which stays as it is; name another folder")
    written = FinishedRun(collected, result).write(place, sheet, place=results)
    keep_evidence(results, files, place)
    before = {case.case_id: case.verdict for case in before_reviews.cases}
    changed = [
        (case.case_id, before[case.case_id], case.verdict)
        for case in collected.cases
        if before[case.case_id] != case.verdict
    ]
    headline = run_sentence(result)
    lines = changes_lines(result.reviewed, changed, headline) if result.reviewed is not None else [headline]
    step = next_step(result, shown(written[0].parent))
    for line in (*lines, *(f"written: {file}" for file in written), step):
        say(line)
    return collected.exit_code()


def keep_evidence(results: Path, files: Sequence[Path], place: Path) -> None:
    """Copy what the verdict follows from beside it, so that it can be judged again and signed."""
    for name in (INPUTS_FILE, LOG_FILE, CANARIES_FILE):
        if (results / name).exists():
            shutil.copyfile(results / name, place / name)
    given = [file.read_bytes() for file in files]  # they may be those that are replaced
    for name in (TRANSCRIPTS, REVIEWS):
        shutil.rmtree(place / name, ignore_errors=True)
    if (results / TRANSCRIPTS).is_dir():
        shutil.copytree(results / TRANSCRIPTS, place / TRANSCRIPTS)
    (place / REVIEWS).mkdir()
    for number, content in enumerate(given, start=1):
        (place / REVIEWS / f"{number:03}.jsonl").write_bytes(content)


def findings_after(talk: Conversation, reviews: Reviews) -> Sequence[Finding]:
    """The findings of a conversation once people were heard."""
    judged = talk.heard(reviews)
    return tuple(judged.judgement.findings.values()) if judged is not None else ()


def rejudge(run: Record, then: RunResult, reviews: Reviews) -> tuple[SetResult, RunResult]:
    """Check that the reviews are of this run, and judge it with them; the record says what changed."""
    severe = {question for talk in run.conversations for question in talk.assessment.severe_questions}
    check_reviews(reviews, run.inputs.name, run.questions, severe)
    alone = 0
    if run.inputs.thresholds.judge.dismiss_severe > 1:
        reviews, alone = reviews.with_two_people(severe)
    raised_before = {alarm.question for _, alarm in run.alarms if alarm.state != AlarmState.DISMISSED}
    answered = {review.question for review in reviews.records}
    decided = {
        finding.question: finding.state
        for talk in run.conversations
        for finding in findings_after(talk, reviews)
        if finding.question in answered and finding.by_person
    }
    alarms = [state for question, state in decided.items() if question in raised_before]
    others = [state for question, state in decided.items() if question not in raised_before]
    collected, result = judge(run, reviews)
    reviewed = ReviewRecord(
        before=then.verdict,
        after=result.verdict,
        dismissed=alarms.count(State.DISMISSED),
        confirmed=alarms.count(State.CONFIRMED),
        disputed=sum(state not in (State.DISMISSED, State.CONFIRMED) for state in decided.values()),
        cleared_read=len(others),
        cleared_upheld=others.count(State.CONFIRMED),
        open=sum(alarm.state == AlarmState.OPEN for scored in collected.runs for alarm in scored.alarms),
        second_person=alone,
        manifest=run.inputs.name,
        reviewers=reviews.people_on(run.questions),
        records=len(reviews.records),
        last_record=reviews.records[-1].hash,
    )
    return collected, result.model_copy(update={"reviewed": reviewed})


# -- a record, judged again


def check_baseline(path: Path | None) -> None:
    """Before the first case of a run that is compared with an earlier one."""
    if path is not None:
        check_file(path, "--drift-baseline")


def check_file(path: Path, option: str = "") -> None:
    """Judge the run of a results file, or of a folder, again; InputError where the file says otherwise.

    `option` is the option that named it.
    """
    folder = path if path.is_dir() else path.parent
    named = f"{option} {path}".strip()
    if (path.is_file() and path.name != RESULTS_FILE) or not (folder / INPUTS_FILE).is_file():
        raise InputError(
            f"{named}: {INPUTS_FILE} and transcripts are not beside it, so that it cannot be judged again; "
            "name the folder of the run"
        )
    try:
        judged_again(folder)
    except InputError as error:
        raise InputError(f"{option} {error}".strip()) from None


def judged_again(folder: Path, *, sentences: bool = False) -> RunResult:
    """The record of a run, reviewed or not, once everything in its folder was judged again.

    InputError where the results file says otherwise; `sentences`: also in the words that are only there to be read.
    """
    _, now = _judged(folder)
    check_record(folder, now, sentences=sentences)
    return read_results(folder)


def _judged(folder: Path) -> tuple[SetResult, RunResult]:
    """A run, reviewed or not, as it follows from everything in its folder."""
    inputs = read_inputs(folder)
    result = read_results(folder)
    if is_reviewed(result):
        return _reviewed_again(folder, inputs, result)
    return judge(dated(open_run(folder, inputs, result), result))


def _reviewed_again(folder: Path, inputs: RunInputs, result: RunResult) -> tuple[SetResult, RunResult]:
    """A run judged with reviews: first as it ended, then with the reviews beside it."""
    deciders = replace(result.deciders, reviewers=inputs.deciders.reviewers)
    unreviewed = result.model_copy(update={"deciders": deciders})
    check_inputs(folder, inputs, unreviewed)
    check_deciders(folder, inputs, unreviewed)
    record = dated(checked_record(folder, inputs, result), result)
    reviews = Reviews()
    files = sorted((folder / REVIEWS).glob("*.jsonl"))
    if not files:
        raise InputError(f"{folder / REVIEWS}: the reviews of this run are missing")
    for file in files:
        reviews = read_reviews(file, known=reviews)
    _, as_it_ended = judge(record)
    return rejudge(record, as_it_ended, reviews)
