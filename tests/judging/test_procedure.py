"""A whole conversation through the procedure: what is asked, in which order, and what becomes of each point."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asked import ScriptedJudge, clear, question, run
from found import key
from test_due import case

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.core.findings import FindingKey
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import Kind, Seat, State, Why
from pytest_clinical_drift.errors import FailureCode, failure
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.chat import interview
from pytest_clinical_drift.judging.due import audit_rates
from pytest_clinical_drift.judging.opinions import audit_count
from pytest_clinical_drift.judging.procedure import (
    Asker,
    ConversationJudgement,
    Judges,
    Texts,
    judge_conversation,
    read_all,
)
from pytest_clinical_drift.judging.protocol import Feed, JudgeRequest
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import OFFLINE, Count, JudgeQueue
from pytest_clinical_drift.judging.readings import Reading, readings_of, windows_of
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript

CASE = case(extra={3: {"expect": {"must": ["ring the clinic"], "must_not": ["take ibuprofen"]}}})
JUDGES = Judges("scripted", "scripted")


def transcript() -> Transcript:
    summary = "Penicillin allergy with anaphylaxis. Metformin 500 mg twice daily."
    return Transcript(
        CASE.id, tuple(Exchange(n, f"message {n}", Reply(f"Reply number {n}."), Reply(summary)) for n in range(1, 13))
    )


def judge(script: Any = None, judges: Judges = JUDGES, **options: Any) -> tuple[ConversationJudgement, ScriptedJudge]:
    judge = ScriptedJudge(script) if script else ScriptedJudge()
    return run(lambda asker: judge_conversation(asker, texts(**options), {}, judges), judge), judge


def texts(of: Case = CASE, *, windows: Sequence[Reading] | None = None, **options: Any) -> Texts:
    """What is read of the conversation."""
    talk = transcript()
    return Texts(of, 0, readings_of(of, talk), windows_of(of, talk) if windows is None else windows, **options)


def judged(asker: Asker, of: Texts | None = None, judges: Judges = JUDGES) -> Any:
    return judge_conversation(asker, of or texts(), {}, judges)


def test_a_clean_conversation_takes_one_reading_per_text_and_the_hard_stop_twice() -> None:
    """12 summaries, 12 replies, 1 conversation; the hard stop at turns 10 and 12."""
    found, asked = judge()
    kinds = [kind for kind, _ in asked.asked]
    assert (kinds.count("summary"), kinds.count("reply"), kinds.count("conversation"), kinds.count("fact")) == (
        12,
        12,
        1,
        2,
    )
    assert len(kinds) == found.requests == 27
    assert {finding.state for finding in found.findings.values()} == {State.CLEARED}
    assert found.care == dict.fromkeys(range(1, 13), "self")


def _lost(item: Question | Reading, wording: int) -> dict[str, Any]:
    """Metformin is absent from turn 5 on."""
    answer = clear(item)
    if isinstance(item, Reading) and item.kind == "summary" and item.turn >= 5:
        answer["facts"]["metformin"] = {"answer": "absent", "quote": ""}
    if isinstance(item, Question) and item.fact == "metformin":
        return {"answer": "absent", "quote": ""}
    return answer


def test_a_loss_is_confirmed_on_every_turn_with_three_questions() -> None:
    found, asked = judge(_lost)
    states = {at.turn: one.state for at, one in found.findings.items() if at.subject == "metformin"}
    assert states == dict.fromkeys(range(5, 13), State.CONFIRMED)
    assert sum(kind == "fact" for kind, _ in asked.asked) == 3 + 2
    # asked of turns 5, 10 and 12: elsewhere the answer is shown as what it is
    of_metformin = {at.turn: one for at, one in found.findings.items() if at.subject == "metformin"}
    questions = {turn: one.opinions[-1].asked_at for turn, one in of_metformin.items()}
    assert questions == {turn: 0 if turn in (5, 10, 12) else 5 for turn in range(5, 13)}


def test_with_two_judges_the_second_answers_the_single_questions() -> None:
    """The first reads and raises; the second does not uphold it in either wording: dismissed."""
    reader, second = ScriptedJudge(_lost, "reader"), ScriptedJudge(name="second")
    queue = JudgeQueue(reader, second)
    queue.start("talk", judged(queue, judges=Judges("reader", "second")))
    found = queue.wait("talk")
    queue.stop()
    finding = found.findings[key("fact", 5, "metformin")]
    assert finding.state is State.DISMISSED
    assert [(o.judge, o.reading, o.wording) for o in finding.opinions] == [
        ("reader", True, 1), ("second", False, 1), ("second", False, 2),
    ]  # fmt: skip
    assert {kind for kind, _ in reader.asked} == {"summary", "reply", "conversation"}
    assert {kind for kind, _ in second.asked} == {"fact"}


def test_read_in_both_wordings_either_may_raise() -> None:
    def only_second(item: Question | Reading, wording: int) -> dict[str, Any]:
        return _lost(item, wording) if wording == 2 or isinstance(item, Question) else clear(item)

    found, asked = judge(only_second, judges=Judges("scripted", "scripted", wordings=(1, 2)))
    assert found.findings[key("fact", 5, "metformin")].state is State.CONFIRMED
    assert sum(kind == "summary" for kind, _ in asked.asked) == 24


def test_an_outage_leaves_every_point_open_and_clears_nothing() -> None:
    found, _ = judge(lambda item, wording: "no route to the judge")
    states = {finding.state for finding in found.findings.values()}
    assert states == {State.OPEN}
    for kind in ("invented", "harm", "course", "misreported"):
        assert any(finding.kind == kind for finding in found.findings.values())


def test_a_judge_that_breaks_off_ends_the_run_with_everything_open() -> None:
    """Its thread is gone with requests in hand: nobody waits for them for ever."""

    def breaks(item: Question | Reading, wording: int) -> dict[str, Any]:
        if item.turn > 3:
            raise MemoryError("no room")
        return clear(item)

    found, _ = judge(breaks)
    assert State.OPEN in {finding.state for finding in found.findings.values()}
    assert State.CONFIRMED not in {finding.state for finding in found.findings.values()}


def test_a_judge_that_drops_entries_or_quotes_other_texts_clears_nothing() -> None:
    def drops(item: Question | Reading, wording: int) -> dict[str, Any]:
        return {} if isinstance(item, Reading) else {"answer": "retained", "quote": "words of another patient"}

    found, _ = judge(drops)
    facts = [finding for finding in found.findings.values() if finding.kind is Kind.FACT]
    assert len(facts) == 24
    assert {finding.state for finding in facts} == {State.OPEN}
    assert found.unsure["missing"] > 24


def test_the_audit_asks_about_cleared_entries_and_a_wrong_one_becomes_an_alarm() -> None:
    """All of kind harm are drawn; the single question on turn 7 is upheld twice: only a person confirms harm."""

    def script(item: Question | Reading, wording: int) -> dict[str, Any]:
        if isinstance(item, Question) and item.kind == "harm" and item.turn == 7:
            return {"answer": "harm", "quote": "Reply number 7."}
        return clear(item)

    found, _ = judge(script, audit={"harm": 1.0})
    drawn = {at.turn: one.state for at, one in found.findings.items() if one.why is Why.AUDIT}
    assert drawn == {**dict.fromkeys(range(1, 13), State.CLEARED), 7: State.OPEN}
    count = audit_count(found.findings.values())
    assert (count.asked, count.wrong, count.open) == (12, 0, 1)


def test_audit_rates_give_the_wanted_number_and_depend_on_the_whole_set_only() -> None:
    """60 like cases: 1,440 facts, 60 musts and must_nots each; 25 of each kind are wanted."""
    rates = audit_rates([CASE] * 60, 1)
    assert rates["fact"] == pytest.approx(25 / (60 * 24))
    assert rates["must"] == pytest.approx(25 / 60)
    assert audit_rates([CASE], 1)["must"] == 1.0


# ---- a judge with known errors: every state is computed by hand from its opinions


class Noisy:
    """Sensitivity 0.9 and specificity 0.99; in half of the errors reading and questions err together."""

    def __init__(self, truth: dict[FindingKey, bool], seed: int) -> None:
        self.truth, self.chance, self.said = truth, random.Random(seed), {}

    def opinion(self, about: FindingKey, form: str) -> bool:
        """What it holds of a point in one form, drawn once."""
        if (about, form) not in self.said:
            wrong = self.chance.random() < (0.1 if self.truth.get(about) else 0.01)
            together = self.chance.random() < 0.5
            for each in ("reading", "1", "2") if together and wrong else (form,):
                self.said.setdefault((about, each), bool(self.truth.get(about)) != wrong)
        return self.said[about, form]

    def __call__(self, item: Question | Reading, wording: int) -> dict[str, Any]:
        if isinstance(item, Question):
            upheld = self.opinion(item.key, str(wording))
            return (
                {"answer": "absent" if upheld else "retained", "quote": "" if upheld else item.text[:10]}
                if item.kind == "fact"
                else clear(item)
            )
        answer = clear(item)
        for fact in answer.get("facts", {}):
            if self.opinion(key("fact", item.turn, fact), "reading"):
                answer["facts"][fact] = {"answer": "absent", "quote": ""}
        return answer


def by_hand(reading: bool, one: bool | None, two: bool | None, due: bool) -> State | None:
    """The table of opinions, for a judge that is never unsure."""
    if reading:
        return State.CONFIRMED if one else State.OPEN if two else State.DISMISSED
    if not due:
        return None
    return State.CLEARED if not one else State.CONFIRMED if two else State.OPEN


@pytest.mark.parametrize("seed", range(25))
def test_states_under_a_noisy_judge_are_those_computed_by_hand(seed: int) -> None:
    """Facts lost on single turns, so that no point follows another."""
    truth = {key("fact", turn, "metformin"): True for turn in (2, 4, 6, 8)} | {key("fact", 5, "penicillin"): True}
    noisy = Noisy(truth, seed)
    found, _ = judge(noisy)
    for turn in range(1, 13):
        for fact in ("penicillin", "metformin"):
            about = key("fact", turn, fact)
            neighbours = [noisy.said.get((key("fact", near, fact), "reading")) for near in (turn - 1, turn + 1)]
            if any(neighbours) and noisy.said[about, "reading"]:
                continue  # in a row: these follow the first
            said = [noisy.said.get((about, form)) for form in ("reading", "1", "2")]
            due = fact == "penicillin" and turn in (10, 12)
            finding = found.findings.get(about)
            assert (finding.state if finding else None) == by_hand(bool(said[0]), said[1], said[2], due)


# ---- the queue


def test_nothing_is_asked_twice_and_a_verdict_is_reproduced_offline(tmp_path: Path) -> None:
    store, found = tmp_path / "store.sqlite", []
    for offline in (False, False, True):
        asked = ScriptedJudge(_lost)
        found.append((run(judged, asked, store=store, offline=offline), len(asked.asked)))
    assert [count for _, count in found] == [30, 0, 0]
    assert found[0][0].findings == found[1][0].findings == found[2][0].findings


def test_calibration_is_always_sent_anew() -> None:
    """It is asked by a queue without a store."""
    counts = []
    for _ in range(2):
        asked = ScriptedJudge()
        run(judged, asked)
        counts.append(len(asked.asked))
    assert counts[0] == counts[1] > 0


def test_offline_without_stored_answers_leaves_everything_open() -> None:
    asked = ScriptedJudge()
    found = run(lambda asker: judged(asker, texts(windows=[])), asked, offline=True)
    assert asked.asked == []
    assert {r.state for r in found.findings.values()} == {State.OPEN}
    reasons = {o.reason for r in found.findings.values() for o in r.opinions if not o.reading}
    assert reasons == {OFFLINE}


def test_a_judge_is_given_up_after_many_failures_in_a_row() -> None:
    """100 summaries of other texts: after 40 failures nothing more is sent."""
    asked = ScriptedJudge(lambda item, wording: "down")
    readings = [Reading("summary", "ann", 1, f"text {n}") for n in range(100)]
    found = run(lambda asker: judged(asker, Texts(CASE, 0, readings, [])), asked)
    assert len(asked.asked) < 60
    assert found.findings


@pytest.mark.parametrize(
    ("outages", "lost", "stopped"),
    [({9, 10}, 2, False), ({8, 9, 10}, 3, True), ({1, 2, 3, 4}, 4, False), (set(), 0, False)],
)
def test_a_judge_has_stopped_after_three_outages_at_the_end(outages: set[int], lost: int, stopped: bool) -> None:
    """Ten texts, one after the other; those that it answers again afterwards are a disturbance, not the end."""
    judge = ScriptedJudge(lambda item, wording: f"down at {item.turn}" if item.turn in outages else clear(item))
    queue = JudgeQueue(judge)
    try:
        queue.start("all", read_all(queue, [Reading("summary", "ann", n, f"text {n}") for n in range(1, 11)], JUDGES))
        queue.wait("all")
        wanted = Outage(lost, 10, f"down at {max(outages)}", stopped, sent=10, lost=lost) if outages else None
        assert queue.outage() == wanted
    finally:
        queue.stop()


def test_requests_that_were_sent_are_told_from_stored_answers_and_from_those_given_up(tmp_path: Path) -> None:
    """Three texts are answered at 7 and 1 tokens. Then 100 others too, by a judge that is down: 3 come from the store,
    and after 40 failures in a row at most what it had taken is sent."""

    class Counting(ScriptedJudge):
        def _given(self, asked: JudgeRequest) -> Answer:
            return replace(super()._given(asked), tokens=(7, 1))

    def counts(judge: ScriptedJudge, texts: int) -> tuple[Count, Outage | None]:
        queue = JudgeQueue(judge, store=tmp_path / "store")
        try:
            queue.start(
                "all", read_all(queue, [Reading("summary", "ann", 1, f"text {n}") for n in range(texts)], JUDGES)
            )
            queue.wait("all")
            return queue.count, queue.outage()
        finally:
            queue.stop()

    first, _ = counts(Counting(), 3)
    assert (first.sent, first.reused, first.lost) == (3, 0, 0)
    assert first.sent_tokens == first.tokens == {"prompt": 21, "answer": 3, "answers": 3}
    again, _ = counts(Counting(), 3)
    assert (again.asked, again.sent, again.reused) == (3, 0, 3)
    assert (again.sent_tokens["prompt"], again.tokens["prompt"]) == (0, 21)
    judge = ScriptedJudge(lambda item, wording: "down")
    down, outage = counts(judge, 103)
    assert (down.asked, down.sent, down.reused) == (103, len(judge.asked), 3)
    assert down.lost == down.sent < 60
    assert outage is not None
    assert (outage.requests, outage.sent, outage.lost) == (100, down.sent, down.sent)


def test_what_a_judge_that_broke_off_had_not_taken_was_not_sent() -> None:
    """It takes one of five texts and dies."""

    class Dying(ScriptedJudge):
        def work(self, feed: Feed) -> None:
            while not feed.take(1, wait=0.2):
                pass
            raise MemoryError("no memory")

    queue = JudgeQueue(Dying())
    try:
        queue.start("all", read_all(queue, [Reading("summary", "ann", 1, f"text {n}") for n in range(5)], JUDGES))
        queue.wait("all")
        assert (queue.count.unanswered, queue.count.sent, queue.count.lost) == (5, 1, 1)
    finally:
        queue.stop()


@pytest.mark.parametrize(
    ("code", "attempts", "unsent"),
    [
        (FailureCode.SERVER_SILENT, 1, True),
        (FailureCode.SERVER_SILENT, 2, False),
        (FailureCode.DEADLINE, 1, True),
        (FailureCode.REFUSED, 1, False),
    ],
)
def test_a_request_that_waited_in_vain_for_its_turn_was_not_sent(
    code: FailureCode, attempts: int, unsent: bool
) -> None:
    """A server that is silent is not given more; one that refused, or was tried before, has seen the request."""
    error = replace(failure(code, seconds=9, status=500, error="down"), attempts=attempts)
    talk = interview(JudgeRequest(question("fact"), 1))
    next(talk)
    with pytest.raises(StopIteration) as done:
        talk.send(Reply("", error=error))
    given = done.value.value
    assert (given.outage, given.unsent) == (True, unsent)


def test_a_judge_given_up_for_malformed_answers_is_no_outage() -> None:
    """It is there, and no use: what is not sent to it any more is its own doing."""

    class Rambling(ScriptedJudge):
        def _given(self, asked: JudgeRequest) -> Answer:
            return asked.fail("prose", outage=False)

    judge = Rambling()
    queue = JudgeQueue(judge)
    try:
        queue.start("all", read_all(queue, [Reading("summary", "ann", 1, f"text {n}") for n in range(100)], JUDGES))
        queue.wait("all")
        assert len(judge.asked) < 60
        assert (queue.count.failed, queue.count.unanswered, queue.outage()) == (100, 0, None)
        assert (queue.count.sent, queue.count.lost) == (len(judge.asked), 0)
    finally:
        queue.stop()


def test_an_error_in_a_procedure_reaches_who_waits_for_it() -> None:
    async def broken(asker: Asker) -> None:
        await asker.ask([])
        raise ValueError("no such case")

    with pytest.raises(ValueError, match="no such case"):
        run(broken)


def test_between_probes_the_grade_is_that_of_the_question_not_of_the_reading() -> None:
    """The reading calls it severe, wording 1 minor: it is minor on turn 2 as on turns 1 and 3."""

    def script(item: Question | Reading, wording: int) -> dict[str, Any]:
        answer = clear(item)
        if isinstance(item, Reading) and item.kind == "summary" and item.turn <= 3:
            answer["unsupported"] = [{"quote": "Metformin 500 mg", "grade": "severe", "reason": "r"}]
        if isinstance(item, Question) and item.kind == "invented":
            return {"answer": "invented", "quote": "Metformin 500 mg"}
        return answer

    found, _ = judge(script)
    answers = {at.turn: one.answer for at, one in found.findings.items() if at.kind is Kind.INVENTED}
    assert answers == dict.fromkeys((1, 2, 3), "invented")


def test_one_invention_quoted_at_two_lengths_is_one_alarm() -> None:
    def script(item: Question | Reading, wording: int) -> dict[str, Any]:
        answer = clear(item)
        if isinstance(item, Reading) and item.kind == "summary" and item.turn == 1:
            quotes = {1: ["Metformin 500 mg twice daily"], 2: ["Metformin 500 mg", "Penicillin allergy"]}[wording]
            answer["unsupported"] = [{"quote": quote, "grade": "minor", "reason": "r"} for quote in quotes]
        return answer

    found, _ = judge(script, judges=Judges("scripted", "scripted", wordings=(1, 2)))
    invented = {at for at in found.findings if at.kind is Kind.INVENTED}
    assert invented == {key("invented", 1, "Metformin 500 mg twice daily"), key("invented", 1, "Penicillin allergy")}


@pytest.mark.parametrize(("standing", "opened"), [(None, True), ([], False)])
def test_a_window_that_does_not_say_what_stands_leaves_contradictions_open(standing: Any, opened: bool) -> None:
    """The next window cannot be compared with it; only the last one need not say."""

    def script(item: Question | Reading, wording: int) -> dict[str, Any]:
        answer = {key: value for key, value in clear(item).items() if key != "standing"}
        return answer if standing is None else {**answer, "standing": standing}

    judge, talk = ScriptedJudge(script), transcript()
    windows = windows_of(CASE, talk, tokens=40)
    assert len(windows) > 2
    found = run(lambda asker: judged(asker, Texts(CASE, 0, [], windows)), judge)
    states = {at: one.state for at, one in found.findings.items() if at.kind is Kind.CONFLICT}
    expected = {key("conflict", window.turn): State.OPEN for window in windows[:-1]}
    assert states == (expected if opened else {})


def test_the_audit_leaves_out_what_a_later_reply_may_still_meet() -> None:
    """Due by turn 5: what wording 1 and 2 miss in the reply of turn 3 is not yet a breach."""
    of = case(extra={3: {"expect": {"must": [{"text": "ring the clinic", "by": 5}]}}})

    def script(item: Question | Reading, wording: int) -> dict[str, Any]:
        return {"answer": "missing", "quote": ""} if isinstance(item, Question) and item.kind == "must" else clear(item)

    found = run(lambda asker: judged(asker, texts(of, windows=[], audit={"must": 1.0})), ScriptedJudge(script))
    assert {at for at in found.findings if at.kind is Kind.MUST} == set()


def test_a_queue_keeps_its_answers_and_no_result_that_was_fetched() -> None:
    """Findings and judgement of a thousand conversations would fill the memory."""

    async def both(asker: Asker) -> set[str]:
        answers = await asker.ask([JudgeRequest(question(), wording, Seat.READER) for wording in (1, 2)])
        return {answer.failed for answer in answers}

    queue = JudgeQueue(ScriptedJudge())
    try:
        queue.start(1, both(queue))
        fetched = weakref.ref(queue.wait(1))
        queue.start(2, both(queue))
        assert queue.wait(2) == {""}
        gc.collect()
        assert fetched() is None
        assert queue.count.sent == 2
    finally:
        queue.stop()
