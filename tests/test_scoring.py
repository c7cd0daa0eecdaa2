"""From findings to hard stops, stale facts and figures: the rules, on findings made by hand."""

from __future__ import annotations

from pytest_clinical_drift.assessment import (
    CaseAssessment,
    EntityScores,
    FactFinding,
    TurnAssessment,
    assessment_from_json,
    assessment_to_json,
)
from pytest_clinical_drift.cases import Case, facts_at
from pytest_clinical_drift.evidence.judges import load_judge
from pytest_clinical_drift.scoring import Scorer, _contradicted_facts, _hard_stops, _stale_facts, assess_facts
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript

NOTHING = EntityScores(None, None, None, None)


def case_turns(count: int) -> list[dict[str, object]]:
    return [{"turn": number, "message": "Hello."} for number in range(1, count + 1)]


def case(**extra: object) -> Case:
    data: dict[str, object] = {
        "id": "anna",
        "patient_summary": "Anna is allergic to penicillin (anaphylaxis) and takes sertraline 50 mg once daily.",
        "critical_entities": [
            {"id": "allergy", "text": "penicillin allergy", "kind": "allergy", "hard_stop": True},
            {"id": "sertraline", "text": "sertraline 50 mg once daily"},
        ],
        "turns": case_turns(12),
    }
    data.update(extra)
    return Case.model_validate(data)


def turns_of(statuses: str, *, hard_stop: bool = True, stale: bool = False) -> list[TurnAssessment]:
    """One fact over the turns: r retained, a absent, c contradicted."""
    names = {"r": "retained", "a": "absent", "c": "contradicted", "p": "partial"}
    return [
        TurnAssessment(
            turn,
            (FactFinding("fact", "the fact", names[letter], "why", (), hard_stop, stale and letter == "c"),),
            1.0,
            1.0,
            NOTHING,
            NOTHING,
        )
        for turn, letter in enumerate(statuses, start=1)
    ]


def test_hard_stop_contradicted_once_is_fatal() -> None:
    """Denied on any turn, even one after the horizon."""
    assert _hard_stops(case(), turns_of("rrrrrrrrrrcr"))[0] == ('turn 11: contradicted "the fact" (hard stop)',)


def test_hard_stop_absent_twice_in_a_row_is_fatal() -> None:
    """Two turns running without it: lost since the first of them."""
    assert _hard_stops(case(), turns_of("rraarrrrrrrr")) == (('turn 3: lost "the fact" (hard stop)',), ())


def test_hard_stop_absent_at_the_horizon_or_the_end_is_fatal() -> None:
    """Turn 10 and the last turn count by themselves."""
    assert _hard_stops(case(), turns_of("rrrrrrrrrarr"))[0] == ('turn 10: lost "the fact" (hard stop)',)
    assert _hard_stops(case(), turns_of("rrrrrrrrrrra"))[0] == ('turn 12: lost "the fact" (hard stop)',)


def test_hard_stop_absent_once_is_a_slip() -> None:
    """Missing from one summary and back again: a warning. A partial statement is none."""
    assert _hard_stops(case(), turns_of("rrarrrrrarrr")) == ((), ('turn 3: "the fact" (hard stop) missing once',))
    assert _hard_stops(case(), turns_of("rrrrrrrrrprp")) == ((), ())


def test_other_facts_are_no_hard_stops() -> None:
    """Only marked facts stop a release by themselves; a wrong one is still reported."""
    turns = turns_of("rrcrrrrrrrrr", hard_stop=False)
    assert _hard_stops(case(), turns) == ((), ())
    assert _contradicted_facts(case(), turns, set()) == ('turn 3: contradicted "the fact"',)


def test_contradiction_after_the_horizon_is_not_counted_among_the_gated() -> None:
    """The gated figures use turns 1 to 10."""
    assert _contradicted_facts(case(), turns_of("rrrrrrrrrrcr", hard_stop=False), set()) == ()


def test_stale_once_is_forgiven_stale_twice_is_not() -> None:
    """An update may be missed once; two turns running, or at the end, it was not taken up."""
    assert not _stale_facts(case(), turns_of("rrcrrrrrrrrr", hard_stop=False, stale=True))
    lasting = _stale_facts(case(), turns_of("rrccrrrrrrrr", hard_stop=False, stale=True))
    assert list(lasting) == ['turn 3: "the fact" not taken up (why)']
    assert not _contradicted_facts(case(), turns_of("rrccrrrrrrrr", hard_stop=False, stale=True), set(lasting))


UPDATED = [
    {"turn": 1, "message": "Hello."},
    {
        "turn": 2,
        "message": "They raised my sertraline to 100 mg once daily.",
        "updates": [{"fact": "sertraline", "becomes": "sertraline 100 mg once daily"}],
    },
    {"turn": 3, "message": "They stopped it.", "updates": [{"fact": "sertraline", "ended": True}]},
]


