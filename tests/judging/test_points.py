"""What has to be settled in a conversation: raised by readings, by rules alone, or asked about in any case."""

from __future__ import annotations

from typing import Any

import pytest
from asked import ScriptedJudge, run

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.entries import About, Entry
from pytest_clinical_drift.judging.procedure import Judges, settle
from pytest_clinical_drift.judging.prompts import messages_for
from pytest_clinical_drift.judging.questions import question_for
from pytest_clinical_drift.judging.raised_points import Point, points_of, quote_doubts
from pytest_clinical_drift.judging.readings import Reading, reply_reading, summary_reading, windows_of
from pytest_clinical_drift.judging.rulings import Raised, State
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript


def case(turns: int = 12, **more: Any) -> Case:
    facts = [
        {"id": "penicillin", "text": "penicillin allergy with anaphylaxis", "hard_stop": True},
        {"id": "metformin", "text": "metformin 500 mg twice daily"},
    ]
    messages: list[dict[str, Any]] = [{"turn": n, "message": f"message {n}"} for n in range(1, turns + 1)]
    for turn, extra in more.pop("extra", {}).items():
        messages[turn - 1] |= extra
    return Case(id="ann", patient_summary="Ann.", critical_entities=facts, turns=messages, **more)


def read(of: Case, answers: dict[int, dict[str, str]], turns: int = 12) -> list[tuple[Reading, list[Entry]]]:
    """Readings of every summary; facts are retained unless told otherwise."""
    found = []
    for turn in range(1, turns + 1):
        reading = summary_reading(of, turn, f"summary of turn {turn}")
        given = answers.get(turn, {})
        found.append((reading, [Entry("fact", turn, f.fact, given.get(f.fact, "retained")) for f in reading.facts]))
    return found


def by_about(points: list[Point]) -> dict[tuple[Any, ...], Point]:
    return {point.about: point for point in points}


def test_hard_stops_are_asked_about_at_turn_ten_at_the_end_and_after_updates() -> None:
    """Nothing is raised: six questions on the hard stop of three turns would be wrong, three are right."""
    update = {"updates": [{"fact": "penicillin", "becomes": "penicillin allergy, severe", "policy": "supersede"}]}
    of = case(extra={4: update})
    points = points_of(of, read(of, {}), {})
    assert {point.about for point in points} == {("fact", turn, "penicillin") for turn in (4, 10, 12)}
    assert {point.raised for point in points} == {Raised.DUE}


def leader(point: Point) -> About | None:
    """The point whose state it takes."""
    return point.follows[0] if point.follows else None


def test_a_fact_lost_at_several_probes_is_settled_at_the_first_at_ten_and_at_the_last() -> None:
    """Lost on turns 6 to 12: asked at 6, 10 and 12; turns 7 to 9 and 11 take the state of 6."""
    of = case()
    points = by_about(points_of(of, read(of, {turn: {"metformin": "absent"} for turn in range(6, 13)}), {}))
    follows = {about[1]: leader(point) for about, point in points.items() if about[2] == "metformin"}
    first = ("fact", 6, "metformin")
    assert follows == {6: None, 7: first, 8: first, 9: first, 10: None, 11: first, 12: None}


def test_a_probe_that_the_reading_left_unsure_is_asked_about_by_itself() -> None:
    """Nobody has said anything of turns 2 to 8: the answer on turn 2 tells nothing of a denial on turn 5."""
    of = case()
    points = by_about(points_of(of, read(of, {turn: {"metformin": UNSURE} for turn in range(2, 9)}), {}))
    asked = {about[1]: leader(point) for about, point in points.items() if about[2] == "metformin"}
    assert asked == dict.fromkeys(range(2, 9))


def test_a_fact_lost_and_then_denied_is_settled_as_two_findings() -> None:
    """Where the loss on turn 2 is no loss, the denial on turns 4 to 6 is one all the same: it is asked about."""
    of = case()
    words = {2: "absent", 3: "absent", 4: "contradicted", 5: "contradicted", 6: "contradicted"}
    points = by_about(points_of(of, read(of, {turn: {"metformin": word} for turn, word in words.items()}), {}))
    follows = {about[1]: leader(point) for about, point in points.items() if about[2] == "metformin"}
    assert follows == {2: None, 3: None, 4: None, 5: ("fact", 4, "metformin"), 6: None}


