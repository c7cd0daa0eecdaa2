"""What people settle: alarms that they review, and text that addresses a grader or names another patient."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.evidence.finding_types import Findings
from pytest_clinical_drift.evidence.findings import visible
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.canaries import CanaryResult
from pytest_clinical_drift.judging.entries import About, unread_entries
from pytest_clinical_drift.judging.labelled import GROUP_OF
from pytest_clinical_drift.judging.leaks import find_leaks
from pytest_clinical_drift.judging.material import messages_of
from pytest_clinical_drift.judging.pdsqi import Rating
from pytest_clinical_drift.judging.procedure import ConversationJudgement, silent
from pytest_clinical_drift.judging.questions import Question, question_for
from pytest_clinical_drift.judging.raised_points import points_of
from pytest_clinical_drift.judging.readings import readings_of, windows_of
from pytest_clinical_drift.judging.reviews import Reviews
from pytest_clinical_drift.judging.rule_raises import raises_of
from pytest_clinical_drift.judging.rulings import Raised, Ruling, State, with_person
from pytest_clinical_drift.transcript import Transcript


@dataclass(frozen=True, slots=True)
class JudgedConversation:
    """A conversation after rules, judge and people."""

    findings: Findings
    judgement: ConversationJudgement
    """Without a judge: what the rules raised, with nobody's answer."""
    canaries: tuple[CanaryResult, ...] = ()
    ratings: tuple[Rating, ...] = ()
    others_named: bool = False
    """The full name of another patient of the set is known, and was looked for."""


def with_reviews(judged: JudgedConversation, reviews: Reviews) -> JudgedConversation:
    """A conversation once people were heard."""
    judgement = judged.judgement
    rulings = {
        about: with_person(ruling, said) if (said := reviews.on(ruling.question_id)) else ruling
        for about, ruling in judgement.rulings.items()
    }
    return replace(judged, judgement=replace(judgement, rulings=rulings))


def raised_by_rules(case: Case, transcript: Transcript, findings: Findings, *, window: int) -> ConversationJudgement:
    """What the rules raised or could not read, as points that people can settle; nobody has answered."""
    read = [(reading, unread_entries(reading)) for reading in readings_of(case, transcript)]
    read += [(reading, []) for reading in windows_of(case, transcript, tokens=window)]
    return silent(points_of(case, read, raises_of(case, findings, unread=True), due=False, reads=False))


def with_raised(
    judgement: ConversationJudgement, by_rules: ConversationJudgement, deciding: Collection[str]
) -> ConversationJudgement:
    """A judgement with what rules alone raised where the judge decides nothing, so that people can settle it too."""
    more = {
        about: ruling
        for about, ruling in by_rules.rulings.items()
        if about not in judgement.rulings and GROUP_OF[ruling.kind] not in deciding
    }
    asked = (point for point in by_rules.asked if point.about in more)
    return replace(judgement, rulings={**judgement.rulings, **more}, asked=(*judgement.asked, *asked))


def questions_for_people(
    case: Case, transcript: Transcript, findings: Findings, names: Mapping[str, str]
) -> Iterator[Question]:
    """No judge is asked these; the variant tells reply and summary of a turn apart.

    `names` are those of all patients of the set, by case.
    """
    for kind, items in (("to_judge", findings.addresses), ("leak", find_leaks(case, transcript, names))):
        for item in items:
            exchange = transcript.exchanges[item.turn - 1]
            text = visible(exchange.summary if item.variant == "summary" else exchange.reply) or ""
            patient = messages_of(case, item.turn, item.turn)
            yield Question(kind, case.id, item.turn, text, patient, fact=item.variant, statement=item.quote)


def unanswered(question: Question) -> Ruling:
    """Nobody has answered yet; the question's id tells a reviewer what to settle."""
    return Ruling(question.id, question.kind, State.SILENT, UNSURE, Raised.RULE)


def questions_of(
    case: Case, transcript: Transcript, judgement: ConversationJudgement, *, window: int
) -> dict[About, Question]:
    """The questions that a judgement settled, made again from the conversation."""
    every = [*readings_of(case, transcript), *windows_of(case, transcript, tokens=window)]
    readings = {reading.key: reading for reading in every}
    turns = {line.turn: line for reading in every for line in reading.turns}
    questions: dict[About, Question] = {}
    for point in judgement.asked:
        reading = readings.get((point.reading, point.turn, point.source))
        if reading is not None:
            questions[point.about] = question_for(reading, point.entry, turns)
    return questions
