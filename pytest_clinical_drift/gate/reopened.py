"""A finished run, opened again from its folder: scored and judged anew from its transcripts and answers.

A results file that says otherwise is refused.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from pytest_clinical_drift.results.run_log import LOG_FILE, ConversationLog, log_of, read_log
from pytest_clinical_drift.scoring.assessment import Alarm, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.reasons import ReasonCode


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of the run, with what was made of it."""

    case: Case
    transcript: Transcript
    judged: JudgedConversation | None
    """As the run ended; None where nothing was judged."""
    assessment: CaseAssessment
    """As the results file has it, and as it follows from the rest."""

    @property
    def findings(self) -> Mapping[FindingKey, Finding]:
        return self.judged.judgement.findings if self.judged else {}

    @property
    def questions(self) -> Sequence[Question]:
        """Everything that was asked about it."""
        return tuple(self.judged.judgement.questions.values()) if self.judged else ()

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
        deciders = self.inputs.deciders
        collected = SetResult(self.inputs)
        for talks in self._by_case():
            scored = [_score(self.scorer, talk.heard(reviews), deciders.deciding) for talk in talks]
            collected.add(self.inputs.judge_case(scored, deciders.deciding), [talk.transcript for talk in talks])
        reviewers = dict.fromkeys((*deciders.reviewers, *reviews.people_on(self.questions)))
        named = replace(deciders, reviewers=tuple(reviewers))
        return collected, collected.judge(named, self.result.manifest, missing_shards=_missing_shards(self.result))

    def as_it_ended(self) -> RunResult:
        """The record of the run without further reviews, judged again as of its day."""
        inputs = self.inputs.model_copy(update={"today": day_of(self.inputs, self.result)})
        collected = SetResult(inputs)
        for talks in self._by_case():
            collected.add(inputs.judge_case([talk.assessment for talk in talks], inputs.deciders.deciding))
        given = self.result.reviewed
        return collected.judge(
            inputs.deciders,
            self.result.manifest,
            reviews=given.records if given is not None and given.before is None else None,
            missing_shards=_missing_shards(self.result),
        )

    def _by_case(self) -> Iterator[list[Conversation]]:
        by_case: dict[str, list[Conversation]] = {}
        for talk in self.conversations:
            by_case.setdefault(talk.case.id, []).append(talk)
        for talks in by_case.values():
            yield sorted(talks, key=lambda talk: talk.transcript.repeat)


def _missing_shards(result: RunResult) -> tuple[str, ...]:
    """What a merge lacked, which only the merge knows."""
    told = [why.values.get("shards") for why in result.reasons if why.code is ReasonCode.SHARDS_MISSING]
    return tuple(str(shard) for shards in told if isinstance(shards, list) for shard in shards)