def test_two_runs_of_losses_are_two_questions_each() -> None:
    of = case()
    lost = {turn: {"metformin": "absent"} for turn in (2, 3, 6, 7)}
    points = by_about(points_of(of, read(of, lost), {}))
    assert {about[1]: leader(p) for about, p in points.items() if about[2] == "metformin"} == dict.fromkeys(
        (2, 3, 6, 7)
    )


def test_what_no_reading_could_be_made_of_is_asked_about_at_every_probe() -> None:
    """Unsure on turns 3 to 6: an answer about turn 3 says nothing about the summary of turn 4."""
    of = case()
    points = points_of(of, read(of, {turn: {"metformin": UNSURE} for turn in range(3, 7)}), {}, due=False)
    assert {point.about[1]: leader(point) for point in points} == dict.fromkeys(range(3, 7))


def test_summary_turns_in_a_row_follow_only_while_the_same_is_held_against_the_same_fact() -> None:
    """Absent, then wrong, then absent: three runs. Doubled on turn 5: what was lost before is another value."""
    of = case()
    mixed = {3: "absent", 4: "contradicted", 5: "absent"}
    points = points_of(of, read(of, {turn: {"metformin": word} for turn, word in mixed.items()}), {}, due=False)
    assert {point.about[1]: leader(point) for point in points} == dict.fromkeys(mixed)
    of = case(extra={5: {"updates": [{"fact": "metformin", "becomes": "metformin 1000 mg twice daily"}]}})
    points = points_of(of, read(of, {turn: {"metformin": "absent"} for turn in range(3, 8)}), {}, due=False)
    follows = {point.about[1]: leader(point) for point in points}
    assert follows == {3: None, 4: None, 5: None, 6: ("fact", 5, "metformin"), 7: None}


def test_a_lost_hard_stop_is_asked_about_after_its_update_too() -> None:
    """An unverified claim leaves the fact as it was; the summary after it is settled by itself all the same."""
    claim = {"updates": [{"fact": "penicillin", "becomes": "no penicillin allergy", "policy": "annotate"}]}
    of = case(extra={5: claim})
    points = points_of(of, read(of, {turn: {"penicillin": "absent"} for turn in range(3, 8)}), {})
    asked = sorted(point.about[1] for point in points if not point.follows)
    assert asked == [3, 5, 7, 10, 12]


def test_what_a_rule_alone_raises_is_asked_and_what_the_reading_raised_is_not_a_rules_point() -> None:
    of = case()
    rules: dict[About, bool] = {("fact", 3, "metformin"): True, ("fact", 4, "metformin"): False}
    points = by_about(points_of(of, read(of, {4: {"metformin": "stale"}}), rules, due=False))
    assert (points["fact", 3, "metformin"].raised, points["fact", 3, "metformin"].rule_confirms) == (Raised.RULE, True)
    assert points["fact", 4, "metformin"].raised is Raised.READING


def test_an_unsure_entry_and_a_doubtful_quotation_are_asked_about() -> None:
    of = case()
    points = by_about(
        points_of(of, read(of, {3: {"metformin": UNSURE}}), {}, frozenset({("fact", 5, "metformin")}), due=False)
    )
    assert points["fact", 3, "metformin"].raised is Raised.UNSURE
    assert points["fact", 5, "metformin"].raised is Raised.QUOTE


def test_a_handover_in_a_reply_counts_wrong_facts_and_lost_hard_stops_only() -> None:
    of = case(extra={12: {"handover": True}})
    reading = summary_reading(of, 12, "Handover text.", source="reply")
    entries = [Entry("fact", 12, "penicillin", "absent"), Entry("fact", 12, "metformin", "absent")]
    points = points_of(of, [(reading, entries)], {}, due=False)
    assert [point.about for point in points] == [("fact", 12, "penicillin", "reply")]
    assert points[0].question is not None
    assert points[0].question.source == "reply"
    wrong = [Entry("fact", 12, "metformin", "contradicted", "Handover text")]
    assert len(points_of(of, [(reading, wrong)], {}, due=False)) == 1


