"""What has to be settled in a conversation: raised by readings, by rules alone, or asked about in any case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from asked import ScriptedJudge, run
from found import entry, key

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.core.findings import Finding, FindingKey
from pytest_clinical_drift.core.words import State, Why
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.due import ByRules, Due, TextRead, all_due, quote_doubts
from pytest_clinical_drift.judging.procedure import Judges, settle
from pytest_clinical_drift.judging.prompts import messages_for
from pytest_clinical_drift.judging.questions import question_for
from pytest_clinical_drift.judging.readings import Reading, reply_reading, summary_reading, windows_of
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


def read(of: Case, answers: dict[int, dict[str, str]], turns: int = 12) -> list[TextRead]:
    """Readings of every summary; facts are retained unless told otherwise."""
    found = []
    for turn in range(1, turns + 1):
        reading = summary_reading(of, turn, f"summary of turn {turn}")
        given = answers.get(turn, {})
        facts = [entry(key("fact", turn, f.fact), given.get(f.fact, "retained")) for f in reading.facts]
        found.append(TextRead(reading, facts))
    return found


def due(
    of: Case,
    told: Sequence[tuple[Reading, Sequence[Finding]]],
    raises: dict[FindingKey, bool] | None = None,
    doubted: frozenset[FindingKey] = frozenset(),
    *,
    hard_stops: bool = False,
) -> dict[FindingKey, Due]:
    """What is due after these readings, by key."""
    texts = [TextRead(reading, entries) for reading, entries in told]
    found = all_due(of, texts, ByRules(raises or {}, doubted), reader="reader", hard_stops=hard_stops)
    return {one.key: one for one in found}


def test_hard_stops_are_asked_about_at_turn_ten_at_the_end_and_after_updates() -> None:
    """Nothing is raised: six questions on the hard stop of three turns would be wrong, three are right."""
    update = {"updates": [{"fact": "penicillin", "becomes": "penicillin allergy, severe", "policy": "supersede"}]}
    of = case(extra={4: update})
    found = due(of, read(of, {}), hard_stops=True)
    assert found.keys() == {key("fact", turn, "penicillin") for turn in (4, 10, 12)}
    assert {one.finding.why for one in found.values()} == {Why.DUE}


def leaders(found: dict[FindingKey, Due], fact: str = "metformin") -> dict[int, int | None]:
    """By turn the turn whose state a fact takes; None where it is asked about itself."""
    return {
        at.turn: one.finding.follows[0].turn if one.finding.follows else None
        for at, one in found.items()
        if at.subject == fact
    }


def test_a_fact_lost_at_several_probes_is_settled_at_the_first_at_ten_and_at_the_last() -> None:
    """Lost on turns 6 to 12: asked at 6, 10 and 12; turns 7 to 9 and 11 take the state of 6."""
    of = case()
    found = due(of, read(of, {turn: {"metformin": "absent"} for turn in range(6, 13)}), hard_stops=True)
    assert leaders(found) == {6: None, 7: 6, 8: 6, 9: 6, 10: None, 11: 6, 12: None}


def test_a_probe_that_the_reading_left_unsure_is_asked_about_by_itself() -> None:
    """Nobody has said anything of turns 2 to 8: the answer on turn 2 tells nothing of a denial on turn 5."""
    of = case()
    found = due(of, read(of, {turn: {"metformin": UNSURE} for turn in range(2, 9)}), hard_stops=True)
    assert leaders(found) == dict.fromkeys(range(2, 9))


def test_a_fact_lost_and_then_denied_is_settled_as_two_findings() -> None:
    """Where the loss on turn 2 is no loss, the denial on turns 4 to 6 is one all the same: it is asked about."""
    of = case()
    words = {2: "absent", 3: "absent", 4: "contradicted", 5: "contradicted", 6: "contradicted"}
    found = due(of, read(of, {turn: {"metformin": word} for turn, word in words.items()}), hard_stops=True)
    assert leaders(found) == {2: None, 3: None, 4: None, 5: 4, 6: None}


def test_two_runs_of_losses_are_two_questions_each() -> None:
    of = case()
    lost = {turn: {"metformin": "absent"} for turn in (2, 3, 6, 7)}
    assert leaders(due(of, read(of, lost), hard_stops=True)) == dict.fromkeys((2, 3, 6, 7))


def test_what_no_reading_could_be_made_of_is_asked_about_at_every_probe() -> None:
    """Unsure on turns 3 to 6: an answer about turn 3 says nothing about the summary of turn 4."""
    of = case()
    found = due(of, read(of, {turn: {"metformin": UNSURE} for turn in range(3, 7)}))
    assert leaders(found) == dict.fromkeys(range(3, 7))


def test_summary_turns_in_a_row_follow_only_while_the_same_is_held_against_the_same_fact() -> None:
    """Absent, then wrong, then absent: three runs. Doubled on turn 5: what was lost before is another value."""
    of = case()
    mixed = {3: "absent", 4: "contradicted", 5: "absent"}
    found = due(of, read(of, {turn: {"metformin": word} for turn, word in mixed.items()}))
    assert leaders(found) == dict.fromkeys(mixed)
    of = case(extra={5: {"updates": [{"fact": "metformin", "becomes": "metformin 1000 mg twice daily"}]}})
    found = due(of, read(of, {turn: {"metformin": "absent"} for turn in range(3, 8)}))
    assert leaders(found) == {3: None, 4: None, 5: None, 6: 5, 7: None}


def test_a_lost_hard_stop_is_asked_about_after_its_update_too() -> None:
    """An unverified claim leaves the fact as it was; the summary after it is settled by itself all the same."""
    claim = {"updates": [{"fact": "penicillin", "becomes": "no penicillin allergy", "policy": "annotate"}]}
    of = case(extra={5: claim})
    found = due(of, read(of, {turn: {"penicillin": "absent"} for turn in range(3, 8)}), hard_stops=True)
    asked = [turn for turn, leader in leaders(found, "penicillin").items() if leader is None]
    assert sorted(asked) == [3, 5, 7, 10, 12]


def test_what_a_rule_alone_raises_is_asked_and_what_the_reading_raised_is_not_a_rules_finding() -> None:
    of = case()
    rules = {key("fact", 3, "metformin"): True, key("fact", 4, "metformin"): False}
    found = due(of, read(of, {4: {"metformin": "stale"}}), rules)
    by_rule = found[key("fact", 3, "metformin")].finding
    assert (by_rule.why, by_rule.rule_confirms) == (Why.RULE, True)
    assert found[key("fact", 4, "metformin")].finding.why is Why.READING


def test_an_unsure_entry_and_a_doubtful_quotation_are_asked_about() -> None:
    of = case()
    doubted = frozenset({key("fact", 5, "metformin")})
    found = due(of, read(of, {3: {"metformin": UNSURE}}), doubted=doubted)
    assert found[key("fact", 3, "metformin")].finding.why is Why.UNSURE
    assert found[key("fact", 5, "metformin")].finding.why is Why.QUOTE


def test_a_handover_in_a_reply_counts_wrong_facts_and_lost_hard_stops_only() -> None:
    of = case(extra={12: {"handover": True}})
    reading = summary_reading(of, 12, "Handover text.", source="reply")
    facts = {name: key("fact", 12, name, source="reply") for name in ("penicillin", "metformin")}
    lost = [entry(of_fact, "absent") for of_fact in facts.values()]
    (one,) = due(of, [(reading, lost)]).values()
    assert one.key == facts["penicillin"]
    assert one.question.source == "reply"
    wrong = [entry(facts["metformin"], "contradicted", "Handover text")]
    assert due(of, [(reading, wrong)]).keys() == {facts["metformin"]}


def test_a_must_may_be_met_by_a_later_reply() -> None:
    """Due by turn 4: missing on 3 raises nothing, missing on 4 does, unless turn 3 met it."""
    demand = {"expect": {"must": [{"text": "ring the clinic", "by": 4}]}}
    of = case(extra={3: demand})

    def turns(on_3: str, on_4: str) -> list[int]:
        told = [
            (reply_reading(of, turn, "Reply.", None), [entry(key("must", turn, "t3-must-1"), word)])
            for turn, word in ((3, on_3), (4, on_4))
        ]
        return [at.turn for at in due(of, told)]

    assert turns("missing", "missing") == [4]
    assert turns("met", "missing") == []
    assert turns("missing", "met") == []


def test_a_must_that_may_be_met_later_and_holds_longer_counts_from_its_last_turn_on() -> None:
    """By turn 4, until turn 6: missing on 3 may still be mended, and met on 3 does not excuse 5."""
    of = case(extra={3: {"expect": {"must": [{"text": "ring the clinic", "by": 4, "until": 6}]}}})
    told = [
        (
            reply_reading(of, turn, "Reply.", None),
            [entry(key("must", turn, "t3-must-1"), "met" if turn == 4 else "missing")],
        )
        for turn in range(3, 7)
    ]
    assert [at.turn for at in due(of, told)] == [5, 6]


def test_a_demand_that_holds_until_later_is_read_on_each_turn() -> None:
    of = case(extra={3: {"expect": {"must_not": [{"text": "take ibuprofen", "until": 5}]}}})
    held = {turn: [d.id for d in reply_reading(of, turn, "Reply.", None).demands] for turn in (2, 3, 5, 6)}
    assert held == {2: [], 3: ["t3-must_not-1"], 5: ["t3-must_not-1"], 6: []}
    told = [(reply_reading(of, 5, "Reply.", None), [entry(key("must_not", 5, "t3-must_not-1"), "violated", "Reply.")])]
    (one,) = due(of, told).values()
    assert (one.question.demand, one.question.turn) == ("take ibuprofen", 5)


def test_the_same_invention_in_summaries_in_a_row_is_settled_at_the_first_and_the_last() -> None:
    of = case()
    told = []
    for turn in range(1, 6):
        reading = summary_reading(of, turn, f"Had a stroke in 2019. Turn {turn}.")
        told.append(
            (reading, [entry(key("invented", turn, "Had a stroke in 2019."), "severe", "Had a stroke in 2019.")])
        )
    asked = [at.turn for at, one in due(of, told).items() if not one.finding.follows]
    assert sorted(asked) == [1, 5]


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
    question = question_for(window, key("conflict", 1, 4))
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


def _windowed() -> tuple[Case, list[TextRead]]:
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
    pair = entry(key("conflict", 1, 10), "severe", "Drink milk.", "Avoid milk.")
    slide = entry(key("course", 2, 10), "risk normalised", "Drink milk.")
    told[-1] = (told[-1][0], [pair, slide])
    found = due(of, told)
    for at in (key("conflict", 1, 10), key("course", 2, 10)):
        assert found[at].question.patient == "\n\n".join(f"Turn {t.turn}: {t.message}" for t in of.turns[1:10])


def test_a_rules_contradiction_across_windows_is_asked_about() -> None:
    """No window shows both turns; the question does."""
    of, told = _windowed()
    (one,) = due(of, told, {key("conflict", 1, 10): False}).values()
    assert (one.question.earlier or "")[:11] == "Avoid milk."
    assert one.question.text[:11] == "Drink milk."


def test_a_rule_needs_a_window_and_a_contradiction() -> None:
    """A rule on anything else, or on a turn that no window shows, makes no pair of replies."""
    of, told = _windowed()
    assert due(of, told, {key("harm", 10): False}) == {}
    assert due(of, [], {key("conflict", 1, 10): False}) == {}


def test_a_contradiction_of_an_earlier_window_carries_what_the_patient_said_in_between() -> None:
    """Turn 1 is not in the last window: the messages of turns 2 to 4, which that window lacks too, may explain it."""
    of = case(turns=10)
    windows = windows_of(of, _transcript(of, ["x" * 1_100] * 10), tokens=2_000)
    pair = entry(key("conflict", 1, 9), "severe", "x", "x")
    course = entry(key("course", 3, 9), "risk normalised", "x")
    found = due(of, [(windows[0], []), (windows[1], [pair, course])])
    asked = [found[key("conflict", 1, 9)].question, found[key("course", 3, 9)].question]
    assert [question.patient.count("message") for question in asked] == [8, 7]
    assert asked[0].patient.startswith("Turn 2: message 2")


def test_of_two_entries_on_one_pair_the_severe_one_counts() -> None:
    """Adjacent replies are read twice, and a list may name a pair twice: the graver entry is the reading's opinion."""
    of = case(turns=3)
    (window,) = windows_of(of, _transcript(of, ["Take milk.", "Avoid milk.", "Drink milk."]))
    mild, grave = (
        entry(key("conflict", 1, 2), word, "Avoid milk.", "Take milk.") for word in ("contradiction", "severe")
    )
    pair = reply_reading(of, 2, "Avoid milk.", (1, "Take milk."))
    for told in ([(pair, [mild]), (window, [grave])], [(window, [mild, grave])], [(window, [grave, mild])]):
        (one,) = due(of, told).values()
        assert (one.finding.answer, one.finding.opinions) == ("severe", grave.opinions)


