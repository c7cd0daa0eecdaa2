"""Counts, lists and foreign values in sentences."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.core.text import counted, listed, shortened


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "case", "0 cases"),
        (1, "case", "1 case"),
        (2, "reply", "2 replies"),
        (1.0, "pair", "1 pair"),
        (2.5, "pair", "2.5 pairs"),
        (12345, "token", "12,345 tokens"),
    ],
)
def test_counts_have_the_form_of_the_noun_that_fits(count: float, noun: str, text: str) -> None:
    assert counted(count, noun) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (("a", "b", "c"), "a, b and c")],
)
def test_lists_end_in_and(names: list[str], text: str) -> None:
    assert listed(names) == text


def test_values_of_a_file_are_bounded() -> None:
    """Nothing at all, a short value as it stands, and a long one with an ellipsis within 60 characters."""
    assert shortened(None) == "nothing"
    assert shortened({"turn": 3}) == "{'turn': 3}"
    assert shortened([["x" * 50] * 50] * 50).endswith("…")
    assert len(shortened([["x" * 50] * 50] * 50)) <= 60
    assert len(shortened({"turn": 1 << 20000})) <= 60
