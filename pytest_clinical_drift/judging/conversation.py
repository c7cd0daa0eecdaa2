"""One conversation judged, from what rules found to what only people can settle: live, or from a log of answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.evidence.findings import Findings
from pytest_clinical_drift.judging.canaries import canaries_of, try_canaries
from pytest_clinical_drift.judging.due import raises_of
from pytest_clinical_drift.judging.for_reviewers import (
    JudgedConversation,
    Known,
    others_named,
    with_everything_for_people,
)
from pytest_clinical_drift.judging.pdsqi import rate
from pytest_clinical_drift.judging.procedure import (
    Asker,
    ConversationJudgement,
    Judges,
    Texts,
    at_once,
    judge_conversation,
    judge_single,
    read_all,
)
from pytest_clinical_drift.judging.protocol import JudgeRequest
from pytest_clinical_drift.judging.readings import readings_of, single_reading, windows_of
from pytest_clinical_drift.transcript import Transcript

NOT_LOGGED = "no answer in the log of the run"


@dataclass(frozen=True, slots=True)
class Method:
    """How the conversations of a run are judged; with the answers, all that a judgement follows from."""

    known: Known
    judges: Judges | None = None
    """None: rules only."""
    audit: Mapping[str, float] = field(default_factory=dict)
    """Share of the cleared entries of each kind that is asked about."""
    canaries: Mapping[str, float] = field(default_factory=dict)
    """Chance of a text to get a canary of each kind."""
    pdsqi: bool = False
    """Summaries are rated by PDSQI-9."""


async def judge_texts(
    asker: Asker, case: Case, transcript: Transcript, rules: Findings, method: Method
) -> JudgedConversation:
    """What rules and judges make of a conversation, without what only people settle."""
    judges = method.judges
    if judges is None:
        return JudgedConversation(rules, ConversationJudgement())
    noting = _Noting(asker)
    aside = _Noting(asker)
    texts = Texts(
        case,
        transcript.repeat,
        readings_of(case, transcript),
        windows_of(case, transcript, tokens=method.known.window),
        audit=method.audit,
    )
    judgement = await judge_conversation(noting, texts, raises_of(case, rules), judges)
    single = await judge_single(noting, case, single_reading(case, transcript), judges)
    readings = await read_all(noting, texts.readings, judges)  # the same ones: nothing is asked again
    canaries = canaries_of(case, readings.read, method.canaries, transcript.repeat)
    found = await try_canaries(aside, canaries, judges)
    ratings = await rate(noting, case, transcript, judges) if method.pdsqi else ()
    return JudgedConversation(
        rules,
        replace(judgement, single=single),
        tuple(found),
        ratings,
        answers=tuple(noting.answers.values()),
        canary_answers=tuple(aside.answers.values()),
    )


def with_people(judged: JudgedConversation, case: Case, transcript: Transcript, method: Method) -> JudgedConversation:
    """A judged conversation with what only people settle, not answered yet."""
    judgement = with_everything_for_people(judged.judgement, case, transcript, judged.rules, method.known)
    return replace(judged, judgement=judgement, others_named=others_named(case, method.known.names))


def judge_again(
    case: Case, transcript: Transcript, rules: Findings, method: Method, answers: Iterable[Answer]
) -> JudgedConversation:
    """The judgement that follows from logged answers."""
    judged = at_once(judge_texts(LoggedAnswers(answers), case, transcript, rules, method))
    return with_people(judged, case, transcript, method)


class LoggedAnswers:
    """An asker that looks answers up; what the log does not hold has failed."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = {(answer.item, answer.wording): answer for answer in answers}

    async def ask(self, requests: Sequence[JudgeRequest]) -> list[Answer]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: JudgeRequest) -> Answer:
        answer = self._answers.get((request.item.id, request.wording))
        return request.fail(NOT_LOGGED, unsent=True) if answer is None else answer


class _Noting:
    """An asker that keeps every answer, once."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self.answers: dict[tuple[str, int], Answer] = {}

    async def ask(self, requests: Sequence[JudgeRequest]) -> list[Answer]:
        answers = await self._asker.ask(requests)
        for answer in answers:
            self.answers.setdefault((answer.item, answer.wording), answer)
        return answers