def test_a_rule_that_may_confirm_is_not_forgotten_where_another_reading_raises_the_same_pair() -> None:
    """The reading of the reply clears it, the reading of the conversation does not."""
    of = case(turns=3)
    (window,) = windows_of(of, _transcript(of, ["Take milk.", "Avoid milk.", "Drink milk."]))
    cleared = entry(key("conflict", 1, 2), "consistent")
    raised = entry(key("conflict", 1, 2), "severe", "Avoid milk.", "Take milk.")
    told = [(reply_reading(of, 2, "Avoid milk.", (1, "Take milk.")), [cleared]), (window, [raised])]
    (one,) = due(of, told, {key("conflict", 1, 2): True}).values()
    assert (one.finding.why, one.finding.rule_confirms) == (Why.READING, True)


def test_what_a_list_lacks_is_a_question_on_the_whole_text_for_people() -> None:
    """Everything due has a question; no wording of it is put to a judge, and it names what it is about."""
    of = case(turns=3)
    (window,) = windows_of(of, _transcript(of, ["Take milk.", "Avoid milk.", "Drink milk."]))
    summed = summary_reading(of, 2, "Ann takes metformin.")
    lists = [key(kind, 3) for kind in ("conflict", "course", "misreported")]
    lost = [entry(at, UNSURE, doubt="missing") for at in lists]
    invented = key("invented", 2)
    found = due(of, [(window, lost), (summed, [entry(invented, UNSURE, doubt="missing")])])
    assert found.keys() == {*lists, invented}
    assert all(one.question.whole and one.question.key == at for at, one in found.items())
    assert len({one.question.id for one in found.values()}) == 4
    assert found[invented].question.text == "Ann takes metformin."
    shown = found[key("conflict", 3)].question.text
    assert shown == "Turn 1\nTake milk.\n\nTurn 2\nAvoid milk.\n\nTurn 3\nDrink milk."
    judge = ScriptedJudge()
    settled = run(lambda asker: settle(asker, found.values(), Judges("one", "one")), judge)
    assert judge.asked == []
    assert {finding.state for finding in settled.values()} == {State.OPEN}
    assert all(settled[at].question == one.question.id for at, one in found.items())


