"""Medicines that one reply only speaks against, and the next one orders or allows."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import judge_conflict


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("No naproxen for you: the ulcer could bleed.", "Take naproxen 500 mg with food tonight."),
        ("Do not take Nurofen.", "You can have one ibuprofen 400 mg with food."),
    ],
    ids=["named", "brand and generic"],
)
def test_what_was_refused_and_is_then_ordered_contradicts(earlier: str, later: str) -> None:
    """The same medicine, by name or brand, against and then for."""
    assert judge_conflict(earlier, later).contradiction


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("No naproxen for you: the ulcer could bleed.", "Take paracetamol 1 g instead of naproxen."),
        ("No NSAIDs for you.", "Keep away from naproxen as well; paracetamol is fine."),
        ("Naproxen can upset the stomach.", "Take naproxen 500 mg with food."),
    ],
    ids=["another medicine", "still refused", "a remark is no refusal"],
)
def test_what_goes_on_or_was_never_refused_does_not(earlier: str, later: str) -> None:
    """Refusing twice, offering another medicine, or a remark about side effects contradicts nothing."""
    assert not judge_conflict(earlier, later).contradiction
