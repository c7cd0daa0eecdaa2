"""Whose it is: relatives, other people, people by name, and nobody's."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.reading.text import read


def of_another(text: str, word: str) -> bool:
    document = read(text)
    place = document.words.index(word)
    return context_at(document, place, place).other_person


@pytest.mark.parametrize(
    "text",
    [
        "Her flatmate takes inhalers for asthma.",
        "Asthma in her mother.",
        "Mother: asthma, smokes.",
        "Partner: asthma, smokes.",
        "The inhaler is her cousin's, who has asthma.",
        "His father, himself treated for asthma, came along.",
        "Her 6-year-old son has asthma.",
        "(Colleague with asthma.)",
        "Twin sons; sister helps; landlady has asthma.",
    ],
)
def test_what_others_have_is_not_the_patients(text: str) -> None:
    """A relative or a friend as subject, owner or label."""
    assert of_another(text, "asthma")


@pytest.mark.parametrize(
    "text",
    [
        "Emil, 30, lives with his brother Otto. Emil has asthma.",
        "She moved in with her brother Emil. Has asthma.",
        "Her mother says that she has asthma.",
        "According to her mother she has asthma.",
        "Her asthma is looked after by her husband.",
        "Cared for by her daughter because of asthma.",
    ],
)
def test_people_beside_the_patient_take_nothing_away(text: str) -> None:
    """Somebody who reports, helps or lives there does not own what is said of the patient."""
    assert not of_another(text, "asthma")