def test_a_row_whose_ends_disagree_is_settled_probe_by_probe() -> None:
    """Lost on turns 2 to 6 by the reading; the questions find it on turn 2 and not on 6: what of the turns between?"""
    of = case(turns=8)
    told = read(of, {turn: {"metformin": "absent"} for turn in range(2, 7)}, turns=8)
    found = due(of, told)
    follows = {at.turn: [led.turn for led in one.finding.follows] for at, one in found.items()}
    assert follows == {2: [], 6: [], **{turn: [2, 6] for turn in (3, 4, 5)}}

    def script(item: Any, wording: int) -> dict[str, Any]:
        return {"answer": "retained", "quote": "summary of turn"} if item.turn < 4 else {"answer": "absent"}

    judge = ScriptedJudge(script)
    judges = Judges("one", "one")
    settled = run(lambda asker: settle(asker, found.values(), judges), judge)
    states = {at.turn: str(finding.state) for at, finding in settled.items()}
    assert states == {2: "dismissed", 3: "dismissed", 4: "confirmed", 5: "confirmed", 6: "confirmed"}
    assert len(judge.asked) == 2 + 2 + 3  # both wordings where the first clears, one where it upholds
    agreeing = ScriptedJudge(lambda item, wording: {"answer": "absent"})
    run(lambda asker: settle(asker, found.values(), judges), agreeing)
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
    entries = [entry(key("fact", 2, "metformin"), answer, quote)]
    found = quote_doubts(of, [TextRead(summary_reading(of, 2, f"In short: {quote}."), entries)])
    assert found == ({key("fact", 2, "metformin")} if doubted else set())
