"""What judges that are chat models share: prompts, reading answers, and asking once more for what is malformed."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.judging.answers import UNSURE, Answer, answer_schema, find_object
from pytest_clinical_drift.judging.prompts import correction, messages_for
from pytest_clinical_drift.judging.protocol import Asked
from pytest_clinical_drift.judging.reading import read_answer
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.transcript import Message, Reply

ATTEMPTS = 3
"""How often a judge is asked for an answer in the right form."""


class Interview:
    """One question to a chat model, with as many attempts as it takes within the bound."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self._messages = messages_for(asked.question, asked.wording)
        self._attempts = 0
        self._tokens: tuple[int, int] | None = None

    def request(self) -> Request:
        question = self.asked.question
        name = f"judge/{question.id}/{self.asked.wording}"
        return Request(
            name, self._attempts, question.turn, "dialogue", self._messages, schema=answer_schema(question.kind)
        )

    def take(self, reply: Reply) -> Answer | None:
        """The answer; None where the judge is asked again."""
        used = reply.usage.prompt_tokens, reply.usage.completion_tokens
        if used[0] is not None and used[1] is not None:
            before = self._tokens or (0, 0)
            self._tokens = before[0] + used[0], before[1] + used[1]
        self._attempts += 1
        text = strip_reasoning(reply.text)
        if reply.error is not None:
            answer = Answer(UNSURE, failed=reply.error)
        elif (given := find_object(text)) is not None:
            answer = read_answer(self.asked.question, given)
        else:
            answer = Answer(UNSURE, failed=f"no answer in the form asked for: {text[:80]!r}")
        if not answer.failed or reply.error is not None or self._attempts >= ATTEMPTS:
            return replace(answer, tokens=self._tokens)
        said = Message("assistant", text or "(nothing)")
        self._messages = (*self._messages, said, Message("user", correction(self.asked.question.kind)))
        return None
