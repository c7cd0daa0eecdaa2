"""`clinical-drift review` and `verdict`: the page for people, and a finished run's verdict with what they answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_clinical_drift.gate.outcome import Outcome
from pytest_clinical_drift.gate.reopened import Reopened, reopen
from pytest_clinical_drift.gate.review_items import review_items
from pytest_clinical_drift.judging.opinions import DISMISSED as CLEARED
from pytest_clinical_drift.judging.opinions import UPHELD
from pytest_clinical_drift.judging.reviews import DECLARED, Reviews, check_reviews, read_reviews
from pytest_clinical_drift.report.json_file import write_atomically
from pytest_clinical_drift.report.review_page import FILE_NAME, render_review
from pytest_clinical_drift.report.review_text import change_lines, change_sentence, reviews_sentence
from pytest_clinical_drift.scoring.assessment import CONFIRMED, DISMISSED, OPEN, CaseAssessment
from pytest_clinical_drift.verdict.values import MOST_TO_READ, Basis, counted

FOLDER = "reviewed"
"""Where the results with reviews go, beside the untouched ones."""

Say = Callable[[str], object]


def write_review_page(results: Path, out: Path | None, say: Say) -> int:
    """Write the page on which a person settles the alarms of a run."""
    run = reopen(results)
    items = review_items(run)
    if not items:
        say("there is nothing to review: no alarm is open or confirmed, and no judge has cleared anything")
        return 0
    page = render_review(items, manifest=run.record.manifest, slug=run.record.slug, headline=run.results.headline)
    groups = len({item.group for item in items})
    say(f"{counted(len(items), 'question')} in {counted(groups, 'group')}")
    if groups > MOST_TO_READ:
        say("too many to read; use a better judge")
    say(f"written: {write_atomically(out or results / FILE_NAME, page)}")
    return 0


def judge_with_reviews(results: Path, files: Sequence[Path], out: Path | None, say: Say) -> int:
    """Judge a run again with what people have answered, say what changed, and end as a run would."""
    reviews = Reviews()
    for file in files:
        reviews = read_reviews(file, known=reviews)
    run = reopen(results)
    outcome, change = rejudge(run, reviews)
    written = outcome.write(out or results / FOLDER, Path.cwd(), dict(run.manifest), run.transcripts, change)
    before = {case.case_id: case.verdict for case in run.results.cases}
    changed = [
        (judged.case_id, before[judged.case_id], judged.verdict)
        for _, judged in outcome.cases
        if before[judged.case_id] != judged.verdict
    ]
    verdict = outcome.verdict
    told = ": ".join(filter(None, (verdict.headline, "; ".join(verdict.reasons[:4])))) if verdict else ""
    for line in (*change_lines(change, changed, told), *(f"written: {file}" for file in written)):
        say(line)
    return outcome.exit_code()


def rejudge(run: Reopened, reviews: Reviews) -> tuple[Outcome, dict[str, Any]]:
    """Check that the reviews are of this run, and judge it with them; with what changed, for the results file."""
    severe = {alarm.question for _, alarm in run.alarms if alarm.severe}
    check_reviews(reviews, run.record.manifest, run.questions, severe)
    outcome = run.judge(reviews)
    people = reviews.people_on(run.questions)
    change = {
        "from": run.results.verdict,
        "to": outcome.verdict.verdict if outcome.verdict else run.results.verdict,
        **_settled(run, reviews),
        "open": sum(alarm.state == OPEN for assessment in outcome.runs for alarm in assessment.alarms),
        "manifest": run.record.manifest,
        "reviewers": list(people),
        "records": len(reviews.records),
        "last_record": reviews.records[-1].hash,
        "declared": DECLARED,
    }
    return outcome, {"sentence": f"{change_sentence(change)}, reviewed by {', '.join(people)}; {DECLARED}", **change}


def _settled(run: Reopened, reviews: Reviews) -> dict[str, int]:
    """Alarms that reviewers took back, confirmed and left open; answers of the judge read again, and not held."""
    raised_before = {alarm.question for _, alarm in run.alarms if alarm.state != DISMISSED}
    heard = {review.question for review in reviews.records}
    decided = {
        ruling.question_id: ruling.outcome
        for talk in run.conversations
        for ruling in talk.rulings_with(reviews).values()
        if ruling.question_id in heard and ruling.by_person
    }
    alarms = [outcome for question, outcome in decided.items() if question in raised_before]
    others = [outcome for question, outcome in decided.items() if question not in raised_before]
    return {
        "dismissed": alarms.count(CLEARED),
        "confirmed": alarms.count(UPHELD),
        "disputed": sum(outcome not in (CLEARED, UPHELD) for outcome in decided.values()),
        "cleared_read": len(others),
        "cleared_upheld": others.count(UPHELD),
    }


def told_in_run(reviews: Reviews | None, basis: Basis, runs: Sequence[CaseAssessment]) -> dict[str, Any] | None:
    """What people have settled in a run that was given reviews, for its results file."""
    if reviews is None:
        return None
    states = [alarm.state for run in runs for alarm in run.alarms if alarm.settled_by == "person"]
    dismissed, confirmed = states.count(DISMISSED), states.count(CONFIRMED)
    sentence = reviews_sentence(dismissed, confirmed, basis.reviewers, len(reviews.records))
    return {"sentence": sentence, "reviewers": list(basis.reviewers)}
