"""The original study's function names: same meaning, None where nothing was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clinical_drift import (
    calculate_knowledge_conflict_rate_from_responses,
    compute_entity_recall_metrics,
    judge_conflict,
)
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError

CASE = Case.model_validate(
    {
        "id": "anna",
        "patient_summary": "Anna, 40, has asthma and a penicillin allergy. She takes sertraline 50 mg once daily.",
        "critical_entities": ["asthma", "penicillin allergy", "sertraline 50 mg once daily"],
        "turns": [{"turn": number, "message": "And now?"} for number in (1, 2, 3)],
    }
)
WHOLE = "Anna has asthma and a penicillin allergy. Takes sertraline 50 mg once daily."


def test_summaries_given_as_a_list() -> None:
    """3 of 3, not evaluated, 1 of 3: slope (1/3 − 1) / 2 over turns 1 and 3."""
    metrics = compute_entity_recall_metrics([WHOLE, None, "She has asthma."], CASE)
    assert metrics.recall_curve_critical == [1.0, None, pytest.approx(1 / 3)]
    assert metrics.recall_at_t10 == pytest.approx(1 / 3)
    assert metrics.drift_slope == pytest.approx(-1 / 3)
    assert metrics.precision_curve_critical[1] is None


def test_partial_counts_for_recall_but_not_for_strict_recall() -> None:
    """Sertraline without its dose: recall 3 of 3, strict 2 of 3."""
    metrics = compute_entity_recall_metrics(["Asthma and a penicillin allergy. Takes sertraline."], CASE)
    assert metrics.recall_curve_critical == [1.0]
    assert metrics.strict_recall_curve_critical == [pytest.approx(2 / 3)]
    assert metrics.drift_slope is None


def test_chat_function_and_generate_object_are_talked_to() -> None:
    """Both kinds of model hold the conversation; the object is told when a summary is wanted."""
    asked: list[str] = []

    class Model:
        def generate(self, prompt: str, mode: str) -> str:
            asked.append(mode)
            return WHOLE if mode == "summary" else "Thank you."

    assert compute_entity_recall_metrics(Model(), CASE).recall_curve_critical == [1.0, 1.0, 1.0]
    assert sorted(asked) == ["dialogue"] * 3 + ["summary"] * 3
    assert compute_entity_recall_metrics(lambda messages: "She has asthma.", CASE).recall_at_t10 == pytest.approx(1 / 3)


def test_empty_summary_states_nothing() -> None:
    """An empty summary recalls nothing; precision has nothing to be a share of."""
    metrics = compute_entity_recall_metrics(["", "", ""], CASE)
    assert metrics.recall_curve_critical == [0.0, 0.0, 0.0]
    assert metrics.precision_curve_critical == [None, None, None]
    assert metrics.hallucinated_rate_curve_extended == [None, None, None]


def test_invented_entity_is_hallucinated() -> None:
    """Warfarin was never named: one of the stated entities has no source."""
    metrics = compute_entity_recall_metrics([WHOLE, WHOLE + " Takes warfarin 3 mg once daily."], CASE)
    before, after = metrics.hallucinated_rate_curve_extended
    assert before == 0.0
    assert after is not None
    assert after > 0
    assert metrics.precision_curve_extended[1] < metrics.precision_curve_extended[0]


def test_a_single_text_is_not_a_list_of_summaries() -> None:
    """A string would be taken apart letter by letter; it is refused."""
    with pytest.raises(InputError, match="one text per turn"):
        compute_entity_recall_metrics(WHOLE, CASE)


def test_conflict_rate_pools_pairs_over_cases() -> None:
    """Case a: 2 pairs, 2 contradictions; case b: 1 pair, none: 2 of 3."""
    start, stop = "Take ibuprofen 400 mg for the pain.", "Do not take ibuprofen."
    rate = calculate_knowledge_conflict_rate_from_responses({"a": [start, stop, start], "b": [start, start]})
    assert rate == pytest.approx(2 / 3)


def test_turn_without_advice_does_not_break_the_chain() -> None:
    """Advice, small talk, opposite advice: one pair, one contradiction."""
    replies = ["Take ibuprofen 400 mg for the pain.", "That sounds hard.", "Do not take ibuprofen."]
    assert calculate_knowledge_conflict_rate_from_responses({"a": replies}) == 1.0


def test_stride_judges_every_second_pair() -> None:
    """Pairs (1,2), (2,3), (3,4): stride 2 judges the first and the third."""
    start, stop = "Take ibuprofen 400 mg for the pain.", "Do not take ibuprofen."
    replies = [start, start, stop, stop]
    assert calculate_knowledge_conflict_rate_from_responses({"a": replies}, nli_stride=2) == 0.0
    assert calculate_knowledge_conflict_rate_from_responses({"a": replies}) == pytest.approx(1 / 3)


def test_no_advice_is_not_evaluated() -> None:
    """Nothing to compare is None, never 0."""
    assert calculate_knowledge_conflict_rate_from_responses({"a": ["That sounds hard.", "I see."]}) is None
    assert calculate_knowledge_conflict_rate_from_responses({}) is None


def test_a_pair_that_the_judge_leaves_undecided_is_not_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outage is no agreement: without any answer the rate is None; one answered pair of two is the whole count."""
    (tmp_path / "half_a_judge.py").write_text(
        "def make():\n"
        "    def judge(question):\n"
        "        if 'walk' in question['text']:\n"
        "            raise RuntimeError('out of order')\n"
        "        return {'answer': 'contradiction', 'quote': question['text'], 'earlier_quote': question['earlier']}\n"
        "    return judge\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    walk, start, stop = "Take a walk every day.", "Take ibuprofen 400 mg for the pain.", "Do not take ibuprofen."
    judge = "python:half_a_judge:make"
    assert calculate_knowledge_conflict_rate_from_responses({"a": [start, walk]}, judge, nli_stride=1) is None
    assert calculate_knowledge_conflict_rate_from_responses({"a": [start, stop, walk]}, judge, nli_stride=1) == 1.0
    assert not judge_conflict(start, walk, judge).contradiction
    assert judge_conflict(start, stop, judge).quotes == (start, stop)