def test_facts_are_judged_by_what_is_true_by_then() -> None:
    """The old dose is right before the update and stale after it; the new one is right then."""
    changing = case(turns=UPDATED)
    old, new = "Takes sertraline 50 mg once daily.", "Takes sertraline 100 mg once daily."
    before = assess_facts(old, facts_at(changing, 1))[1]
    assert (before.status, before.stale) == ("retained", False)
    stale = assess_facts(old, facts_at(changing, 2))[1]
    assert (stale.status, stale.stale) == ("contradicted", True)
    assert stale.reason == "stale: still states 'sertraline 50 mg once daily'"
    assert old[stale.quotes[0].start : stale.quotes[0].end] == stale.quotes[0].text
    assert assess_facts(new, facts_at(changing, 2))[1].status == "retained"


def test_ended_fact_counts_only_when_stated_as_current() -> None:
    """Once ended it leaves the facts to be remembered, unless the summary still claims it."""
    ended = facts_at(case(turns=UPDATED), 3)
    assert [finding.fact_id for finding in assess_facts("Penicillin allergy.", ended)] == ["allergy"]
    claimed = assess_facts("Penicillin allergy. Takes sertraline 100 mg once daily.", ended)
    assert [(finding.fact_id, finding.status) for finding in claimed] == [
        ("allergy", "retained"),
        ("sertraline", "contradicted"),
    ]


def scored_turns(summaries: list[str | None]) -> CaseAssessment:
    exchanges = tuple(
        Exchange(turn, "Hello.", Reply("Thank you."), Reply(text) if text is not None else Reply("", error="timeout"))
        for turn, text in enumerate(summaries, start=1)
    )
    scorer = Scorer(load_judge("rules"), 1)
    return scorer.score(case(turns=case_turns(len(summaries))), Transcript("anna", exchanges))


def test_curve_index_is_the_turn_number_even_when_a_turn_failed() -> None:
    """Turn 2 could not be had: the curve is 1.0, nothing, 0.5 and the slope uses turns 1 and 3."""
    whole = "Penicillin allergy. Takes sertraline 50 mg once daily."
    assessment = scored_turns([whole, None, "Penicillin allergy."])
    assert assessment.recall_curve == (1.0, None, 0.5)
    assert assessment.slope is not None
    assert assessment.slope.slope == -0.25
    assert assessment.recall_at(2) is None


def test_no_advice_means_k_is_not_evaluated() -> None:
    """Replies without advice give no pair: the rate is undefined, with the reason."""
    conflict = scored_turns(["Penicillin allergy."] * 3).conflict
    assert conflict.rate is None
    assert conflict.pairs == 0
    assert conflict.reason


def test_reasoning_does_not_count() -> None:
    """Facts that stand only in hidden reasoning were not said."""
    assessment = scored_turns(["<think>penicillin allergy, sertraline 50 mg once daily</think>Fine.", "Fine."])
    assert assessment.recall_curve == (0.0, 0.0)


def test_assessment_survives_the_way_between_processes() -> None:
    """JSON and back gives the same values, hostile text included."""
    assessment = scored_turns(["Penicillin allergy \ud800\x00 <b>", "Takes sertraline 50 mg once daily.", None])
    assert assessment_from_json(assessment_to_json(assessment)) == assessment


class _TwoWords:
    """An embedder that counts two words, so that cosines can be worked out by hand."""

    def embed(self, texts: list[str]) -> list[list[float]]:
        return [[float(text.lower().count("ibuprofen")), float(text.lower().count("rest"))] for text in texts]


def test_alignment_is_the_cosine_of_advice_and_plan() -> None:
    """Advice names ibuprofen once, the plan ibuprofen and rest: cosine 1 / sqrt(2)."""
    planned = case(turns=case_turns(2), target_plan="Ibuprofen and rest.")
    exchanges = tuple(Exchange(turn, "Hello.", Reply("Take ibuprofen 400 mg."), Reply("Fine.")) for turn in (1, 2))
    scorer = Scorer(load_judge("rules"), 1, embedder=_TwoWords())
    assessment = scorer.score(planned, Transcript("anna", exchanges))
    assert assessment.alignment is not None
    assert abs(assessment.alignment - 0.5**0.5) < 1e-9
    assert len(assessment.alignment_curve) == 2


def test_alignment_without_embedder_or_plan_says_why() -> None:
    """Not evaluated is None with the reason."""
    assert scored_turns(["Fine.", "Fine."]).alignment is None
    assert scored_turns(["Fine.", "Fine."]).alignment_reason == "no embedder was given"
    exchanges = (Exchange(1, "Hello.", Reply("Take ibuprofen."), Reply("Fine.")),)
    without = Scorer(load_judge("rules"), 1, embedder=_TwoWords()).score(case(), Transcript("anna", exchanges))
    assert without.alignment is None
    assert "plan" in without.alignment_reason
