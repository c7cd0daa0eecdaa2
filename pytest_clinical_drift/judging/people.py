"""Points that only a person settles: text that addresses a grader, text that names another patient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.evidence.finding_types import Findings
from pytest_clinical_drift.evidence.findings import visible
from pytest_clinical_drift.evidence.leaks import Leak, find_leaks
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.material import messages_of
from pytest_clinical_drift.judging.opinions import Raised, Ruling, State
from pytest_clinical_drift.judging.points import key_of, question_for
from pytest_clinical_drift.judging.procedure import ConversationJudgement
from pytest_clinical_drift.judging.questions import About, Question
from pytest_clinical_drift.judging.readings import readings_of, windows_of
from pytest_clinical_drift.transcript import Transcript


def questions_for_people(
    case: Case, transcript: Transcript, findings: Findings, leaks: Iterable[Leak]
) -> Iterator[Question]:
    """No judge is asked these; the variant tells reply and summary of a turn apart."""
    for kind, items in (("to_judge", findings.addresses), ("leak", leaks)):
        for item in items:
            exchange = transcript.exchanges[item.turn - 1]
            text = visible(exchange.summary if item.variant == "summary" else exchange.reply) or ""
            patient = messages_of(case, item.turn, item.turn)
            yield Question(kind, case.id, item.turn, text, patient, fact=item.variant, statement=item.quote)


def people_questions(
    case: Case, transcript: Transcript, findings: Findings, names: Mapping[str, str]
) -> tuple[Question, ...]:
    """The questions of one conversation for people; `names` are those of all patients of the set, by case."""
    leaks = find_leaks(case, transcript, names)
    return tuple(questions_for_people(case, transcript, findings, leaks))


def unanswered(question: Question) -> Ruling:
    """Nobody has answered yet; the question's id tells a reviewer what to settle."""
    return Ruling(question.id, question.kind, State.SILENT, UNSURE, Raised.RULE)


def questions_of(
    case: Case, transcript: Transcript, judgement: ConversationJudgement, *, window: int
) -> dict[About, Question]:
    """The questions that a judgement settled, made again from the conversation."""
    every = [*readings_of(case, transcript), *windows_of(case, transcript, tokens=window)]
    readings = {key_of(reading): reading for reading in every}
    turns = {line.turn: line for reading in every for line in reading.turns}
    questions: dict[About, Question] = {}
    for point in judgement.asked:
        reading = readings.get((point.reading, point.turn, point.source))
        question = question_for(reading, point.entry, turns) if reading is not None else None
        if question is not None:
            questions[point.about] = question
    return questions
