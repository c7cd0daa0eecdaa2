"""What judges that are chat models share: prompts, reading answers, and asking once more for what is malformed."""

from dataclasses import replace

from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.errors import FailureCode
from pytest_clinical_drift.judging.answers import answer_schema, find_object
from pytest_clinical_drift.judging.entries import ReadingAnswer, reading_schema, usable
from pytest_clinical_drift.judging.pdsqi import fully_rated, rating_schema
from pytest_clinical_drift.judging.prompts import correction, messages_for
from pytest_clinical_drift.judging.protocol import Given, JudgeRequest
from pytest_clinical_drift.judging.questions import Question, check_answer
from pytest_clinical_drift.judging.readings import PDSQI, Reading
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.transcript import Message, Reply

ATTEMPTS = 3
"""How often a judge is asked for an answer in the right form."""
_OWN_FAULTS = (FailureCode.CONTEXT_LENGTH, FailureCode.TOKEN_LIMIT, FailureCode.ENDLESS)
"""Errors that are the judge's inability, however well its server works."""
_BEFORE_SENDING = (FailureCode.DEADLINE, FailureCode.SERVER_SILENT)
"""Errors of a request that waited in vain for its turn; after another attempt it has been sent."""
_PARTS = ("facts", "unsupported", "demands", "harm", "contradictions", "course", "misreported", "ratings")


class Interview:
    """One question or reading for a chat model, with as many attempts as it takes within the bound."""

    def __init__(self, asked: JudgeRequest) -> None:
        self.asked = asked
        self._messages = messages_for(asked.item, asked.wording)
        self._attempts = 0
        self._tokens: tuple[int, int] | None = None

    def request(self) -> Request:
        item = self.asked.item
        if isinstance(item, Reading):
            schema = rating_schema() if item.kind == PDSQI else reading_schema(item)
        else:
            schema = answer_schema(item.kind)
        name = f"judge/{item.id}/{self.asked.wording}"
        return Request(name, self._attempts, item.turn, "dialogue", self._messages, schema=schema)

    def take(self, reply: Reply) -> Given | None:
        """The answer; None where the judge is asked again."""
        used = reply.usage.prompt_tokens, reply.usage.completion_tokens
        if used[0] is not None and used[1] is not None:
            before = self._tokens or (0, 0)
            self._tokens = before[0] + used[0], before[1] + used[1]
        self._attempts += 1
        text, last = strip_reasoning(reply.text), self._attempts >= ATTEMPTS
        if reply.error is not None:
            first = self._attempts == reply.error.attempts == 1
            unsent = first and reply.error.code in _BEFORE_SENDING
            answer = self.asked.fail(str(reply.error), outage=reply.error.code not in _OWN_FAULTS, unsent=unsent)
        else:
            answer = read_text(self.asked, text, last=last, cut=bool(reply.truncated))
        if not answer.failed or reply.error is not None or last:
            return replace(answer, tokens=self._tokens)
        said = Message("assistant", text or "(nothing)")
        self._messages = (*self._messages, said, Message("user", correction(self.asked.item)))
        return None


def read_text(asked: JudgeRequest, text: str, *, last: bool = True, cut: bool = False) -> Given:
    """A judge's text as an answer; a reading that lacks a part counts only at the last attempt, that part unsure."""
    item = asked.item
    given = find_object(text, _PARTS if isinstance(item, Reading) else ("answer",), cut=cut)
    if given is not None and isinstance(item, Reading):
        if last or (fully_rated(given) if item.kind == PDSQI else usable(item, given)):
            return ReadingAnswer(given)
    elif given is not None and isinstance(item, Question):
        return check_answer(item, given)
    return asked.fail(f"no answer in the form asked for: {text[:80]!r}", outage=False)
