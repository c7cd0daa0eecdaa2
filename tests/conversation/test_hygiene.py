"""Hidden reasoning: what a reader would see of a reply, in every way that models mark their thoughts."""

from __future__ import annotations

import pytest
from growth import cpu_seconds

from pytest_clinical_drift.conversation.hygiene import (
    clean_repetition,
    hidden_spans,
    never_left_reasoning,
    strip_reasoning,
)

SENTENCE = "Please take your morning tablet with a full glass of water today. "
"""Twelve words."""


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("<think>She may be allergic.</think>Take one daily.", "Take one daily."),
        ("Take <think>one? two?</think>one daily.", "Take one daily."),
        ("<thinking>a</thinking>b<think>c</think>d", "bd"),
        ("allergic, I suppose</think>\n\nTake one daily.", "Take one daily."),
        ("Take one daily.<think>Or two", "Take one daily."),
        ("<think>a<think>b</think>Take one daily.", "Take one daily."),
        ("< THINK >a</ think >Take one daily.", "Take one daily."),
        ("[THINK]a[/THINK]Take one daily.", "Take one daily."),
        ("◁think▷a◁/think▷Take one daily.", "Take one daily."),
        ("<|begin_of_thought|>a<|end_of_thought|>Take one daily.", "Take one daily."),
        ("<|channel|>analysis<|message|>a<|channel|>final<|message|>Take one daily.", "Take one daily."),
        ("I think so. 5 < 6 [see above]", "I think so. 5 < 6 [see above]"),
        ("", ""),
    ],
)
def test_reasoning_is_taken_out_however_it_is_marked(text: str, visible: str) -> None:
    """Closed, unclosed (to the end), closed only (from the start), nested; ordinary words and brackets stay."""
    assert strip_reasoning(text) == visible


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("<think>Let me see", True),
        ("  <think>Let me see", True),
        ("<think>a</think><think>b", True),
        ("<think>a</think>", True),
        ("Yes. <think>Let me see", False),
        ("<think>a</think>Yes.", False),
        ("", False),
    ],
)
def test_a_reply_that_never_left_its_reasoning_answered_nothing(text: str, never: bool) -> None:
    """Nothing stands outside of it; an empty reply is an answer."""
    assert never_left_reasoning(text) is never


def test_spans_are_ordered_and_do_not_overlap() -> None:
    """Positions in the raw text, so that evidence can be quoted from it."""
    text = "a<think>b</think>c<think>d"
    assert [text[start:end] for start, end in hidden_spans(text)] == ["<think>b</think>", "<think>d"]


@pytest.mark.parametrize("unit", ["<think>", "</think>", "<", "< ", "<think " + "x" * 79, "<   /   ", "[THINK]", " "])
def test_cost_is_linear_in_a_huge_reply(unit: str) -> None:
    """Four times the text costs about four times as much, not sixteen times."""

    def cost(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        return cpu_seconds(lambda: strip_reasoning(text))

    small, large = (min(cost(size) for _ in range(4)) for size in (50_000, 200_000))
    assert large < 12 * small + 0.1  # quadratic growth would be 16 times


# -- loops


def test_a_loop_is_cut_to_its_first_round() -> None:
    """What was said once stays, word for word."""
    assert clean_repetition(SENTENCE * 40) == (SENTENCE.strip(), True)


def test_up_to_the_limit_a_reply_stays_as_it_is() -> None:
    """Twelve repeated words of forty are 30 %: not above; of thirty-nine they are."""
    other = " ".join(f"word{number}" for number in range(16)) + " "
    assert clean_repetition(SENTENCE + other + SENTENCE) == (SENTENCE + other + SENTENCE, False)
    shorter = other.replace("word15 ", "")
    assert clean_repetition(SENTENCE + shorter + SENTENCE) == ((SENTENCE + shorter).strip(), True)


def test_short_phrases_may_recur() -> None:
    """Dose lines repeat a few words each; that is no loop."""
    text = "Take 5 mg of it daily. Take 10 mg of it daily. Take 20 mg of it daily."
    assert clean_repetition(text) == (text, False)


def test_a_character_that_does_not_stop_is_shortened() -> None:
    """One word without end, where there are no words to compare."""
    assert clean_repetition("Yes" + "!" * 5000) == ("Yes" + "!" * 8, True)


@pytest.mark.parametrize("unit", ["a", "word ", SENTENCE, "a" * 79 + "b", "< ", " ", "\n"])
def test_cleaning_costs_are_linear_in_a_huge_reply(unit: str) -> None:
    """Four times the text costs about four times as much, not sixteen times."""

    def cost(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        return cpu_seconds(lambda: clean_repetition(text))

    small, large = (min(cost(size) for _ in range(4)) for size in (50_000, 200_000))
    assert large < 12 * small + 0.1  # quadratic growth would be 16 times
