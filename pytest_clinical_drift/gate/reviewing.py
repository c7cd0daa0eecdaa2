"""`clinical-drift review` and `verdict`: the page for people, and a finished run's verdict with what they answered."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from pytest_clinical_drift.cases.files import load_cases, write_atomically
from pytest_clinical_drift.cases.model import signed
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.ledger import ledger_above
from pytest_clinical_drift.gate.publishing import FinishedRun
from pytest_clinical_drift.gate.pytest_reports import Say, shown
from pytest_clinical_drift.gate.reopened import Reopened, reopen
from pytest_clinical_drift.gate.review_plan import decisions_in, review_items, split_items
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.reviews import Reviews, check_reviews, read_reviews
from pytest_clinical_drift.judging.rulings import State
from pytest_clinical_drift.report.headlines import next_step, review_bound, run_headline, run_sentence
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.review_page import (
    CASES_FILE,
    FILE_NAME,
    ReviewItem,
    is_large,
    render_cases,
    render_review,
    render_texts,
)
from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.models import ReviewRecord
from pytest_clinical_drift.results.releases import newest_release, read_sheet, record_hash, releases_below
from pytest_clinical_drift.scoring.assessment import AlarmState

FOLDER = "reviewed"
"""Where the results with reviews go, beside the untouched ones."""


def review(
    results: Path | None, *, cases: Path | None, split: int, last: Path | None, out: Path | None, say: Say
) -> int:
    """Write the page on which a person settles the alarms of a run, or reads cases before signing them."""
    if results is not None and cases is None:
        return _write_review_pages(results, out, split, last, say)
    if cases is None or results is not None:
        raise InputError("review: name the results folder of a run, or cases with --cases PATH")
    loaded = load_cases(cases)
    written = write_atomically(out or Path(CASES_FILE), render_cases(loaded))
    say(f"{sum(map(signed, loaded))} of {len(loaded)} cases clinically signed\nwritten: {written}")
    return 0


def _write_review_pages(results: Path, out: Path | None, parts: int, last: Path | None, say: Say) -> int:
    """The page of a run; several where people share the work."""
    if parts < 1:
        raise InputError(f"--split must be at least 1, found {parts}")
    run, place = reopen(results), out or results / FILE_NAME
    if last is None and (home := ledger_above(results / FILE_NAME)) is not None:
        newest = newest_release(releases_below(home), record_hash(results))
        last = newest[0].parent if newest else None
    items = review_items(run, decisions_in(read_results(last)) if last is not None else {})
    if not items:
        say("there is nothing to review: no alarm is open or confirmed, and no judge has cleared anything")
        return 0
    for line in review_bound(run.result, run.inputs.thresholds):
        say(line)
    for number, part in enumerate(split_items(items, parts), start=1):
        file, name = (
            (place.with_stem(f"{place.stem}-{number}"), f"part {number} of {parts}") if parts > 1 else (place, "")
        )
        _write_part(run, part, file, name, say)
    for line in text_lines("run_lines.txt.j2", "after_review", place=shown(results), parts=parts):
        say(line)
    return 0


def _write_part(run: Reopened, items: Sequence[ReviewItem], file: Path, name: str, say: Say) -> None:
    """The page, and for a large one the texts of each case in a folder beside it."""
    texts = file.with_name(f"{file.stem}_texts")
    shutil.rmtree(texts, ignore_errors=True)  # of a page that was written here before
    beside = texts.name if is_large(items) else ""
    if beside:
        texts.mkdir(parents=True)
        for script_name, script in render_texts(items):
            (texts / script_name).write_text(script, encoding="utf-8")
    inputs, headline = run.inputs, run_headline(run.result)
    page = render_review(items, manifest=inputs.manifest, slug=inputs.slug, headline=headline, part=name, beside=beside)
    findings = counted(sum(item.lead for item in items), "finding")
    say(f"{findings} on {counted(len({item.screen for item in items}), 'screen')}, {counted(len(items), 'question')}")
    say(f"written: {write_atomically(file, page)}")
    if beside:
        say(f"written: {texts}, the texts that the page shows: keep this folder beside the page")


def judge_with_reviews(results: Path, files: Sequence[Path], out: Path | None, say: Say) -> int:
    """Judge a run again with what people have answered, say what changed, and end as a run would."""
    reviews, sheet = Reviews(), read_sheet(Path.cwd())
    for file in files:
        reviews = read_reviews(file, known=reviews)
    run = reopen(results)
    collected, reviewed = rejudge(run, reviews)
    finished = FinishedRun(collected.result(run.result.manifest, reviewed), run.inputs)
    transcripts = {case_id: [talk.transcript for talk in talks] for case_id, talks in run.by_case().items()}
    written = finished.write(out or results / FOLDER, transcripts, sheet, place=results)
    before = {case.case_id: case.verdict for case in run.result.cases}
    changed = [
        (case.case_id, before[case.case_id], case.verdict)
        for case in collected.cases
        if before[case.case_id] != case.verdict
    ]
    headline = run_sentence(finished.result)
    lines = text_lines("run_lines.txt.j2", "changes", it=reviewed, cases=changed, headline=headline)
    step = next_step(finished.result, shown(written[0].parent))
    for line in (*lines, *(f"written: {file}" for file in written), step):
        say(line)
    return collected.exit_code()


def rejudge(run: Reopened, reviews: Reviews) -> tuple[SetResult, ReviewRecord]:
    """Check that the reviews are of this run, and judge it with them; with what changed, for the results file."""
    severe = {question for talk in run.conversations for question in talk.assessment.severe_questions}
    check_reviews(reviews, run.inputs.manifest, run.questions, severe)
    alone = 0
    if run.inputs.thresholds.judge.dismiss_severe > 1:
        reviews, alone = reviews.with_two_people(severe)
    raised_before = {alarm.question for _, alarm in run.alarms if alarm.state != AlarmState.DISMISSED}
    answered = {review.question for review in reviews.records}
    decided = {
        ruling.question_id: ruling.state
        for talk in run.conversations
        for ruling in talk.heard(reviews).rulings.values()
        if ruling.question_id in answered and ruling.by_person
    }
    alarms = [state for question, state in decided.items() if question in raised_before]
    others = [state for question, state in decided.items() if question not in raised_before]
    collected = run.judge(reviews)
    reviewed = ReviewRecord(
        before=run.result.verdict,
        after=collected.verdict.verdict if collected.verdict else run.result.verdict,
        dismissed=alarms.count(State.DISMISSED),
        confirmed=alarms.count(State.CONFIRMED),
        disputed=sum(state not in (State.DISMISSED, State.CONFIRMED) for state in decided.values()),
        cleared_read=len(others),
        cleared_upheld=others.count(State.CONFIRMED),
        open=sum(alarm.state == AlarmState.OPEN for scored in collected.runs for alarm in scored.alarms),
        second_person=alone,
        manifest=run.inputs.manifest,
        reviewers=reviews.people_on(run.questions),
        records=len(reviews.records),
        last_record=reviews.records[-1].hash,
    )
    return collected, reviewed
