"""The scheduler: what is asked beside what, what a failure ends, and how fast a stop takes effect."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from engine_cases import make_cases
from engine_server import ChatServer, wait_until

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.dialogue import PROBE
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.conversation.store import Store
from pytest_clinical_drift.errors import Failure, FailureCode, failure
from pytest_clinical_drift.subjects.base import Identity, Request, RunStopped
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.transcript import Reply, Transcript


class Echo:
    """Answers with the words of its request; remembers what it was asked."""

    spec = "echo"

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def check(self, cases: Sequence[Case]) -> list[str]:
        return []

    def identity(self) -> Identity:
        return Identity(self.spec, None, False, {})

    def respond(self, request: Request) -> Reply:
        self.asked.append(request)
        return self.reply_to(request)

    def reply_to(self, request: Request) -> Reply:
        return Reply(f"{request.purpose} {request.turn} of {request.case_id}: {len(request.messages)} messages")

    def close(self) -> None:
        pass


class ConcurrentEcho(Echo):
    """Takes many requests at once, each for a while."""

    slots: int | None = None

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__()
        self.delay = delay
        self.in_flight: list[set[tuple[str, int]]] = []
        self._now: set[tuple[str, int]] = set()

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request)
        mark = (request.purpose, request.turn)
        self._now.add(mark)
        self.in_flight.append(set(self._now))
        await asyncio.sleep(self.delay)
        self._now.discard(mark)
        return self.reply_to(request)

    async def disconnect(self) -> None:
        pass


class BatchedEcho(Echo):
    """Answers batch after batch; what a reply makes possible goes into the next one."""

    batch_size = 2

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[tuple[str, str, int]]] = []
        self.cancelled = threading.Event()

    def answer(self, requests: Sequence[Request], deliver: Callable[[Request, Reply], Sequence[Request]]) -> None:
        batch = list(requests)
        while batch:
            self.batches.append([(request.case_id, request.purpose, request.turn) for request in batch])
            self.asked += batch
            following: list[Request] = []
            for request in batch:
                if self.cancelled.is_set():
                    raise RunStopped("stopped")
                following += deliver(request, self.reply_to(request))
            batch = following

    def cancel(self) -> None:
        self.cancelled.set()


def run(subject: Echo | ServerSubject, cases: Sequence[Case], plan: Plan = Plan()) -> dict[str, Transcript]:  # noqa: B008  # frozen
    done: dict[str, Transcript] = {}
    run_conversations(cases, subject, plan, on_finished=lambda t: done.update({f"{t.case_id}/{t.repeat}": t}))
    return done


def twins(turns: int = 3) -> list[Case]:
    """Two cases that say the same at the first turn and something else from the second on."""
    first, other = make_cases(2, turns)
    messages = (first.turns[0], *other.turns[1:])
    return [first, other.model_copy(update={"patient_summary": first.patient_summary, "turns": messages})]


def run_stored(subject: Echo, cases: Sequence[Case], plan: Plan, path: Path) -> dict[str, Transcript]:
    stored, done = Store(path).begin(Identity("echo", None, False, {})), dict[str, Transcript]()
    run_conversations(
        cases, subject, plan, on_finished=lambda t: done.update({f"{t.case_id}/{t.repeat}": t}), store=stored
    )
    stored.end(finished=True)
    return done


def texts(transcripts: dict[str, Transcript]) -> dict[str, list[tuple[str, str]]]:
    return {
        name: [
            (exchange.reply.text if exchange.reply else "", exchange.summary.text) for exchange in transcript.exchanges
        ]
        for name, transcript in transcripts.items()
    }


def test_all_three_ways_of_running_say_the_same() -> None:
    """One by one, in batches and concurrently: the same requests, the same transcripts."""
    cases, plan = make_cases(5), Plan("You are a nurse.", repeats=2)
    subjects = [Echo(), BatchedEcho(), ConcurrentEcho()]
    results = [run(subject, cases, plan) for subject in subjects]
    assert texts(results[0]) == texts(results[1]) == texts(results[2])
    assert len(results[0]) == 10
    asked = [{(r.case_id, r.repeat, r.turn, r.purpose, r.messages) for r in subject.asked} for subject in subjects]
    assert asked[0] == asked[1] == asked[2]
    assert len(asked[0]) == 5 * 2 * 3 * 2


def test_the_summary_branches_off_and_never_enters_the_history() -> None:
    """Turn 2 sees system, intake, reply 1 and message 2; the probe of turn 1 sees the first three and itself."""
    subject = Echo()
    run(subject, make_cases(1), Plan("You are a nurse."))
    by_kind = {(request.purpose, request.turn): request.messages for request in subject.asked}
    assert [message.role for message in by_kind["dialogue", 2]] == ["system", "user", "assistant", "user"]
    assert [message.role for message in by_kind["summary", 1]] == ["system", "user", "assistant", "user"]
    assert by_kind["summary", 1][-1].content == PROBE
    assert by_kind["dialogue", 2][:3] == by_kind["summary", 1][:3]
    assert all(message.content != PROBE for message in by_kind["dialogue", 3])


def test_the_summary_of_a_turn_runs_beside_the_reply_of_the_next() -> None:
    """A conversation of three turns takes four request times, not six."""
    subject = ConcurrentEcho(delay=0.1)
    run(subject, make_cases(1))
    assert {("dialogue", 2), ("summary", 1)} in subject.in_flight
    assert {("dialogue", 3), ("summary", 2)} in subject.in_flight


def test_a_server_with_slots_gets_one_request_of_as_many_conversations() -> None:
    """A conversation that stays in its slot is not read again from its beginning."""
    subject = ConcurrentEcho(delay=0.01)
    subject.slots = 2
    done = run(subject, make_cases(5))
    assert texts(done) == texts(run(Echo(), make_cases(5)))
    first = [(request.purpose, request.turn) for request in subject.asked if request.case_id == "case-001"]
    assert first == [(purpose, turn) for turn in (1, 2, 3) for purpose in ("dialogue", "summary")]
    assert all(len(together) <= 2 for together in subject.in_flight)
    assert [request.case_id for request in subject.asked[:2]] == ["case-001", "case-002"]
    assert {request.case_id for request in subject.asked[:12]} == {"case-001", "case-002"}


def test_batches_hold_summary_and_next_reply_together() -> None:
    """Two conversations at a time: the first batch opens both, the next ones hold two requests of each."""
    subject = BatchedEcho()
    run(subject, make_cases(2))
    assert [len(batch) for batch in subject.batches] == [2, 4, 4, 2]
    assert subject.batches[1] == [
        ("case-001", "summary", 1),
        ("case-001", "dialogue", 2),
        ("case-002", "summary", 1),
        ("case-002", "dialogue", 2),
    ]


def test_a_finished_conversation_makes_place_for_the_next() -> None:
    """Never more than two at a time; the third begins when the first is over, in the batch that follows."""
    subject = BatchedEcho()
    done = run(subject, make_cases(5))
    assert len(done) == 5
    assert all(len({case for case, _, _ in batch}) <= 2 for batch in subject.batches)
    assert subject.batches[4][0] == ("case-003", "dialogue", 1)


def test_hundreds_of_stored_conversations_need_no_deep_stack(tmp_path: Path) -> None:
    """A run whose replies are all stored goes through without asking anything."""
    cases = make_cases(400, turns=2)
    for asked in (400 * 4, 0):
        subject = BatchedEcho()
        stored = Store(tmp_path / "store.sqlite").begin(Identity("echo", "r1", True, {}))
        done: list[Transcript] = []
        run_conversations(cases, subject, Plan(), on_finished=done.append, store=stored)
        stored.end(finished=True)
        assert (len(done), len(subject.asked)) == (400, asked)


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("kind", ["one by one", "batched", "concurrent"])
def test_the_same_messages_are_asked_once(kind: str, repeats: int, tmp_path: Path) -> None:
    """Reply and summary of the shared turn serve both cases; they are new, not reused; each repeat asks for itself."""
    subject = {"one by one": Echo, "batched": BatchedEcho, "concurrent": lambda: ConcurrentEcho(0.01)}[kind]()
    done = run_stored(subject, twins(), Plan(repeats=repeats), tmp_path / "store.sqlite")
    questions = [(request.repeat, request.messages) for request in subject.asked]
    assert len(questions) == len(set(questions)) == (12 - 2) * repeats
    assert len(done) == 2 * repeats
    assert all(len(transcript.exchanges) == 3 for transcript in done.values())
    for repeat in range(repeats):
        first, other = (done[f"case-00{number}/{repeat}"].exchanges for number in (1, 2))
        assert (first[0].reply, first[0].summary) == (other[0].reply, other[0].summary)
        assert first[1].reply != other[1].reply
    replies = [reply for t in done.values() for e in t.exchanges for reply in (e.reply, e.summary)]
    assert all(reply is not None and reply.reused_from is None for reply in replies)


@pytest.mark.parametrize("subject", [BatchedEcho(), ConcurrentEcho(0.01)])
def test_whoever_shares_a_question_shares_its_failure(subject: Echo, tmp_path: Path) -> None:
    """Asking once more right after bounded retries would only double the wait."""
    subject.reply_to = lambda request: Reply("", error=failure(FailureCode.RAISED, error="down"))  # type: ignore[method-assign]
    done = run_stored(subject, twins(), Plan(), tmp_path / "store.sqlite")
    assert [str(done[f"case-00{number}/0"].failure) for number in (1, 2)] == ["turn 1, reply: down"] * 2
    assert len(subject.asked) == 1


@pytest.mark.parametrize("kind", [Echo, BatchedEcho, ConcurrentEcho])
def test_nothing_is_shared_where_replies_are_not_kept(kind: type[Echo]) -> None:
    """A recording answers by case, not by what is said."""
    subject = kind()
    done = run(subject, twins())
    assert len(subject.asked) == 12
    assert "of case-002" in texts(done)["case-002/0"][0][0]


@pytest.mark.parametrize("purpose", ["dialogue", "summary"])
def test_a_failure_in_a_batch_ends_its_case_and_no_other(purpose: str) -> None:
    """Whichever of the two requests fails at turn 2, the case is over and the others go on."""

    class Breaking(BatchedEcho):
        def reply_to(self, request: Request) -> Reply:
            if (request.case_id, request.turn, request.purpose) == ("case-001", 2, purpose):
                return Reply("", error=failure(FailureCode.OUT_OF_MEMORY))
            return super().reply_to(request)

    done = run(Breaking(), make_cases(3))
    assert "out of memory" in str(done["case-001/0"].failure)
    assert [done[f"case-00{n}/0"].failure for n in (2, 3)] == [None, None]


def test_a_failed_reply_ends_its_case_and_no_other() -> None:
    """The cause stands in the transcript; later turns are not asked for."""

    class Breaking(ConcurrentEcho):
        def reply_to(self, request: Request) -> Reply:
            if (request.case_id, request.turn, request.purpose) == ("case-001", 2, "dialogue"):
                return Reply("", error=failure(FailureCode.OUT_OF_MEMORY))
            return super().reply_to(request)

    subject = Breaking()
    done = run(subject, make_cases(2))
    assert done["case-001/0"].failure == Failure(FailureCode.OUT_OF_MEMORY, turn=2, part="reply")
    assert done["case-002/0"].failure is None
    assert not any(request.case_id == "case-001" and request.turn == 3 for request in subject.asked)


def test_a_reply_cut_off_inside_its_reasoning_is_an_outage() -> None:
    """It never answered; that says nothing about memory."""

    class Thinking(Echo):
        def reply_to(self, request: Request) -> Reply:
            return Reply("<think>Let me see", truncated=True)

    done = run(Thinking(), make_cases(1))
    assert "inside its reasoning" in str(done["case-001/0"].failure)


def test_reasoning_is_kept_in_the_transcript_and_out_of_the_history() -> None:
    """What was thought is raw text of the reply; the next request does not show it."""

    class Thinking(Echo):
        def reply_to(self, request: Request) -> Reply:
            return Reply("<think>hidden</think>Visible words.")

    subject = Thinking()
    done = run(subject, make_cases(1))
    first = done["case-001/0"].exchanges[0].reply
    assert first is not None
    assert "hidden" in first.text
    assert all("hidden" not in message.content for request in subject.asked for message in request.messages)


def test_a_stop_takes_effect_in_the_middle_of_a_request() -> None:
    """Requests in flight are given up; nothing is reported as finished."""
    subject, done = ConcurrentEcho(delay=30), []
    stopping = threading.Event()
    thread = threading.Thread(
        target=run_conversations,
        args=(make_cases(3), subject, Plan()),
        kwargs={"on_finished": done.append, "stop": stopping.is_set},
    )
    thread.start()
    assert wait_until(lambda: len(subject.asked) == 3)
    stopping.set()
    thread.join(2)
    assert not thread.is_alive()
    assert done == []


def test_a_cancelled_batch_reports_nothing_as_finished() -> None:
    """RunStopped ends the run quietly."""
    subject = BatchedEcho()
    subject.cancel()
    assert run(subject, make_cases(2)) == {}


def test_one_by_one_goes_case_by_case() -> None:
    """The first case is finished before the second begins: its test need not wait for all."""
    subject = Echo()
    run(subject, make_cases(2, turns=2))
    assert [request.case_id for request in subject.asked] == ["case-001"] * 4 + ["case-002"] * 4


def test_many_cases_share_the_places_of_a_server_turn_by_turn() -> None:
    """With four places and twelve cases, every case has its first reply before any has its third."""
    with ChatServer(delay=0.01) as server:
        seen: list[int] = []
        server.answer = lambda body: seen.append(sum(m["role"] == "assistant" for m in body["messages"]))
        done = run(ServerSubject(f"m@{server.url}", {"concurrency": "4"}), make_cases(12))
    assert len(done) == 12
    # a first reply is asked without any assistant message, the third with two
    assert max(i for i, n in enumerate(seen) if n == 0) < min(i for i, n in enumerate(seen) if n == 2)
    assert server.most_at_once <= 4