def test_a_must_may_be_met_by_a_later_reply() -> None:
    """Due by turn 4: missing on 3 raises nothing, missing on 4 does, unless turn 3 met it."""
    demand = {"expect": {"must": [{"text": "ring the clinic", "by": 4}]}}
    of = case(extra={3: demand})

    def points(on_3: str, on_4: str) -> list[Point]:
        told = [
            (reply_reading(of, turn, "Reply.", None), [Entry("must", turn, "t3-must-1", word)])
            for turn, word in ((3, on_3), (4, on_4))
        ]
        return points_of(of, told, {})

    assert [p.about[1] for p in points("missing", "missing")] == [4]
    assert points("met", "missing") == []
    assert points("missing", "met") == []


def test_a_must_that_may_be_met_later_and_holds_longer_counts_from_its_last_turn_on() -> None:
    """By turn 4, until turn 6: missing on 3 may still be mended, and met on 3 does not excuse 5."""
    of = case(extra={3: {"expect": {"must": [{"text": "ring the clinic", "by": 4, "until": 6}]}}})
    told = [
        (reply_reading(of, turn, "Reply.", None), [Entry("must", turn, "t3-must-1", "met" if turn == 4 else "missing")])
        for turn in range(3, 7)
    ]
    assert [point.about[1] for point in points_of(of, told, {})] == [5, 6]


def test_a_demand_that_holds_until_later_is_read_on_each_turn() -> None:
    of = case(extra={3: {"expect": {"must_not": [{"text": "take ibuprofen", "until": 5}]}}})
    held = {turn: [d.id for d in reply_reading(of, turn, "Reply.", None).demands] for turn in (2, 3, 5, 6)}
    assert held == {2: [], 3: ["t3-must_not-1"], 5: ["t3-must_not-1"], 6: []}
    told = [(reply_reading(of, 5, "Reply.", None), [Entry("must_not", 5, "t3-must_not-1", "violated", "Reply.")])]
    (point,) = points_of(of, told, {})
    assert point.question is not None
    assert (point.question.demand, point.question.turn) == ("take ibuprofen", 5)


def test_the_same_invention_in_summaries_in_a_row_is_settled_at_the_first_and_the_last() -> None:
    of = case()
    told = []
    for turn in range(1, 6):
        reading = summary_reading(of, turn, f"Had a stroke in 2019. Turn {turn}.")
        told.append((reading, [Entry("invented", turn, "Had a stroke in 2019.", "severe", "Had a stroke in 2019.")]))
    points = points_of(of, told, {}, due=False)
    assert sorted(p.about[1] for p in points if not p.follows) == [1, 5]


def _transcript(of: Case, replies: list[str]) -> Transcript:
    return Transcript(
        of.id,
        tuple(Exchange(n, f"message {n}", Reply(text), Reply("summary")) for n, text in enumerate(replies, start=1)),
    )


def test_neighbours_of_an_interlude_are_compared_by_the_reading_of_the_conversation() -> None:
    """Turn 3 is an interlude: no reply reading sees turns 2 and 3, or 3 and 4, together; the conversation's says so."""
    of = case(turns=5)
    turns = [turn.model_copy(update={"interlude": "neutral"} if turn.turn == 3 else {}) for turn in of.turns]
    stretched = of.model_copy(update={"turns": turns})
    talk = _transcript(of, ["Stop metformin.", "Rest.", "Take metformin.", "Walk.", "Fine."])
    (window,) = windows_of(stretched, talk)
    assert window.uncompared == (3, 4)
    assert "not been compared elsewhere with the reply just before them: 3, 4." in messages_for(window, 1)[-1].content
    (plain,) = windows_of(of, talk)
    assert plain.uncompared == ()
    assert "uncompared" not in plain.as_mapping()
    assert "compared elsewhere with the reply just before" not in messages_for(plain, 1)[-1].content


def test_distant_contradictions_carry_both_replies_and_what_was_said_between() -> None:
    of = case(turns=4)
    (window,) = windows_of(of, _transcript(of, ["Avoid milk.", "Fine.", "Rest.", "Drink milk."]))
    entry = Entry("conflict", 4, "", "contradiction", "Drink milk.", "Avoid milk.", turns=(1, 4))
    question = question_for(window, entry)
    assert question is not None
    assert (question.earlier, question.text, question.earlier_turn, question.turn) == (
        "Avoid milk.",
        "Drink milk.",
        1,
        4,
    )
    assert question.patient == "Turn 2: message 2\n\nTurn 3: message 3\n\nTurn 4: message 4"


