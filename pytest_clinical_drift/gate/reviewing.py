"""`clinical-drift review` and `verdict`: the page for people, and a finished run's verdict with what they answered."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_clinical_drift.gate.collected import CollectedCases
from pytest_clinical_drift.gate.finished import FinishedRun
from pytest_clinical_drift.gate.reopened import Conversation, Reopened, reopen
from pytest_clinical_drift.judging.material import record_of
from pytest_clinical_drift.judging.opinions import State
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.reviews import Reviews, check_reviews, read_reviews
from pytest_clinical_drift.report.headlines import MOST_TO_READ, run_headline
from pytest_clinical_drift.report.review_page import FILE_NAME, ReviewItem, render_review
from pytest_clinical_drift.report.reviews import change_lines
from pytest_clinical_drift.report.sentences import grade_rank
from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.results.files import write_atomically
from pytest_clinical_drift.results.models import ReviewRecord
from pytest_clinical_drift.results.sheet import read_sheet
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.measures import in_a_row
from pytest_clinical_drift.verdict.values import SetVerdict

FOLDER = "reviewed"
"""Where the results with reviews go, beside the untouched ones."""

MIXED_IN = 20
"""Cleared answers that a reviewer reads among the alarms, so that reviews can also worsen a verdict."""

Say = Callable[[str], object]


def write_review_page(results: Path, out: Path | None, say: Say) -> int:
    """Write the page on which a person settles the alarms of a run."""
    run = reopen(results)
    items = review_items(run)
    if not items:
        say("there is nothing to review: no alarm is open or confirmed, and no judge has cleared anything")
        return 0
    headline = run_headline(run.result)
    page = render_review(items, manifest=run.inputs.manifest, slug=run.inputs.slug, headline=headline)
    groups = len({item.group for item in items})
    say(f"{counted(len(items), 'question')} in {counted(groups, 'group')}")
    if groups > MOST_TO_READ:
        say("too many to read; use a better judge")
    say(f"written: {write_atomically(out or results / FILE_NAME, page)}")
    return 0


def judge_with_reviews(results: Path, files: Sequence[Path], out: Path | None, say: Say) -> int:
    """Judge a run again with what people have answered, say what changed, and end as a run would."""
    reviews, sheet = Reviews(), read_sheet(Path.cwd())
    for file in files:
        reviews = read_reviews(file, known=reviews)
    run = reopen(results)
    collected, reviewed = rejudge(run, reviews)
    finished = FinishedRun(collected.result(run.result.manifest, reviewed), run.inputs)
    written = finished.write(out or results / FOLDER, run.transcripts, sheet, place=results)
    before = {case.case_id: case.verdict for case in run.result.cases}
    changed = [
        (case.case_id, before[case.case_id], case.verdict)
        for case in collected.cases
        if before[case.case_id] != case.verdict
    ]
    for line in (*change_lines(finished.result, changed), *(f"written: {file}" for file in written)):
        say(line)
    return collected.exit_code()


def rejudge(run: Reopened, reviews: Reviews) -> tuple[CollectedCases, ReviewRecord]:
    """Check that the reviews are of this run, and judge it with them; with what changed, for the results file."""
    severe = {alarm.question for _, alarm in run.alarms if alarm.severe and alarm.state != AlarmState.DISMISSED}
    check_reviews(reviews, run.inputs.manifest, run.questions, severe)
    collected = run.judge(reviews)
    reviewed = ReviewRecord(
        before=run.result.verdict,
        after=collected.verdict.verdict if collected.verdict else run.result.verdict,
        **_settled(run, reviews),
        open=sum(alarm.state == AlarmState.OPEN for scored in collected.runs for alarm in scored.alarms),
        manifest=run.inputs.manifest,
        reviewers=reviews.people_on(run.questions),
        records=len(reviews.records),
        last_record=reviews.records[-1].hash,
    )
    return collected, reviewed


def _settled(run: Reopened, reviews: Reviews) -> dict[str, int]:
    """Alarms that reviewers dismissed, confirmed and left open; answers of the judge read again, and not upheld."""
    raised_before = {alarm.question for _, alarm in run.alarms if alarm.state != AlarmState.DISMISSED}
    answered = {review.question for review in reviews.records}
    decided = {
        ruling.question_id: ruling.state
        for talk in run.conversations
        for ruling in talk.judged_with(reviews).judgement.rulings.values()
        if ruling.question_id in answered and ruling.by_person
    }
    alarms = [outcome for question, outcome in decided.items() if question in raised_before]
    others = [outcome for question, outcome in decided.items() if question not in raised_before]
    return {
        "dismissed": alarms.count(State.DISMISSED),
        "confirmed": alarms.count(State.CONFIRMED),
        "disputed": sum(outcome not in (State.DISMISSED, State.CONFIRMED) for outcome in decided.values()),
        "cleared_read": len(others),
        "cleared_upheld": others.count(State.CONFIRMED),
    }


def reviews_in_run(
    reviews: Reviews | None, verdict: SetVerdict | None, runs: Sequence[CaseAssessment]
) -> ReviewRecord | None:
    """What people have settled in a run that was given reviews, for its results file."""
    if reviews is None or verdict is None:
        return None
    states = [alarm.state for run in runs for alarm in run.alarms if alarm.settled_by == "person"]
    return ReviewRecord(
        reviewers=verdict.deciders.reviewers,
        records=len(reviews.records),
        dismissed=states.count(AlarmState.DISMISSED),
        confirmed=states.count(AlarmState.CONFIRMED),
    )


# -- what a reviewer is asked: the alarms of a run, the worst first, with answers mixed in that the judge cleared


_CLEARED = (State.CLEARED, State.DISMISSED)
_GRAVE = ("must", "must_not", "forbidden", "harm")
"""Kinds of cleared question that are read first: what they missed could harm."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question for the page, with the alarms that it settles; without any where the judge cleared it."""

    talk: Conversation
    question: Question
    alarms: tuple[Alarm, ...]

    @property
    def severe(self) -> bool:
        return any(alarm.severe for alarm in self.alarms) if self.alarms else self.question.kind in _GRAVE

    @property
    def thing(self) -> tuple[str, int, str]:
        """Questions on one fact of one conversation, over turns in a row, are read together."""
        return self.talk.case.id, self.talk.transcript.repeat, self.question.fact or self.question.id

    @property
    def rank(self) -> tuple[bool, int, bool]:
        """The worst first: severe before others, by grade of harm, open before confirmed."""
        grade = min((grade_rank(alarm.grade) for alarm in self.alarms), default=0)
        return not self.severe, grade, not any(alarm.state == AlarmState.OPEN for alarm in self.alarms)


