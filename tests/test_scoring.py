"""From a transcript to the figures of a case."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import scoring
from pytest_clinical_drift.assessment import (
    CaseAssessment,
    assessment_from_json,
    assessment_to_json,
)
from pytest_clinical_drift.cases import Case, facts_at
from pytest_clinical_drift.evidence.entities import EntityScorer
from pytest_clinical_drift.evidence.extraction import entity_scores
from pytest_clinical_drift.evidence.judges import load_judge
from pytest_clinical_drift.evidence.text import Document, read
from pytest_clinical_drift.scoring import Scorer, assess_facts, assess_summary
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript


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


def test_one_reading_serves_facts_and_entities(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same findings and counts as from two readings, with the summary read a single time."""
    changing = case(turns=UPDATED)
    summary = "Penicillin allergy. Takes sertraline 50 mg once daily, and has gout."
    apart = (assess_facts(summary, facts_at(changing, 2)), EntityScorer(changing).score(summary, 2))
    entities = EntityScorer(changing)
    texts: list[str] = []

    def count(text: str) -> Document:
        texts.append(text)
        return read(text)

    monkeypatch.setattr(scoring, "read", count)
    monkeypatch.setattr(entity_scores, "read", lambda text: pytest.fail("read again"))
    assert assess_summary(summary, changing, 2, entities) == apart
    assert texts == [summary]


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