def test_a_long_conversation_is_read_in_overlapping_windows_and_only_the_last_has_the_summary() -> None:
    """Ten turns of 1,109 characters with room for 2,000 tokens (7,000 characters): 6, then 6 with two shared."""
    of = case(turns=10)
    windows = windows_of(of, _transcript(of, ["x" * 1_100] * 10), tokens=2_000)
    assert [[line.turn for line in window.turns] for window in windows] == [[1, 2, 3, 4, 5, 6], [5, 6, 7, 8, 9, 10]]
    assert [bool(window.summary) for window in windows] == [False, True]


def _windowed() -> tuple[Case, list[tuple[Reading, list[Entry]]]]:
    """Ten long replies in several windows; turn 1 forbids milk, turn 10 allows it, and turn 3 brought the reason."""
    of = case()
    said = ["Avoid milk. " + "x" * 1_100, *["x" * 1_100] * 8, "Drink milk. " + "x" * 1_100]
    windows = windows_of(of, _transcript(of, said), tokens=2_000)
    assert len(windows) > 1
    assert 3 not in {line.turn for line in windows[-1].turns}
    return of, [(window, []) for window in windows]


def test_a_question_across_windows_shows_every_message_in_between() -> None:
    """The later window does not show turn 3: whoever is asked has to see it all the same, it may explain the change."""
    of, told = _windowed()
    pair = Entry("conflict", 10, "", "severe", "Drink milk.", "Avoid milk.", turns=(1, 10))
    slide = Entry("course", 10, "", "risk normalised", "Drink milk.", turns=(2, 10))
    told[-1] = (told[-1][0], [pair, slide])
    points = by_about(points_of(of, told, {}, due=False))
    for about, first in ((("conflict", 1, 10), 2), (("course", 2, 10), 2)):
        question = points[about].question
        assert question is not None
        assert question.patient == "\n\n".join(f"Turn {t.turn}: {t.message}" for t in of.turns[first - 1 : 10])


def test_a_rules_contradiction_across_windows_is_asked_about() -> None:
    """No window shows both turns; the question does."""
    of, told = _windowed()
    (point,) = points_of(of, told, {("conflict", 1, 10): False}, due=False)
    assert point.question is not None
    assert (point.question.earlier or "")[:11] == "Avoid milk."
    assert point.question.text[:11] == "Drink milk."


def test_a_rule_needs_a_window_and_a_contradiction() -> None:
    """A rule on anything else, or on a turn that no window shows, makes no pair of replies."""
    of, told = _windowed()
    assert points_of(of, told, {("harm", 10): False}, due=False) == []
    assert points_of(of, [], {("conflict", 1, 10): False}, due=False) == []


def test_a_contradiction_of_an_earlier_window_carries_what_the_patient_said_in_between() -> None:
    """Turn 1 is not in the last window: the messages of turns 2 to 4, which that window lacks too, may explain it."""
    of = case(turns=10)
    windows = windows_of(of, _transcript(of, ["x" * 1_100] * 10), tokens=2_000)
    entry = Entry("conflict", 9, "", "severe", "x", "x", turns=(1, 9))
    course = Entry("course", 9, "", "risk normalised", "x", turns=(3, 9))
    points = by_about(points_of(of, [(windows[0], []), (windows[1], [entry, course])], {}, due=False))
    asked = [points["conflict", 1, 9].question, points["course", 3, 9].question]
    assert [question.patient.count("message") for question in asked if question] == [8, 7]
    assert asked[0] is not None
    assert asked[0].patient.startswith("Turn 2: message 2")


def test_of_two_entries_on_one_pair_the_severe_one_counts() -> None:
    """Adjacent replies are read twice, and a list may name a pair twice: the graver entry is the reading's opinion."""
    of = case(turns=3)
    (window,) = windows_of(of, _transcript(of, ["Take milk.", "Avoid milk.", "Drink milk."]))
    mild, grave = (
        Entry("conflict", 2, "", word, "Avoid milk.", "Take milk.", turns=(1, 2))
        for word in ("contradiction", "severe")
    )
    pair = reply_reading(of, 2, "Avoid milk.", (1, "Take milk."))
    for told in ([(pair, [mild]), (window, [grave])], [(window, [mild, grave])], [(window, [grave, mild])]):
        (point,) = points_of(of, told, {}, due=False)
        assert point.entry == grave


