"""A finished run, opened again from its results folder: read anew by the rules, with the answers that were given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.entities.extractors import load_extractor
from pytest_clinical_drift.evidence.leaks import names_of, others_named
from pytest_clinical_drift.gate.rescoring import answers_of, scores_agree, with_unrepeatable
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.for_reviewers import questions_for_people, questions_of
from pytest_clinical_drift.judging.opinions import Ruling
from pytest_clinical_drift.judging.questions import About, Question
from pytest_clinical_drift.judging.reviews import Reviews
from pytest_clinical_drift.judging.session import JudgedConversation, with_reviews
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.folders import TRANSCRIPTS
from pytest_clinical_drift.results.inputs import RunInputs, StoredJudgement, check_inputs, read_inputs
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of the run, with all that was asked about it."""

    case: Case
    transcript: Transcript
    judged: JudgedConversation
    """As the run ended."""
    questions: tuple[Question, ...]
    assessment: CaseAssessment
    """As the results file has it."""
    deciding: frozenset[str]

    @property
    def rulings(self) -> Mapping[About, Ruling]:
        return self.judged.judgement.rulings

    def assess(self, scorer: Scorer, judged: JudgedConversation) -> CaseAssessment:
        """Scored anew; what no answer touches and a transcript does not hold is taken over."""
        now = scorer.score(self.case, self.transcript, judged, self.deciding)
        return with_unrepeatable(now, self.assessment)


@dataclass(frozen=True, slots=True)
class Reopened:
    """Everything a results folder holds."""

    inputs: RunInputs
    result: RunResult
    conversations: tuple[Conversation, ...]
    scorer: Scorer

    @property
    def questions(self) -> dict[str, Question]:
        """By id."""
        return {question.id: question for talk in self.conversations for question in talk.questions}

    @property
    def alarms(self) -> list[tuple[Conversation, Alarm]]:
        """All alarms, as the run ended."""
        return [(talk, alarm) for talk in self.conversations for alarm in talk.assessment.alarms]

    @property
    def transcripts(self) -> dict[str, list[Transcript]]:
        """By case."""
        transcripts: dict[str, list[Transcript]] = {}
        for talk in self.conversations:
            transcripts.setdefault(talk.case.id, []).append(talk.transcript)
        return transcripts

    def judge(self, reviews: Reviews) -> SetResult:
        """The cases and the set, judged with what people have answered since."""
        reviewers = (*self.inputs.deciders.reviewers, *reviews.people_on(self.questions))
        collected = SetResult(self.inputs)
        repeats: dict[str, list[CaseAssessment]] = {}
        for talk in self.conversations:
            repeats.setdefault(talk.case.id, []).append(talk.assess(self.scorer, with_reviews(talk.judged, reviews)))
        for assessments in repeats.values():
            collected.judge_case(assessments, self.inputs.deciders.deciding)
        collected.judge(replace(self.inputs.deciders, reviewers=tuple(dict.fromkeys(reviewers))))
        return collected


def reopen(folder: Path) -> Reopened:
    """Open the folder of a finished run; InputError in one sentence where that is not possible."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a results folder")
    inputs, result = read_inputs(folder), read_results(folder)
    check_inputs(folder, inputs, result)
    known = {(run.case_id, run.repeat): run for run in result.runs}
    held = {case_id for case_id, _ in known}
    cases, names = {case.id: case for case in inputs.cases if case.id in held}, names_of(inputs.cases)
    scorer = Scorer(inputs.stride, load_extractor(inputs.ner))
    given = {(stored.case_id, stored.repeat): stored for stored in inputs.judged}
    talks = []
    for transcript in read_transcripts(folder, inputs, list(cases.values())):
        key = (transcript.case_id, transcript.repeat)
        if key in known and key in given:
            case, stored = cases[transcript.case_id], given[key]
            with answers_of(folder, case.id):
                talk = _conversation(case, transcript, stored, known[key], inputs, scorer, names)
                now = talk.assess(scorer, talk.judged)
            _check_unchanged(folder, now, talk.assessment)
            talks.append(talk)
    if len(talks) < len(known):
        missing = f"{len(known) - len(talks)} of {len(known)} conversations"
        raise InputError(f"{folder}: {missing} of the results have no transcript")
    return Reopened(inputs, result, tuple(talks), scorer)


def _conversation(
    case: Case,
    transcript: Transcript,
    stored: StoredJudgement,
    assessment: CaseAssessment,
    inputs: RunInputs,
    scorer: Scorer,
    names: Mapping[str, str],
) -> Conversation:
    findings, judgement = scorer.find(case, transcript), stored.whole()
    people = questions_for_people(case, transcript, findings, names)
    judged = JudgedConversation(findings, judgement, stored.canaries, others_named=others_named(case, names))
    asked = questions_of(case, transcript, judgement, window=inputs.window)
    questions = (*asked.values(), *people)
    return Conversation(case, transcript, judged, questions, assessment, frozenset(inputs.deciders.deciding))


def read_transcripts(folder: Path, inputs: RunInputs, cases: Sequence[Case]) -> list[Transcript]:
    """The conversations of a run's folder."""
    transcripts: list[Transcript] = []
    subject = ReplaySubject(str(folder / TRANSCRIPTS), {})
    plan = Plan(None, inputs.repeats, inputs.probe, inputs.probe_every_turn, inputs.single_message)
    run_conversations(cases, subject, plan, on_finished=transcripts.append)
    return transcripts


def _check_unchanged(folder: Path, now: CaseAssessment, then: CaseAssessment) -> None:
    """The same alarms and scores as in the results file: else an answer would settle what nobody has asked."""
    ours, theirs = (
        sorted((a.kind, a.turn, a.state, a.question, a.quote) for a in run.alarms) for run in (now, then)
    )  # fmt: skip
    if ours != theirs or not scores_agree(now, then):
        what = "alarms" if ours != theirs else "scores"
        raise InputError(
            f"{folder}: the transcript of {now.case_id} no longer gives the {what} of the results file (changed since, "
            "or scored by another version of this package); run again with --model replay:… on the transcripts"
        )
