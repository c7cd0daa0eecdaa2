"""One conversation: what is requested, where the record goes, and what the transcript says of it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import probed_turns
from pytest_clinical_drift.conversation.dialogue import PROBE, Dialogue, Plan
from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.conversation.scheduler import run_conversations
from pytest_clinical_drift.conversation.store import Store
from pytest_clinical_drift.errors import FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import Identity, Request
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.transcript import Reply, Transcript, write_transcript


def long_case(turns: int = 45) -> Case:
    told = [{"turn": n, "message": f"Message {n}."} for n in range(1, turns + 1)]
    told[32]["updates"] = [{"fact": "dose", "becomes": "metformin 850 mg"}] if turns > 33 else []
    facts = [{"id": "dose", "text": "metformin 500 mg"}]
    return Case.model_validate({"id": "long", "patient_summary": "INTAKE", "critical_entities": facts, "turns": told})


class Recorder:
    """Answers with what it was asked for, and keeps every request."""

    spec = "test:recorder"

    def __init__(self, fails_at: tuple[str, int] | None = None) -> None:
        self.requests: list[Request] = []
        self.fails_at = fails_at

    def check(self, cases: object) -> list[str]:
        return []

    def identity(self) -> Identity:
        return Identity(self.spec, "r1", proven=True, settings={})

    def close(self) -> None:
        pass

    def respond(self, request: Request) -> Reply:
        self.requests.append(request)
        failed = (request.purpose, request.turn) == self.fails_at
        if failed:
            return Reply("", error=failure(FailureCode.RAISED, error="down"))
        return Reply(f"{request.purpose} {request.turn}")


def hold(plan: Plan, subject: Recorder | ReplaySubject | None = None, **more: object) -> tuple[Transcript, Recorder]:
    asked = subject or Recorder()
    finished: list[Transcript] = []
    run_conversations([long_case()], asked, plan, on_finished=finished.append, **more)  # type: ignore[arg-type]
    return finished[0], asked  # type: ignore[return-value]


def test_summaries_are_requested_at_probed_turns_only() -> None:
    """Elsewhere nothing was asked and nothing is missing."""
    transcript, subject = hold(Plan())
    probed = probed_turns(long_case())
    assert [r.turn for r in subject.requests if r.purpose == "summary"] == list(probed)
    assert [e.turn for e in transcript.exchanges if e.has_summary] == list(probed)
    assert all(e.summary == Reply("", asked=False) for e in transcript.exchanges if e.turn not in probed)
    assert transcript.failure is None
    assert transcript.exchanges[-1].has_summary


def test_every_turn_on_request() -> None:
    """`drift_summary_turns = all`."""
    transcript, _ = hold(Plan(probe_every_turn=True))
    assert all(exchange.has_summary for exchange in transcript.exchanges)


def test_the_progress_counts_what_is_requested() -> None:
    """All turns and all replies of the plan, no more."""
    progress, plan = Progress(), Plan(single_message=True)
    hold(plan, progress=progress)
    assert progress.text().startswith(f"1/1 cases, 45/45 turns, {45 + 26 + 1}/{45 + 26 + 1} replies")


def test_a_transcript_is_replayed_whole(tmp_path: Path) -> None:
    """Turns without a probe have no line, and the replay of it is complete and the same."""
    transcript, _ = hold(Plan(single_message=True))
    file = write_transcript(transcript, tmp_path)
    assert len(file.read_text().splitlines()) == 45 + 26 + 1
    subject = ReplaySubject(str(tmp_path), {})
    assert subject.check([long_case()]) == []
    assert hold(Plan(single_message=True), subject)[0] == transcript


def test_a_recording_that_lacks_a_scheduled_summary_is_not_whole(tmp_path: Path) -> None:
    """Turn 40 is on the schedule, turn 41 is not."""
    file = write_transcript(hold(Plan(probe_every_turn=True))[0], tmp_path)
    lines = file.read_text().splitlines()

    def without(turn: int) -> None:
        kept = [line for line in lines if f'"turn_num": {turn}, "variant": "summary"' not in line]
        assert len(kept) == len(lines) - 1
        file.write_text("\n".join(kept))

    without(41)
    assert ReplaySubject(str(tmp_path), {}).check([long_case()]) == []
    without(40)
    with pytest.raises(InputError, match="no summary for turn 40 of 45"):
        ReplaySubject(str(tmp_path), {}).check([long_case()])


def test_a_recording_of_other_messages_is_refused(tmp_path: Path) -> None:
    """A stretched run's replies answer other messages than the case's own."""
    write_transcript(hold(Plan())[0], tmp_path)
    turns = [turn.model_copy(update={"message": "Other."}) if turn.turn == 7 else turn for turn in long_case().turns]
    other = long_case().model_copy(update={"turns": tuple(turns)})
    with pytest.raises(InputError, match="turn 7: the recording holds another message"):
        ReplaySubject(str(tmp_path), {}).check([other])


def test_a_replay_without_the_single_message_says_so(tmp_path: Path) -> None:
    """What was not recorded cannot be asked: incomplete, with the option that would have recorded it."""
    write_transcript(hold(Plan())[0], tmp_path)
    transcript, _ = hold(Plan(single_message=True), ReplaySubject(str(tmp_path), {}))
    assert "--drift-single-message" in str(transcript.failure)


def test_the_store_serves_a_second_run(tmp_path: Path) -> None:
    """Nothing is asked twice, whatever the schedule."""
    store = Store(tmp_path / "store.sqlite")
    first, _ = hold(Plan(single_message=True), store=store.begin(Recorder().identity()))
    again, not_asked = hold(Plan(single_message=True), store=store.begin(Recorder().identity()))
    assert not_asked.requests == []
    assert [reply.text for reply in again.replies] == [reply.text for reply in first.replies]
    _, more = hold(Plan(probe_every_turn=True), store=store.begin(Recorder().identity()))
    assert len(more.requests) == 45 - 26


def test_an_outage_ends_the_conversation() -> None:
    """A failed reply leaves no summary of its turn; a failed single message is the case's cause too."""
    transcript, _ = hold(Plan(), Recorder(fails_at=("dialogue", 22)))
    assert str(transcript.failure) == "turn 22, reply: down"
    assert len(transcript.exchanges) == 22
    transcript, _ = hold(Plan(single_message=True), Recorder(fails_at=("single", 45)))
    assert str(transcript.failure) == "the transcript in one message: down"


