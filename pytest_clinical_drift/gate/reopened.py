"""A finished run, opened again from its folder: scored anew from its transcripts and answers, and held against both.

`clinical-drift verdict` judges it with what people have answered.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.entities import load_extractor
from pytest_clinical_drift.gate.publishing import FinishedRun
from pytest_clinical_drift.gate.pytest_reports import Say, shown
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.entries import About
from pytest_clinical_drift.judging.for_reviewers import names_of, others_named, questions_for_people, questions_of
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.reviews import Reviews, check_reviews, read_reviews
from pytest_clinical_drift.judging.rulings import Ruling, State
from pytest_clinical_drift.judging.session import JudgedConversation, with_reviews
from pytest_clinical_drift.report.headlines import next_step, run_sentence
from pytest_clinical_drift.report.run_lines import changes_lines
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.folders import TRANSCRIPTS
from pytest_clinical_drift.results.inputs import INPUTS_FILE, RunInputs, check_inputs, read_inputs
from pytest_clinical_drift.results.models import ReviewRecord, RunResult
from pytest_clinical_drift.results.releases import read_sheet
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Transcript

_FOLDER = "reviewed"
"""Where the results with reviews go, beside the untouched ones."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of the run, with what was made of it."""

    case: Case
    transcript: Transcript
    judged: JudgedConversation | None
    """As the run ended; None where nothing was judged."""
    assessment: CaseAssessment
    """As the results file has it, and as it follows from the rest."""
    questions: tuple[Question, ...] = ()
    """All that was asked about it."""

    @property
    def rulings(self) -> Mapping[About, Ruling]:
        return self.judged.judgement.rulings if self.judged else {}

    def heard(self, reviews: Reviews) -> "Conversation":
        """The same once people were heard, not scored anew yet."""
        return replace(self, judged=with_reviews(self.judged, reviews) if self.judged else None)


@dataclass(frozen=True, slots=True)
class Reopened:
    """Everything a results folder holds."""

    inputs: RunInputs
    result: RunResult
    conversations: tuple[Conversation, ...]
    scorer: Scorer

    @property
    def questions(self) -> dict[str, Question]:
        return {question.id: question for talk in self.conversations for question in talk.questions}

    @property
    def alarms(self) -> list[tuple[Conversation, Alarm]]:
        """All alarms, as the run ended."""
        return [(talk, alarm) for talk in self.conversations for alarm in talk.assessment.alarms]

    def judge(self, reviews: Reviews) -> tuple[SetResult, RunResult]:
        """The cases and the set, judged with what people have answered since."""
        deciders, collected = self.inputs.deciders, SetResult(self.inputs)
        by_case: dict[str, list[Conversation]] = {}
        for talk in self.conversations:
            by_case.setdefault(talk.case.id, []).append(talk)
        for talks in by_case.values():
            scored = [_score(self.scorer, talk.heard(reviews), deciders.deciding) for talk in talks]
            collected.add(self.inputs.judge_case(scored, deciders.deciding), [talk.transcript for talk in talks])
        reviewers = dict.fromkeys((*deciders.reviewers, *reviews.people_on(self.questions)))
        return collected, collected.judge(replace(deciders, reviewers=tuple(reviewers)), self.result.manifest)


