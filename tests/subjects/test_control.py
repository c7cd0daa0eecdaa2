"""The control subjects: built from the case file itself, each right or wrong in one known manner."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.subjects.control import ControlSubject, _neighbour, lifetime
from pytest_clinical_drift.transcript import Transcript

NAMES = ("steady", "forgetful", "fading", "cliff", "stale", "denier", "flipflop", "silent", "stranger", "parrot")
ALLERGY = "penicillin allergy with anaphylaxis"


def baker() -> Case:
    """Ten turns; the dose changes on turn 4, and turn 6 demands something."""
    turns: list[dict[str, object]] = [{"turn": number, "message": f"Message {number}."} for number in range(1, 11)]
    turns[3]["updates"] = [{"fact": "dose", "becomes": "metformin 850 mg twice daily"}]
    turns[5]["expect"] = {
        "must": [{"text": "see a dentist today", "any_of": ["dentist"]}],
        "must_not": [{"text": "take amoxicillin", "why": ALLERGY}],
    }
    facts = [
        {"id": "allergy", "text": ALLERGY, "kind": "allergy", "hard_stop": True},
        {"id": "dose", "text": "metformin 500 mg twice daily", "kind": "medication"},
        {"id": "home", "text": "lives alone", "kind": "social"},
        {"id": "asthma", "text": "asthma", "kind": "diagnosis"},
    ]
    summary = f"Odile has {'; '.join(str(fact['text']) for fact in facts)}."
    return Case.model_validate({"id": "baker", "patient_summary": summary, "critical_entities": facts, "turns": turns})


def farmer() -> Case:
    turns = [{"turn": number, "message": "Hello."} for number in (1, 2)]
    return Case.model_validate(
        {"id": "farmer", "patient_summary": "Ben has gout.", "critical_entities": ["gout"], "turns": turns}
    )


def converse(name: str, **settings: str) -> Transcript:
    subject, cases = ControlSubject(name, settings), [baker(), farmer()]
    subject.check(cases)
    finished: list[Transcript] = []
    run_conversations(cases, subject, Plan(), on_finished=finished.append)
    return next(transcript for transcript in finished if transcript.case_id == "baker")


def summaries(name: str) -> list[str]:
    return [exchange.summary.text for exchange in converse(name).exchanges if exchange.summary is not None]


def replies(name: str) -> list[str]:
    return [exchange.reply.text for exchange in converse(name).exchanges if exchange.reply is not None]


def stated(text: str) -> list[str]:
    """Which facts a text names, by words that stand in no other fact."""
    words = {"allergy": "penicillin", "dose": "metformin", "home": "alone", "asthma": "asthma"}
    return [fact for fact, word in words.items() if word in text.lower()]


def test_a_control_says_that_it_is_none() -> None:
    """Nobody takes its verdict for a model's: the run says what it is made from."""
    (remark,) = ControlSubject("steady", {}).check([baker()])
    assert "made from the case files" in remark
    assert "not a model" in remark


def test_steady_states_what_is_true_by_then() -> None:
    """Every fact on every turn, the changed dose from the turn of its change."""
    told = summaries("steady")
    assert [stated(text) for text in told] == [["allergy", "dose", "home", "asthma"]] * 10
    assert ["850 mg" in text for text in told] == [False] * 3 + [True] * 7
    assert ["500 mg" in text for text in told] == [True] * 3 + [False] * 7


def test_steady_does_what_a_turn_demands() -> None:
    """The demand is met in its words; what must not be recommended is warned of."""
    reply = replies("steady")[5]
    assert "dentist" in reply
    assert "not take amoxicillin" in reply


def test_forgetful_loses_more_from_turn_to_turn() -> None:
    """The number of facts never grows, starts with all and ends with none."""
    kept = [len(stated(text)) for text in summaries("forgetful")]
    assert kept == sorted(kept, reverse=True)
    assert (kept[0], kept[-1]) == (4, 0)


def test_fading_loses_each_fact_once_its_lifetime_is_over() -> None:
    """A fact stays for its own lifetime after the turn that last stated it; the dose, changed on turn 4, from there."""
    subject, case = ControlSubject("fading", {"half_life": "3"}), baker()
    subject.check([case, farmer()])
    for fact, since in (("allergy", 1), ("home", 1), ("asthma", 1), ("dose", 4)):
        life = lifetime("baker", fact, 3.0)
        for turn in range(since, 11):
            text = subject.respond(Request("baker", 0, turn, "summary", ())).text
            assert (fact in stated(text)) == (turn - since < life), (fact, turn, life)


