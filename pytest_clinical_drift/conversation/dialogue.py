"""One conversation in progress: what to ask next, and what was answered so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation import prompts
from pytest_clinical_drift.conversation.hygiene import clean_repetition, never_left_reasoning, strip_reasoning
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.transcript import NO_ANSWER, Exchange, Message, Reply, Transcript, first_error


@dataclass(slots=True)
class Dialogue:
    """The replies enter the history; the summary of a turn branches off and never does."""

    case: Case
    repeat: int
    history: list[Message] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    summaries: dict[int, Reply] = field(default_factory=dict)
    cleaned: list[bool] = field(default_factory=list)
    probe: str | None = None
    """What asks for a summary; None: the bundled request."""
    failed: bool = False
    """A reply could not be had: nothing more is asked."""

    def next_reply(self) -> Request | None:
        """The request for the next turn's reply; None when there is no next turn. Ask once, then `take` the answer."""
        done = len(self.replies)
        if self.failed or done == len(self.case.turns):
            return None
        turn = self.case.turns[done]
        content = turn.message if done else prompts.opening(self.case.patient_summary, turn.message)
        self.history.append(Message("user", content))
        return Request(self.case.id, self.repeat, done + 1, "dialogue", tuple(self.history))

    def summary_of_last_reply(self) -> Request | None:
        """The request for the summary after the last reply; None after a failure."""
        done = len(self.replies)
        if self.failed or not done or done in self.summaries:
            return None
        asked = Message("user", self.probe or prompts.PROBE)
        return Request(self.case.id, self.repeat, done, "summary", (*self.history, asked))

    def take(self, request: Request, reply: Reply) -> None:
        """Record an answer; a failed one ends the conversation."""
        self.failed = self.failed or reply.error is not None
        if request.purpose == "summary":
            self.summaries[request.turn] = reply
            return
        visible, cleaned = clean_repetition(strip_reasoning(reply.text))
        self.replies.append(reply)
        self.cleaned.append(cleaned)
        self.history.append(Message("assistant", visible))

    def transcript(self) -> Transcript:
        never_asked = Reply("", error="not asked for")
        exchanges = tuple(
            Exchange(
                turn=number,
                message=self.case.turns[number - 1].message,
                reply=reply,
                summary=self.summaries.get(number, never_asked),
                cleaned=self.cleaned[number - 1],
            )
            for number, reply in enumerate(self.replies, start=1)
        )
        return Transcript(self.case.id, exchanges, self.repeat, incomplete=first_error(exchanges))


_LONGEST_REPLY = 200_000
"""Characters: a model that never stops is not read to its end, turn after turn."""


def without_lost_answer(reply: Reply) -> Reply:
    """A reply that was cut off inside its reasoning, or does not end, never answered: an outage, not forgetting."""
    if max(len(reply.text), len(reply.reasoning)) > _LONGEST_REPLY:
        told = f"the reply has {max(len(reply.text), len(reply.reasoning)):,} characters"
        return Reply("", error=f"{told}, and not more than {_LONGEST_REPLY:,} are read; set max_tokens")
    if reply.error is None and reply.truncated is not False and never_left_reasoning(reply.text):
        return replace(reply, text="", error=NO_ANSWER)
    return reply