def reopen(folder: Path) -> Reopened:
    """Open the folder of a finished run; InputError in one sentence where that is not possible."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a results folder")
    inputs, result = read_inputs(folder), read_results(folder)
    check_inputs(folder, inputs, result)
    scorer = Scorer(inputs.stride, load_extractor(inputs.ner))
    talks = tuple(talk for talk in rescore(folder, inputs, result, scorer, ask=True) if talk.judged is not None)
    if len(talks) < len(result.runs):
        missing = f"{len(result.runs) - len(talks)} of {len(result.runs)} conversations"
        raise InputError(f"{folder}: {missing} of the results have no answers in run.json")
    return Reopened(inputs, result, talks, scorer)


def rescore(
    folder: Path, inputs: RunInputs, result: RunResult, scorer: Scorer, *, ask: bool = False
) -> Iterator[Conversation]:
    """Every conversation of the results, scored anew; InputError where the results file says something else of one.

    `ask`: with all that was asked about it.
    """
    check_conversations(folder, inputs, result)
    known = {(run.case_id, run.repeat): run for run in result.runs}
    held = {case_id for case_id, _ in known}
    cases, names = {case.id: case for case in inputs.cases if case.id in held}, names_of(inputs.cases)
    given = {(stored.case_id, stored.repeat): stored for stored in inputs.judged}
    transcripts: list[Transcript] = []
    if cases:
        plan = Plan(None, inputs.repeats, inputs.probe, inputs.probe_every_turn, inputs.single_message)
        replayed = ReplaySubject(str(folder / TRANSCRIPTS), {})
        run_conversations(list(cases.values()), replayed, plan, on_finished=transcripts.append)
    for transcript in transcripts:
        key = (transcript.case_id, transcript.repeat)
        then, stored, case = known.pop(key, None), given.get(key), cases[transcript.case_id]
        if then is None:
            continue  # of a case that was stopped
        try:
            talk = Conversation(case, transcript, None, then)
            if stored is not None:
                findings, others = scorer.find(case, transcript), others_named(case, names)
                judged = JudgedConversation(findings, stored.whole(), stored.canaries, others_named=others)
                talk = replace(talk, judged=judged)
            now = _score(scorer, talk, inputs.deciders.deciding)
            agree = scores_agree(now, then)
            if agree and ask and talk.judged is not None:
                asked = questions_of(case, transcript, talk.judged.judgement, window=inputs.window).values()
                people = questions_for_people(case, transcript, talk.judged.findings, names)
                talk = replace(talk, questions=(*asked, *people))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration) as error:
            # answers on a fact, turn or kind that does not exist fail in all sorts of ways
            raise InputError(
                f"{folder / INPUTS_FILE}: the answers on {case.id} do not fit the conversation; it was changed "
                f"({type(error).__name__})"
            ) from None
        if not agree:
            raise InputError(
                f"{folder / RESULTS_FILE}: the scores of {then.case_id} do not follow from its transcript and run.json "
                "(one of them was changed, or another version of this package wrote them); run again with "
                "--model replay:… on the transcripts"
            )
        yield talk
    if known:
        missing = ", ".join(sorted({case_id for case_id, _ in known}))
        raise InputError(f"{folder}: conversations of the results have no transcript ({missing})")


def check_conversations(folder: Path, inputs: RunInputs, result: RunResult) -> None:
    """InputError unless each case of the results is one of the run, and has all of its repeats, once."""
    waiting = {case.id for case in inputs.cases}
    for case in result.cases:
        held = [(run.case_id, run.repeat) for run in case.repeats]
        stopped = len(held) == 1 and case.repeats[0].failure is not None  # that one, however many were wanted
        whole = len(held) == inputs.repeats or stopped
        if not whole or held != [(case.case_id, repeat) for repeat in range(len(held))] or case.case_id not in waiting:
            raise InputError(f"{folder / RESULTS_FILE}: other conversations of {case.case_id} than were run")
        waiting.remove(case.case_id)


def scores_agree(now: CaseAssessment, then: CaseAssessment) -> bool:
    """Whether a conversation gives what was recorded of it; of one that is INCOMPLETE only the run knows the cause."""
    return now == then or (now.failure is not None and then.failure is not None)


def _score(scorer: Scorer, talk: Conversation, deciding: Collection[str]) -> CaseAssessment:
    """Scored anew; what no answer touches and a transcript does not hold is taken over as it was recorded."""
    then = talk.assessment
    return replace(
        scorer.score(talk.case, talk.transcript, talk.judged, frozenset(deciding)),
        alignment=then.alignment,
        alignment_reason=then.alignment_reason,
        replies_reused=then.replies_reused,
        generation_seconds=then.generation_seconds,
        notes=then.notes,
        requests=then.requests,
        pdsqi=then.pdsqi,
        scores=then.scores,
    )


# -- judged with what people have answered


def judge_with_reviews(results: Path, files: Sequence[Path], out: Path | None, say: Say) -> int:
    """Judge a run again with what people have answered, say what changed, and end as a run would."""
    reviews, sheet = Reviews(), read_sheet(Path.cwd())
    for file in files:
        reviews = read_reviews(file, known=reviews)
    run = reopen(results)
    collected, result = rejudge(run, reviews)
    written = FinishedRun(collected, result).write(out or results / _FOLDER, sheet, place=results)
    before = {case.case_id: case.verdict for case in run.result.cases}
    changed = [
        (case.case_id, before[case.case_id], case.verdict)
        for case in collected.cases
        if before[case.case_id] != case.verdict
    ]
    headline = run_sentence(result)
    lines = changes_lines(result.reviewed, changed, headline) if result.reviewed else [headline]
    step = next_step(result, shown(written[0].parent))
    for line in (*lines, *(f"written: {file}" for file in written), step):
        say(line)
    return collected.exit_code()


def rejudge(run: Reopened, reviews: Reviews) -> tuple[SetResult, RunResult]:
    """Check that the reviews are of this run, and judge it with them; the record says what changed."""
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
    collected, result = run.judge(reviews)
    reviewed = ReviewRecord(
        before=run.result.verdict,
        after=result.verdict,
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
    return collected, result.model_copy(update={"reviewed": reviewed})
