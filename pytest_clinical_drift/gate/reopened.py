"""A finished run, opened again from its folder: scored and judged anew from its transcripts and answers.

A results file that says otherwise is refused.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.core.findings import Finding, FindingKey
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.entities import load_extractor
from pytest_clinical_drift.gate.record_check import check_deciders, check_record, day_of, is_reviewed
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.conversation import Method, judge_again
from pytest_clinical_drift.judging.for_reviewers import JudgedConversation, heard, with_reviews
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.reviews import Reviews
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.folders import TRANSCRIPTS, regular_files
from pytest_clinical_drift.results.inputs import RunInputs, check_inputs, read_inputs
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.run_log import LOG_FILE, ConversationLog, asked_in, read_log
from pytest_clinical_drift.scoring.assessment import Alarm, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of the run, with what was made of it."""

    case: Case
    transcript: Transcript
    judged: JudgedConversation | None
    """As the run ended; None where nothing was judged."""
    log: ConversationLog
    assessment: CaseAssessment
    """As it follows from transcript and log."""

    @property
    def findings(self) -> Mapping[FindingKey, Finding]:
        return self.judged.judgement.findings if self.judged else {}

    @property
    def questions(self) -> Sequence[Question]:
        """Everything that was asked about it."""
        return tuple(self.judged.judgement.questions.values()) if self.judged else ()

    def heard(self, reviews: Reviews) -> JudgedConversation | None:
        """What was made of it once people were heard, not scored anew yet."""
        return with_reviews(self.judged, reviews) if self.judged else None


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that a verdict follows from, read from the folder of a run."""

    inputs: RunInputs
    conversations: tuple[Conversation, ...]
    scorer: Scorer

    @property
    def questions(self) -> dict[str, Question]:
        return {question.id: question for talk in self.conversations for question in talk.questions}

    @property
    def alarms(self) -> list[tuple[Conversation, Alarm]]:
        """All alarms, as the run ended."""
        return [(talk, alarm) for talk in self.conversations for alarm in talk.assessment.alarms]

    @property
    def by_case(self) -> list[list[Conversation]]:
        """The conversations of each case, by repeat."""
        cases: dict[str, list[Conversation]] = {}
        for talk in self.conversations:
            cases.setdefault(talk.case.id, []).append(talk)
        return [sorted(talks, key=lambda talk: talk.transcript.repeat) for talks in cases.values()]

    def scored_after(self, talk: Conversation, reviews: Reviews) -> CaseAssessment:
        """A conversation scored anew once people were heard."""
        return _score(
            self.scorer,
            talk.case,
            talk.transcript,
            talk.log,
            judged=talk.heard(reviews),
            deciding=self.inputs.deciders.deciding,
        )


def judge(record: Record, reviews: Reviews | None = None) -> tuple[SetResult, RunResult]:
    """The verdict that follows from a record, with what people have answered since; pure."""
    inputs = record.inputs
    deciders = inputs.deciders
    collected = SetResult(inputs)
    for talks in record.by_case:
        scored = [talk.assessment for talk in talks]
        if reviews is not None:
            scored = [record.scored_after(talk, reviews) for talk in talks]
        collected.add(inputs.judge_case(scored, deciders.deciding), [talk.transcript for talk in talks])
    given: int | None = len(inputs.judging.reviews) or None
    if reviews is not None:
        given = None
        named = dict.fromkeys((*deciders.reviewers, *reviews.people_on(record.questions)))
        deciders = replace(deciders, reviewers=tuple(named))
    result = collected.judge(deciders, inputs.manifest, reviews=given, missing_shards=inputs.missing_shards)
    return collected, result


def reopen(folder: Path) -> tuple[Record, RunResult]:
    """Open the folder of a finished run for reviews; InputError in one sentence where that is not possible."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a results folder")
    inputs = read_inputs(folder)
    result = read_results(folder)
    if is_reviewed(result):
        raise InputError(f"{folder}: was judged with reviews; name the folder of the run itself")
    return open_run(folder, inputs, result), result


def open_run(folder: Path, inputs: RunInputs, result: RunResult) -> Record:
    """The record of a run; InputError where its results file says otherwise."""
    check_inputs(folder, inputs, result)
    check_deciders(folder, inputs, result)
    record = checked_record(folder, inputs, result)
    _, now = judge(dated(record, result))
    check_record(folder, now)
    return record


def dated(record: Record, result: RunResult) -> Record:
    """A record as of the day of its verdict, on which waivers may have held that have expired since."""
    return replace(record, inputs=record.inputs.model_copy(update={"today": day_of(record.inputs, result)}))