def reopen(folder: Path) -> Reopened:
    """Open the folder of a finished run for reviews; InputError in one sentence where that is not possible."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a results folder")
    inputs, result = read_inputs(folder), read_results(folder)
    if is_reviewed(result):
        raise InputError(f"{folder}: was judged with reviews; name the folder of the run itself")
    return open_run(folder, inputs, result)


def open_run(folder: Path, inputs: RunInputs, result: RunResult) -> Reopened:
    """A run, scored and judged again; InputError where its results file says otherwise."""
    check_inputs(folder, inputs, result)
    check_deciders(folder, inputs, result)
    scorer = Scorer(inputs.stride, load_extractor(inputs.ner))
    run = Reopened(inputs, result, tuple(rescore(folder, inputs, result, scorer)), scorer)
    check_record(folder, run.as_it_ended())
    return run


def rescore(folder: Path, inputs: RunInputs, result: RunResult, scorer: Scorer) -> Iterator[Conversation]:
    """Every conversation of the results, judged anew; InputError where the results file says something else of one.

    Of a run judged with reviews each is as the run ended, before them.
    """
    check_conversations(folder, inputs, result)
    known = {(run.case_id, run.repeat): run for run in result.runs}
    held = {case_id for case_id, _ in known}
    cases = {case.id: case for case in inputs.cases if case.id in held}
    logs = read_log(folder)
    method = inputs.method()
    for transcript in _transcripts(folder, inputs, list(cases.values())):
        key = (transcript.case_id, transcript.repeat)
        then = known.pop(key, None)
        case = cases[transcript.case_id]
        if then is None:
            continue  # of a case that was stopped
        if key not in logs and then.failure is None:
            raise InputError(f"{folder}: {case.id} has no entries in {LOG_FILE}")
        try:
            talk = Conversation(case, transcript, None, then)
            if key in logs:
                talk = replace(talk, judged=_judge_again(folder, talk, logs[key], inputs, method, scorer))
            now = _score(scorer, talk, inputs.deciders.deciding)
            agree = scores_agree(now, then)
            talk = replace(talk, assessment=now)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration) as error:
            # answers on a fact, turn or kind that does not exist fail in all sorts of ways
            raise InputError(
                f"{folder / LOG_FILE}: the answers on {case.id} do not fit the conversation; it was changed "
                f"({type(error).__name__})"
            ) from None
        if not agree and not is_reviewed(result):
            why = f"{_first_field(now, then)} differ; one of them was changed, or is of another version of this package"
            raise InputError(
                f"{folder / RESULTS_FILE}: the scores of {then.case_id} do not follow from its transcript and "
                f"{LOG_FILE} ({why}); run again with --model replay:… on the transcripts"
            )
        yield talk
    if known:
        missing = ", ".join(sorted({case_id for case_id, _ in known}))
        raise InputError(f"{folder}: conversations of the results have no transcript ({missing})")


def _judge_again(
    folder: Path, talk: Conversation, log: ConversationLog, inputs: RunInputs, method: Method, scorer: Scorer
) -> JudgedConversation:
    """A conversation judged by the answers of its log, and by the reviews that the run was given."""
    case = talk.case
    rules = scorer.find(case, talk.transcript)
    judged = judge_again(case, talk.transcript, rules, method, (*log.answers, *log.canaries))
    if log_of(log.group, judged).asked != log.asked:
        raise InputError(
            f"{folder / LOG_FILE}: the questions on {case.id} do not follow from its transcript and the answers (one "
            "of them was changed, or another version of this package wrote them); run again with --model replay:… on "
            "the transcripts"
        )
    reviews = Reviews(inputs.judging.reviews)
    if not reviews.records:
        return judged
    unreviewed = scorer.score(case, talk.transcript, judged, method.known.deciding)
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
    """Whether a conversation gives what was recorded of it; of one that is INCOMPLETE only the run knows the cause."""
    return _first_field(now, then) == ""


def _first_field(now: CaseAssessment, then: CaseAssessment) -> str:
    """The first field of two assessments that differs; empty where none does."""
    if now.failure is not None and then.failure is not None:
        now = replace(now, failure=then.failure, incomplete=then.incomplete)
    names = [field.name for field in dataclasses.fields(now)]
    return next((name for name in names if getattr(now, name) != getattr(then, name)), "")


def _score(scorer: Scorer, talk: Conversation, deciding: Collection[str]) -> CaseAssessment:
    """Scored anew; what no answer touches and a transcript does not hold is taken over as it was recorded."""
    then = talk.assessment
    scored = scorer.score(talk.case, talk.transcript, talk.judged, frozenset(deciding))
    if scored.failure is not None and then.failure is not None:
        scored = replace(scored, failure=then.failure, incomplete=then.incomplete)
    return replace(
        scored,
        alignment=then.alignment,
        alignment_reason=then.alignment_reason,
        replies_reused=then.replies_reused,
        generation_seconds=then.generation_seconds,
        notes=then.notes,
        requests=then.requests,
        pdsqi=then.pdsqi,
        scores=then.scores,
    )