def test_the_single_message_holds_everything() -> None:
    """Record, messages, replies and the request, in one user message after the system prompt."""
    _, subject = hold(Plan("Be kind.", single_message=True))
    (single,) = [request for request in subject.requests if request.purpose == "single"]
    assert [message.role for message in single.messages] == ["system", "user"]
    text = single.messages[1].content
    places = [text.index(part) for part in ("INTAKE", "Message 1.", "dialogue 1", "Message 45.", "dialogue 45")]
    assert places == sorted(places)
    assert text.endswith(PROBE)
    assert "summary" not in text.replace(PROBE, "")


def requested(plan: Plan) -> Request:
    request = Dialogue(long_case(), 0, plan).next_request()
    assert request is not None
    return request


def test_the_record_goes_where_it_is_wanted() -> None:
    """Into the first message, behind the system prompt, or beside the messages only."""
    first = requested(Plan("Be kind."))
    assert [message.role for message in first.messages] == ["system", "user"]
    assert "INTAKE" in first.messages[1].content
    system = requested(Plan("Be kind.", record="system"))
    assert "Be kind." in system.messages[0].content
    assert "INTAKE" in system.messages[0].content
    assert system.messages[1].content == "Message 1."
    beside = requested(Plan(record="context"))
    assert [message.content for message in beside.messages] == ["Message 1."]
    assert beside.record == "INTAKE"


def test_two_patients_with_the_same_words_do_not_share_a_reply_given_beside(tmp_path: Path) -> None:
    """The record is part of what a stored reply depends on."""
    mine, other = long_case(), long_case().model_copy(update={"id": "other", "patient_summary": "OTHER"})
    subject = Recorder()
    stored = Store(tmp_path / "store.sqlite").begin(subject.identity())
    run_conversations([mine, other], subject, Plan(record="context"), on_finished=lambda _: None, store=stored)
    assert len([request for request in subject.requests if request.turn == 1]) == 4


def test_memory_grows_with_what_was_said_and_not_with_its_square() -> None:
    """Four times the turns need at most about four times the memory, however long every single prompt is."""

    def peak(turns: int) -> int:
        finished: list[Transcript] = []
        tracemalloc.start()
        run_conversations([long_case(turns)], Forgetting(), Plan(), on_finished=finished.append)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(40)
    assert peak(320) < 5 * peak(80)


class Forgetting(Recorder):
    """Keeps no request."""

    def respond(self, request: Request) -> Reply:
        return Reply(f"{request.purpose} {request.turn} " * 50)
