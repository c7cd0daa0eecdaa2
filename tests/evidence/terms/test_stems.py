"""Forms of one word share a key; words that only look alike do not."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.terms.words import stem


@pytest.mark.parametrize(
    "forms",
    [
        "sell sells selling sold",
        "run runs running ran",
        "drive drives driving drove driven",
        "teach teaches teaching taught",
        "cry cries crying cried",
        "hate hates hating hated",
        "box boxes boxing boxed",
        "nurse nurses nursing nursed",
        "tour tours touring toured",
        "travel travels travelling traveling travelled",
        "breathe breathes breathing breathed",
        "eat eats eating ate eaten",
        "rob robs robbing robbed",
        "organise organises organising organised organized organizing",
    ],
)
def test_forms_meet(forms: str) -> None:
    """Regular and irregular inflections of one word."""
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("caring", "car"), ("hating", "hat"), ("rating", "rat"), ("evening", "even"), ("being", "bee"), ("need", "nee")],
)
def test_look_alikes_do_not(one: str, other: str) -> None:
    """A shared beginning is not a shared word."""
    assert stem(one) != stem(other)
