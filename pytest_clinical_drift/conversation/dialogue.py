"""One conversation in progress: what to ask next, and what was answered so far."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.summary_turns import probes_of
from pytest_clinical_drift.conversation import prompts
from pytest_clinical_drift.conversation.hygiene import clean_repetition, never_left_reasoning, strip_reasoning
from pytest_clinical_drift.conversation.prompts import RecordPlace
from pytest_clinical_drift.errors import FailureCode, failure
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.subjects.budget import Budget
from pytest_clinical_drift.transcript import Exchange, Message, Purpose, Reply, Transcript, first_failure


@dataclass(frozen=True, slots=True)
class Plan:
    """How every conversation of a run is held."""

    system_prompt: str | None = None
    """The deployed system prompt, part of the tested item."""
    repeats: int = 1
    probe: str | None = None
    """The project's own request for a summary; None: the bundled one."""
    probe_every_turn: bool = False
    """Request a summary after every turn, not only on the schedule."""
    single_message: bool = False
    """Request one more summary at the end, of the whole transcript in one message."""
    record: RecordPlace = "first-message"
    """Where the model gets the patient's record."""
    budget: Budget | None = None
    """What the run may take at most."""

    def requests(self, case: Case) -> int:
        """How many requests the conversations on a case make."""
        probed = len(probes_of(case, self.probe_every_turn).turns)
        return (len(case.turns) + probed + self.single_message) * self.repeats


@dataclass(slots=True)
class Dialogue:
    """The replies enter the history; a summary branches off after a probed turn and never does."""

    case: Case
    repeat: int
    plan: Plan = Plan()
    history: list[Message] = field(init=False)
    replies: list[Reply] = field(init=False, default_factory=list)
    summaries: dict[int, Reply] = field(init=False, default_factory=dict)
    single: Reply | None = field(init=False, default=None)
    cleaned: list[bool] = field(init=False, default_factory=list)
    failed: bool = field(init=False, default=False)
    """A reply could not be had: nothing more is asked."""
    _probed: Collection[int] = field(init=False)
    """Turns after which a summary is requested."""
    _requested: set[tuple[Purpose, int]] = field(init=False, default_factory=set)
    """What has been asked for: nothing is twice."""

    def __post_init__(self) -> None:
        system = prompts.system_message(self.plan.system_prompt, self.case.patient_summary, self.plan.record)
        self.history = [Message("system", system)] if system else []
        self._probed = frozenset(probes_of(self.case, self.plan.probe_every_turn).turns)

    def next_reply(self) -> Request | None:
        """The request for the next turn's reply; None while one is awaited, and when there is no next turn."""
        done = len(self.replies)
        if self.failed or done == len(self.case.turns) or ("dialogue", done + 1) in self._requested:
            return None
        turn = self.case.turns[done]
        opens = done == 0 and self.plan.record == "first-message"
        content = prompts.opening(self.case.patient_summary, turn.message) if opens else turn.message
        self.history.append(Message("user", content))
        return self._request(done + 1, "dialogue", tuple(self.history))

    def summary_of_last_reply(self) -> Request | None:
        """The request for the summary after the last reply; None where none is scheduled, and after a failure."""
        done = len(self.replies)
        if self.failed or done not in self._probed or ("summary", done) in self._requested:
            return None
        asked = Message("user", self._wording)
        return self._request(done, "summary", (*self.history, asked))

    def single_message(self) -> Request | None:
        """After the last reply, the request for a summary of the whole transcript in one message."""
        done = len(self.replies)
        if not self.plan.single_message or self.failed or done < len(self.case.turns):
            return None
        if ("single", done) in self._requested:
            return None
        system = [message for message in self.history if message.role == "system"]
        whole = prompts.whole_transcript(self.case.patient_summary, self._said(), self._wording, self.plan.record)
        return self._request(done, "single", (*system, Message("user", whole)))

    def take(self, request: Request, reply: Reply) -> None:
        """Record an answer; a failed one ends the conversation."""
        self.failed = self.failed or reply.error is not None
        if request.purpose == "summary":
            self.summaries[request.turn] = reply
            return
        if request.purpose == "single":
            self.single = reply
            return
        visible, cleaned = clean_repetition(strip_reasoning(reply.text))
        self.replies.append(reply)
        self.cleaned.append(cleaned)
        self.history.append(Message("assistant", visible))

    def transcript(self) -> Transcript:
        not_scheduled, never_asked = Reply("", asked=False), Reply("", error=failure(FailureCode.NOT_REQUESTED))
        exchanges = tuple(
            Exchange(
                turn=number,
                message=self.case.turns[number - 1].message,
                reply=reply,
                summary=self.summaries.get(number, never_asked if number in self._probed else not_scheduled),
                cleaned=self.cleaned[number - 1],
            )
            for number, reply in enumerate(self.replies, start=1)
        )
        unfinished = first_failure(exchanges)
        if unfinished is None and self.single is not None and self.single.error is not None:
            unfinished = replace(self.single.error, part="single")
        return Transcript(self.case.id, exchanges, self.repeat, unfinished, self.single)

    @property
    def _wording(self) -> str:
        return self.plan.probe or prompts.PROBE

    def _said(self) -> list[tuple[str, str]]:
        """Message and visible reply of every turn, as they stand in the history."""
        spoken = [message.content for message in self.history if message.role == "assistant"]
        return [(turn.message, reply) for turn, reply in zip(self.case.turns, spoken, strict=True)]

    def _request(self, turn: int, purpose: Purpose, messages: tuple[Message, ...]) -> Request:
        self._requested.add((purpose, turn))
        record = self.case.patient_summary if self.plan.record == "context" else None
        request = Request(self.case.id, self.repeat, turn, purpose, messages, record=record)
        return replace(request, refusal=self.plan.budget.refusal) if self.plan.budget is not None else request


_LONGEST_REPLY = 200_000
"""Characters: a model that never stops is not read to its end, turn after turn."""


def without_lost_answer(reply: Reply) -> Reply:
    """A reply that was cut off inside its reasoning, or does not end, never answered: an outage, not forgetting."""
    if (size := max(len(reply.text), len(reply.reasoning))) > _LONGEST_REPLY:
        return Reply("", error=failure(FailureCode.ENDLESS, characters=size, most=_LONGEST_REPLY))
    if reply.error is None and reply.truncated is not False and never_left_reasoning(reply.text):
        return replace(reply, text="", error=failure(FailureCode.TOKEN_LIMIT))
    return reply