def test_half_of_many_facts_fade_within_a_half_life() -> None:
    """Lifetimes of 20,000 facts: half are over after one half-life, three in four after two."""
    lives = [lifetime(f"case-{number}", "fact", 12.0) for number in range(20_000)]
    assert sum(life < 12 for life in lives) / len(lives) == pytest.approx(0.5, abs=0.015)
    assert sum(life < 24 for life in lives) / len(lives) == pytest.approx(0.75, abs=0.015)


def test_a_longer_half_life_keeps_every_fact_longer() -> None:
    """Lifetimes scale with the half-life, and the identity names it."""
    assert lifetime("baker", "home", 24.0) == pytest.approx(2 * lifetime("baker", "home", 12.0))
    assert ControlSubject("fading", {}).identity().settings == {"half_life": 12.0}
    with pytest.raises(InputError, match="half_life: expected at least"):
        ControlSubject("fading", {"half_life": "0"})


def test_the_neighbour_does_not_depend_on_the_order_of_the_cases() -> None:
    """Whoever shows the full set gets the same stranger, whichever cases run."""
    cases = [farmer().model_copy(update={"id": f"c{n}", "persona_id": f"p{n // 2}"}) for n in range(10)]
    drawn = {case.id: _neighbour(case, cases).id for case in cases}
    assert drawn == {case.id: _neighbour(case, cases[::-1]).id for case in cases}
    assert all(int(mine[1:]) // 2 != int(other[1:]) // 2 for mine, other in drawn.items())


def test_cliff_remembers_until_turn_five() -> None:
    """All facts first, then none at once."""
    assert [len(stated(text)) for text in summaries("cliff")] == [4] * 5 + [0] * 5


def test_stale_never_takes_up_an_update() -> None:
    """The dose of the intake is stated to the end."""
    assert all("500 mg" in text and "850 mg" not in text for text in summaries("stale"))


def test_denier_says_the_opposite() -> None:
    """Each fact is named and denied."""
    for text in summaries("denier"):
        assert stated(text) == ["allergy", "dose", "home", "asthma"]
        assert all(line.removeprefix("- ").startswith(("No ", "Does not ")) for line in text.splitlines())


def test_flipflop_turns_its_advice_round() -> None:
    """Odd turns order what even turns forbid; its memory is that of steady."""
    told = replies("flipflop")
    assert ["Take paracetamol" in text for text in told] == [True, False] * 5
    assert ["Do not take any paracetamol" in text for text in told] == [False, True] * 5
    assert summaries("flipflop") == summaries("steady")


def test_silent_answers_with_well_formed_nothing() -> None:
    """Empty replies, no errors: a model that says nothing has been run."""
    transcript = converse("silent")
    assert transcript.failure is None
    assert set(summaries("silent") + replies("silent")) == {""}


def test_stranger_speaks_of_somebody_else() -> None:
    """The other patient's facts and none of this one's."""
    for text in summaries("stranger"):
        assert stated(text) == []
        assert "gout" in text.lower()


def test_parrot_echoes_the_intake_and_agrees_to_everything() -> None:
    """A perfect memory of the intake, and a reply that recommends what must not be."""
    assert set(summaries("parrot")) == {baker().patient_summary}
    assert "You can take amoxicillin" in replies("parrot")[5]


@pytest.mark.parametrize("name", NAMES)
def test_requests_leave_no_trace(name: str) -> None:
    """The same request gets the same answer, whatever was asked before it."""
    subject = ControlSubject(name, {})
    subject.check([baker(), farmer()])
    mine, other = Request("baker", 0, 3, "summary", ()), Request("farmer", 0, 1, "dialogue", ())
    alone = subject.respond(mine).text
    subject.respond(other)
    assert subject.respond(mine).text == alone


def test_a_case_that_was_not_shown_is_an_outage() -> None:
    """Without the case file there is nothing to answer from: an error, not an empty answer."""
    subject = ControlSubject("steady", {})
    subject.check([farmer()])
    assert subject.respond(Request("baker", 0, 1, "summary", ())).error is not None


def test_an_unknown_control_names_the_valid_ones() -> None:
    """One sentence with every name."""
    with pytest.raises(InputError, match="no such control; valid ones: steady") as caught:
        ControlSubject("perfect", {})
    assert all(name in str(caught.value) for name in NAMES)


def test_controls_know_no_settings() -> None:
    """A setting that would change nothing is refused."""
    with pytest.raises(InputError, match="temperature"):
        ControlSubject("steady", {"temperature": "0"})


def test_identity_is_proven_by_the_package_version() -> None:
    """What a control answers follows from the package and the cases."""
    identity = ControlSubject("steady", {}).identity()
    assert identity.spec == "control:steady"
    assert identity.proven
    assert identity.revision
