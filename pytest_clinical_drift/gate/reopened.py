"""A finished run, opened again from its results folder: read anew by the rules, with the answers that were given."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.entities import load_extractor
from pytest_clinical_drift.gate.rescoring import Rescored, answers_of, rescore, with_unrepeatable
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.entries import About
from pytest_clinical_drift.judging.for_reviewers import questions_for_people, questions_of
from pytest_clinical_drift.judging.leaks import names_of
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.reviews import Reviews
from pytest_clinical_drift.judging.rulings import Ruling
from pytest_clinical_drift.judging.session import JudgedConversation, with_reviews
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.inputs import RunInputs, check_inputs, read_inputs
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
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
    scorer, names = Scorer(inputs.stride, load_extractor(inputs.ner)), names_of(inputs.cases)
    talks = []
    for talk in rescore(folder, inputs, result, scorer):
        if talk.judged is not None:
            with answers_of(folder, talk.case.id):
                talks.append(_conversation(talk, talk.judged, inputs, names))
    if len(talks) < len(result.runs):
        missing = f"{len(result.runs) - len(talks)} of {len(result.runs)} conversations"
        raise InputError(f"{folder}: {missing} of the results have no answers in run.json")
    return Reopened(inputs, result, tuple(talks), scorer)


def _conversation(
    talk: Rescored, judged: JudgedConversation, inputs: RunInputs, names: Mapping[str, str]
) -> Conversation:
    case, transcript, _, assessment = talk
    people = questions_for_people(case, transcript, judged.findings, names)
    asked = questions_of(case, transcript, judged.judgement, window=inputs.window)
    questions = (*asked.values(), *people)
    return Conversation(case, transcript, judged, questions, assessment, frozenset(inputs.deciders.deciding))