def checked_record(folder: Path, inputs: RunInputs, result: RunResult) -> Record:
    """The record of a run; InputError where the results file says something else of a conversation.

    Of a run judged with reviews each conversation is as the run ended, before them.
    """
    check_conversations(folder, inputs, result)
    record = read_run(folder, inputs)
    conversations = []
    known = {(run.case_id, run.repeat): run for run in result.runs}
    for talk in record.conversations:
        then = known.pop(talk.log.group, None)
        if then is None:
            raise InputError(f"{folder / LOG_FILE}: holds {talk.case.id}, which the results file does not")
        differs = _first_field(talk.assessment, then)
        reviewed = is_reviewed(result)
        stopped = talk.assessment.failure is not None and then.failure is not None
        # how far a conversation had come that was stopped, only the run knows
        conversations.append(replace(talk, assessment=then) if stopped and not reviewed else talk)
        if differs and not reviewed:
            raise InputError(
                f"{folder / RESULTS_FILE}: the scores of {then.case_id} do not follow from its transcript and "
                f"{LOG_FILE} ({differs} differ; one of them was changed, or is of another version of this package); "
                "run again with --model replay:… on the transcripts"
            )
    if known:
        missing = ", ".join(sorted({case_id for case_id, _ in known}))
        raise InputError(f"{folder}: conversations of the results are not in {LOG_FILE} ({missing})")
    return replace(record, conversations=tuple(conversations))


def read_run(folder: Path, inputs: RunInputs) -> Record:
    """The record of a run, from `run.json`, log and transcripts alone."""
    scorer = Scorer(inputs.stride, load_extractor(inputs.ner))
    logs = read_log(folder)
    cases = {case.id: case for case in inputs.cases}
    unknown = [case_id for case_id, _ in logs if case_id not in cases]
    if unknown:
        raise InputError(f"{folder / LOG_FILE}: holds {unknown[0]}, which is no case of this run")
    method = inputs.method()
    conversations = []
    for transcript in _transcripts(folder, inputs, [cases[name] for name in {name: None for name, _ in logs}]):
        log = logs.pop((transcript.case_id, transcript.repeat), None)
        if log is None:
            continue  # a repeat of a case that was stopped
        case = cases[transcript.case_id]
        try:
            judged = None
            if log.judged:
                judged = _judge_again(folder, case, transcript, log, inputs=inputs, method=method, scorer=scorer)
            scored = _score(scorer, case, transcript, log, judged=judged, deciding=inputs.deciders.deciding)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration) as error:
            # answers on a fact, turn or kind that does not exist fail in all sorts of ways
            raise InputError(
                f"{folder / LOG_FILE}: the answers on {case.id} do not fit the conversation; it was changed "
                f"({type(error).__name__})"
            ) from None
        conversations.append(Conversation(case, transcript, judged, log, scored))
    if logs:
        missing = ", ".join(sorted({case_id for case_id, _ in logs}))
        raise InputError(f"{folder}: conversations of {LOG_FILE} have no transcript ({missing})")
    return Record(inputs, tuple(conversations), scorer)


def _judge_again(
    folder: Path,
    case: Case,
    transcript: Transcript,
    log: ConversationLog,
    *,
    inputs: RunInputs,
    method: Method,
    scorer: Scorer,
) -> JudgedConversation:
    """A conversation judged by the answers of its log, and by the reviews that the run was given."""
    rules = scorer.find(case, transcript)
    judged = judge_again(case, transcript, rules, method, (*log.answers, *log.canaries))
    if asked_in(judged) != log.asked:
        raise InputError(
            f"{folder / LOG_FILE}: the questions on {case.id} do not follow from its transcript and the answers (one "
            "of them was changed, or another version of this package wrote them); run again with --model replay:… on "
            "the transcripts"
        )
    reviews = Reviews(inputs.judging.reviews)
    if not reviews.records:
        return judged
    unreviewed = scorer.score(case, transcript, judged, method.known.deciding)
    people = inputs.thresholds.judge.dismiss_severe
    return heard(judged, reviews, unreviewed.severe_questions, people_to_dismiss=people)


def _transcripts(folder: Path, inputs: RunInputs, cases: list[Case]) -> list[Transcript]:
    transcripts: list[Transcript] = []
    place = folder / TRANSCRIPTS
    if cases:
        if place.is_dir():
            tuple(regular_files(place))
        plan = Plan(None, inputs.repeats, inputs.probe, inputs.probe_every_turn, inputs.single_message)
        run_conversations(cases, ReplaySubject(str(place), {}), plan, on_finished=transcripts.append)
    return transcripts


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
    """Whether a conversation gives what was recorded of it."""
    return _first_field(now, then) == ""


def _first_field(now: CaseAssessment, then: CaseAssessment) -> str:
    """The first field of two assessments that differs; empty where none does. Wall time is not kept.

    Of a conversation that is INCOMPLETE only the run knows how far it had come; no figure of it is gated, but what was
    found in it may fail the case.
    """
    now = replace(now, generation_seconds=then.generation_seconds)
    names = [field.name for field in dataclasses.fields(now)]
    if now.failure is not None and then.failure is not None:
        names = ["failure", "alarms", "events", "breaches"]
    return next((name for name in names if getattr(now, name) != getattr(then, name)), "")


def _score(
    scorer: Scorer,
    case: Case,
    transcript: Transcript,
    log: ConversationLog,
    *,
    judged: JudgedConversation | None,
    deciding: Collection[str],
) -> CaseAssessment:
    """Scored anew; what a transcript does not hold is taken from the log."""
    measured = log.measured
    return replace(
        scorer.score(case, transcript, judged, frozenset(deciding)),
        alignment=measured.alignment,
        alignment_reason=measured.alignment_reason,
        replies_reused=measured.replies_reused,
        generation_seconds=None,
        notes=measured.notes,
        scores=measured.scores,
        failure=measured.failure,
        incomplete=str(measured.failure) if measured.failure is not None else None,
    )
