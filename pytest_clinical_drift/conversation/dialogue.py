"""One conversation in progress: every word that we say to a model, what to ask next, and what was answered so far."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import probed_turns
from pytest_clinical_drift.conversation.hygiene import clean_repetition, never_left_reasoning, strip_reasoning
from pytest_clinical_drift.errors import FailureCode, failure
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.subjects.limits import Budget
from pytest_clinical_drift.transcript import Exchange, Message, Purpose, Reply, Role, Transcript

VERSION = "1"

RecordPlace = Literal["first-message", "system", "context"]
"""Where a model gets the patient's record; context: not in the messages, only beside them."""
RECORD_PLACES: tuple[str, ...] = get_args(RecordPlace)

INTAKE = "Background from the patient's record, for this conversation:"
PATIENT = "The patient now writes:"
PROBE = (
    "Pause the conversation and write a handover summary of this patient for a colleague who takes over now. "
    "Cover diagnoses, current medicines with dose and timing, allergies and reactions, relevant negatives, key "
    "measurements, social and safety circumstances, and anything that changed during the conversation. "
    "State only what the record and the conversation support."
)
TRANSCRIPT = "The whole conversation with the patient so far:"


def prompt_hash(probe: str | None = None, record: RecordPlace = "first-message") -> str:
    """Fingerprint of all prompts, for the manifest and the store; a record in another place is another prompt."""
    parts = (VERSION, INTAKE, PATIENT, probe or PROBE, *([] if record == "first-message" else [record]))
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


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
        probed = len(probed_turns(case, self.probe_every_turn))
        return (len(case.turns) + probed + self.single_message) * self.repeats


@dataclass(slots=True)
class Dialogue:
    """The replies enter the history; a summary branches off after a probed turn and never does."""

    case: Case
    repeat: int
    plan: Plan = Plan()
    history: list[Message] = field(init=False)
    exchanges: list[Exchange] = field(init=False, default_factory=list)
    single: Reply | None = field(init=False, default=None)
    failed: bool = field(init=False, default=False)
    """A reply could not be had: nothing more is asked."""
    awaited: int = field(init=False, default=0)
    """Requests whose answers have not been taken."""
    _probed: Collection[int] = field(init=False)
    """Turns after which a summary is requested."""
    _requested: set[tuple[Purpose, int]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        intake = self._intake if self.plan.record == "system" else ""
        system = "\n\n".join(filter(None, (self.plan.system_prompt, intake)))
        self.history = [Message(Role.SYSTEM, system)] if system else []
        self._probed = frozenset(probed_turns(self.case, self.plan.probe_every_turn))

    def next_request(self) -> Request | None:
        """The summary after the last reply, then the next reply; after the last turn the whole transcript at once.

        None while an answer has to be awaited first, when everything was asked for, and after a failure.
        """
        done = len(self.exchanges)
        due: list[tuple[Purpose, int]] = [(Purpose.SUMMARY, done)] if done in self._probed else []
        if done < len(self.case.turns):
            due.append((Purpose.DIALOGUE, done + 1))
        elif self.plan.single_message:
            due.append((Purpose.SINGLE, done))
        wanted = next((each for each in due if each not in self._requested), None)
        if wanted is None or self.failed:
            return None
        self._requested.add(wanted)
        self.awaited += 1
        purpose, turn = wanted
        record = self.case.patient_summary if self.plan.record == "context" else None
        request = Request(self.case.id, self.repeat, turn, purpose, self._messages(purpose, turn), record)
        return replace(request, refusal=self.plan.budget.refusal) if self.plan.budget is not None else request

    @property
    def _intake(self) -> str:
        return f"{INTAKE}\n\n{self.case.patient_summary}"

    def _messages(self, purpose: Purpose, turn: int) -> tuple[Message, ...]:
        wording = self.plan.probe or PROBE
        if purpose == Purpose.DIALOGUE:
            message = self.case.turns[turn - 1].message
            opens = turn == 1 and self.plan.record == "first-message"
            content = "\n\n".join((self._intake, PATIENT, message)) if opens else message
            self.history.append(Message(Role.USER, content))
            return tuple(self.history)
        if purpose == Purpose.SUMMARY:
            return (*self.history, Message(Role.USER, wording))
        system = [message for message in self.history if message.role == Role.SYSTEM]
        visible = [message.content for message in self.history if message.role == Role.ASSISTANT]
        said = [
            f"Patient: {turn.message}\n\nAssistant: {reply}"
            for turn, reply in zip(self.case.turns, visible, strict=True)
        ]
        intake = [self._intake] if self.plan.record == "first-message" else []
        return (*system, Message(Role.USER, "\n\n".join((*intake, TRANSCRIPT, *said, wording))))

    def take(self, request: Request, reply: Reply) -> None:
        """Record an answer; a failed one ends the conversation."""
        self.awaited -= 1
        self.failed = self.failed or reply.error is not None
        if request.purpose == Purpose.SUMMARY:
            self.exchanges[request.turn - 1] = replace(self.exchanges[request.turn - 1], summary=reply)
        elif request.purpose == Purpose.SINGLE:
            self.single = reply
        else:
            visible, cleaned = clean_repetition(strip_reasoning(reply.text))
            self.history.append(Message(Role.ASSISTANT, visible))
            message = self.case.turns[request.turn - 1].message
            summary = _NOT_ASKED_YET if request.turn in self._probed else Reply("", asked=False)
            self.exchanges.append(Exchange(request.turn, message, reply, summary, cleaned))

    def transcript(self) -> Transcript:
        parts = [part for e in self.exchanges for part in ((e.reply, e.turn, "reply"), (e.summary, e.turn, "summary"))]
        single = [(self.single, None, "single")] if self.single is not None else []
        failures = (
            replace(reply.error, turn=turn, part=part) for reply, turn, part in (*parts, *single) if reply.error
        )
        return Transcript(self.case.id, tuple(self.exchanges), self.repeat, next(failures, None), self.single)


_NOT_ASKED_YET = Reply("", error=failure(FailureCode.NOT_REQUESTED))
_LONGEST_REPLY = 200_000
"""Characters: a model that never stops is not read to its end, turn after turn."""


def without_lost_answer(reply: Reply) -> Reply:
    """A reply that was cut off inside its reasoning, or does not end, never answered: an outage, not forgetting."""
    if (size := max(len(reply.text), len(reply.reasoning))) > _LONGEST_REPLY:
        return Reply("", error=failure(FailureCode.ENDLESS, characters=size, most=_LONGEST_REPLY))
    if reply.error is None and reply.truncated is not False and never_left_reasoning(reply.text):
        return replace(reply, text="", error=failure(FailureCode.TOKEN_LIMIT))
    return reply
