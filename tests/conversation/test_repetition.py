"""Loops are cut before a reply enters the history: what counts as one, what stays, and what it costs."""

from __future__ import annotations

import pytest
from growth import cpu_seconds

from pytest_clinical_drift.conversation.repetition import clean_repetition, repeated_share

SENTENCE = "Please take your morning tablet with a full glass of water today. "
"""Twelve words."""


def test_the_share_counts_words_of_stretches_that_stood_before() -> None:
    """Twelve words twice: the second twelve repeat; three times: two thirds."""
    assert repeated_share(SENTENCE) == 0.0
    assert repeated_share(SENTENCE * 2) == 0.5
    assert repeated_share(SENTENCE * 3) == pytest.approx(2 / 3)
    assert repeated_share("") == 0.0


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
def test_cost_is_linear_in_a_huge_reply(unit: str) -> None:
    """Four times the text costs about four times as much, not sixteen times."""

    def cost(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        return cpu_seconds(lambda: clean_repetition(text))

    small, large = (min(cost(size) for _ in range(4)) for size in (50_000, 200_000))
    assert large < 12 * small + 0.1  # quadratic growth would be 16 times