def review_items(run: Reopened) -> list[ReviewItem]:
    """Everything that no person has settled yet, in the order in which it is best read."""
    groups = in_a_row(_alarmed(run), lambda asked: asked.thing, lambda asked: asked.question.turn)
    groups.sort(key=lambda group: (min(asked.rank for asked in group), group[0].question.case_id))
    draw = random.Random(run.inputs.manifest)
    for asked in _cleared(run, draw):
        groups.insert(draw.randint(0, len(groups)), [asked])
    return [_item(asked, number) for number, group in enumerate(groups) for asked in group]


def _alarmed(run: Reopened) -> list[_Asked]:
    """Each question once, though several alarms may hang on it."""
    by_question: dict[str, _Asked] = {}
    questions = run.questions
    for talk, alarm in run.alarms:
        if alarm.settled_by == "person" or alarm.state == AlarmState.DISMISSED or alarm.question not in questions:
            continue
        known = by_question.get(alarm.question) or _Asked(talk, questions[alarm.question], ())
        by_question[alarm.question] = replace(known, alarms=(*known.alarms, alarm))
    return list(by_question.values())


def _cleared(run: Reopened, draw: random.Random) -> list[_Asked]:
    waiting = {alarm.question for _, alarm in run.alarms if alarm.state != AlarmState.DISMISSED}
    candidates = {
        question.id: _Asked(talk, question, ())
        for talk in run.conversations
        for question in talk.questions
        if (ruling := talk.rulings[question.about]).state in _CLEARED and not ruling.by_person
        if question.id not in waiting
    }
    return [candidates[key] for key in draw.sample(sorted(candidates), min(MIXED_IN, len(candidates)))]


def _item(asked: _Asked, group: int) -> ReviewItem:
    question, case = asked.question, asked.talk.case
    ruling = asked.talk.rulings[question.about]
    telling = next((o for o in ruling.opinions if o.quote), None)
    quotes = dict.fromkeys(alarm.quote for alarm in asked.alarms if alarm.quote)
    earlier = [alarm.earlier_quote for alarm in asked.alarms if alarm.earlier_quote]
    return ReviewItem(
        question=question,
        group=group,
        severe=asked.severe,
        quote=" … ".join(quotes) or (telling.quote if telling else ""),
        message=case.turns[question.turn - 1].message,
        messages=_messages_before(asked),
        record=record_of(case, question.turn),
        why=_why(asked.alarms),
        opinions=ruling.opinions,
        earlier_quote=earlier[0] if earlier else (telling.earlier_quote if telling else ""),
    )


def _messages_before(asked: _Asked) -> str:
    question = asked.question
    first = 1 if question.kind in ("fact", "invented") else (question.earlier_turn or question.turn) + 1
    turns = asked.talk.case.turns[first - 1 : question.turn - 1]
    return "\n\n".join(f"Turn {turn.turn}: {turn.message}" for turn in turns)


def _why(alarms: Sequence[Alarm]) -> str:
    if not alarms:
        return "A draw from what the judge has cleared: here to see what it misses."
    reasons = dict.fromkeys(
        f"{alarm.kind} ({alarm.state}{f', by {alarm.settled_by}' if alarm.settled_by else ''}): {alarm.reason}"
        for alarm in alarms
    )
    return "; ".join(reasons)