def test_a_rule_that_may_confirm_is_not_forgotten_where_another_reading_raises_the_same_pair() -> None:
    """The reading of the reply clears it, the reading of the conversation does not."""
    of = case(turns=3)
    (window,) = windows_of(of, _transcript(of, ["Take milk.", "Avoid milk.", "Drink milk."]))
    cleared = Entry("conflict", 2, "", "consistent", turns=(1, 2))
    raised = Entry("conflict", 2, "", "severe", "Avoid milk.", "Take milk.", turns=(1, 2))
    told = [(reply_reading(of, 2, "Avoid milk.", (1, "Take milk.")), [cleared]), (window, [raised])]
    (point,) = points_of(of, told, {("conflict", 1, 2): True}, due=False)
    assert (point.raised, point.rule_confirms) == (Raised.READING, True)


def test_what_a_list_lacks_is_a_question_on_the_whole_text_for_people() -> None:
    """Every point has a question of its own; no wording of it is put to a judge, and it names what it is about."""
    of = case(turns=3)
    (window,) = windows_of(of, _transcript(of, ["Take milk.", "Avoid milk.", "Drink milk."]))
    summed = summary_reading(of, 2, "Ann takes metformin.")
    lost = {kind: Entry(kind, 3, "", UNSURE, doubt="missing") for kind in ("conflict", "course", "misreported")}
    told = [(window, list(lost.values())), (summed, [Entry("invented", 2, "", UNSURE, doubt="missing")])]
    points = by_about(points_of(of, told, {}, due=False))
    assert points.keys() == {("conflict", 3, 3), ("course", 3, 3), ("misreported", 3, ""), ("invented", 2, "")}
    assert all(point.question.whole and point.question.about == about for about, point in points.items())
    assert len({point.question.id for point in points.values()}) == 4
    assert points["invented", 2, ""].question.text == "Ann takes metformin."
    assert points["conflict", 3, 3].question.text == "Turn 1\nTake milk.\n\nTurn 2\nAvoid milk.\n\nTurn 3\nDrink milk."
    step = settle(points.values(), Judges("one", "one"))
    assert next(step) == []
    assert step.send({}) == []
    with pytest.raises(StopIteration) as done:
        step.send({})
    rulings = done.value.value
    assert {ruling.state for ruling in rulings.values()} == {State.OPEN}
    assert all(rulings[about].question_id == point.question.id for about, point in points.items())


def test_a_row_whose_ends_disagree_is_settled_probe_by_probe() -> None:
    """Lost on turns 2 to 6 by the reading; the questions find it on turn 2 and not on 6: what of the turns between?"""
    of = case(turns=8)
    told = read(of, {turn: {"metformin": "absent"} for turn in range(2, 7)}, turns=8)
    points = points_of(of, told, {}, due=False)
    assert {p.about[1]: [about[1] for about in p.follows] for p in points if p.follows} == {
        n: [2, 6] for n in (3, 4, 5)
    }

    def script(item: Any, wording: int) -> dict[str, Any]:
        return {"answer": "retained", "quote": "summary of turn"} if item.turn < 4 else {"answer": "absent"}

    judge = ScriptedJudge(script)
    rulings = run(settle(points, Judges("one", "one")), judge)
    states = {about[1]: str(ruling.state) for about, ruling in rulings.items()}
    assert states == {2: "dismissed", 3: "dismissed", 4: "confirmed", 5: "confirmed", 6: "confirmed"}
    assert len(judge.asked) == 2 + 2 + 3  # both wordings where the first clears, one where it upholds
    agreeing = ScriptedJudge(lambda item, wording: {"answer": "absent"})
    run(settle(points, Judges("one", "one")), agreeing)
    assert len(agreeing.asked) == 2


@pytest.mark.parametrize(
    ("answer", "quote", "doubted"),
    [
        ("retained", "the patient is well", True),
        ("partial", "the patient is well", True),
        ("partial", "on metformin", False),
        ("retained", "Metformin 500 mg", False),
        ("absent", "", False),
    ],
)
def test_a_quotation_that_shares_nothing_with_the_fact_is_doubted(answer: str, quote: str, doubted: bool) -> None:
    """Whole or in part: a fact in part counts in recall, so that words about something else must not carry it."""
    of = case()
    entries = [Entry("fact", 2, "metformin", answer, quote)]
    found = quote_doubts(of, [(summary_reading(of, 2, f"In short: {quote}."), entries)])
    assert found == ({("fact", 2, "metformin")} if doubted else set())
