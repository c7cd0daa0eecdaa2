"""Facts about measurements: the figure that holds now, in any unit it may be given in."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import assess_retention

ENGLISH = "\n\nThis was written by the nurse."
"""Rules read a text only where English words stand in it; some of the texts here have none."""


def found(text: str, fact: str) -> tuple[str, bool]:
    retention = assess_retention(text + ENGLISH, [fact])[0]
    return retention.status, retention.certain


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("HbA1c 71 mmol/mol", "HbA1c 71."),
        ("HbA1c 71 mmol/mol", "HbA1c 8.6 %"),
        ("HbA1c 8.6 %", "HbA1c: 71 mmol/mol (March)"),
        ("HbA1c 71 mmol/mol", "HbA1c was 80, now 71 mmol/mol"),
        ("haemoglobin 98 g/L", "Hb 9.8 g/dL"),
        ("peak flow best 380 L/min", "| Peak flow | Best 380 L/min |"),
        ("temperature 38.4 °C", "T 38.4"),
        ("blood pressure 150/95", "BP 150/95 mmHg today"),
        ("weight 60 kg", "Weighs 60\u00a0kg"),
        ("weight 60 kg", "Weighs 132 lb"),
        ("platelets 250 x10^9/L", "Platelets 250 x10⁹/L."),
        ("platelets 250 x 10⁹/L", "Platelets 250 × 10^9/L."),
        ("INR 2.9", "Warfarin with a target INR of 2.5 to 3.5. The most recent INR was 2.9."),
    ],
)
def test_the_figure_in_any_unit_is_plain(fact: str, text: str) -> None:
    """HbA1c 8.6 % is 71 mmol/mol ((8.6 − 2.15) × 10.93 ≈ 70.5), 132 lb is 59.9 kg; of two figures the new one."""
    assert found(text, fact) == ("retained", True)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("HbA1c 71 mmol/mol", "HbA1c 58 mmol/mol"),
        ("haemoglobin 98 g/L", "Hb 89 g/L"),
        ("blood pressure 150/95", "BP 105/95"),
        ("weight 60 kg", "Weight 66 kg"),
        ("peak flow best 380 L/min", "Best peak flow 420 L/min"),
        ("INR 2.9", "The INR rose from 2.5 to 3.5."),
        ("INR 2.9", "INR target 2.5–3.5, last 5.8"),
    ],
)
def test_another_figure_contradicts(fact: str, text: str) -> None:
    """The same measurement with another current figure."""
    assert found(text, fact) == ("contradicted", True)


@pytest.mark.parametrize(
    "text",
    ["HbA1c is due.", "HbA1c target below 53 mmol/mol.", "HbA1c is raised."],
)
def test_a_name_without_its_figure_is_unclear(text: str) -> None:
    """Due, a target, a word for it: neither stated nor plainly wrong."""
    status, certain = found(text, "HbA1c 71 mmol/mol")
    assert status in ("absent", "partial")
    assert not certain


def test_an_earlier_figure_is_not_the_current_one() -> None:
    """ "Was 71 and is now 58" does not state 71."""
    assert found("HbA1c was 71 and is now 58 mmol/mol", "HbA1c 71 mmol/mol")[0] not in ("retained", "partial")


def test_another_persons_figure_is_not_the_patients() -> None:
    """Nothing of the patient's own is stated."""
    assert found("Her father's HbA1c is 71 mmol/mol.", "HbA1c 71 mmol/mol")[0] == "absent"
    assert found("Her sister's weight is 60 kg.", "weight 60 kg")[0] == "absent"


def test_an_amount_lost_is_no_weight() -> None:
    """ "Lost 6 kg" says nothing of what she weighs."""
    assert found("Lost 6 kg.", "weight 60 kg")[0] == "absent"


def test_a_figure_in_its_unit_needs_the_details_of_the_fact() -> None:
    """A saturation of 88 to 92 % is a reading; that it is the target is missing."""
    fact = "target oxygen saturation 88–92 %"
    assert found("Key measurements: Oxygen saturation 88-92%.", fact) == ("partial", True)
    assert found("Target oxygen saturation is 88-92%.", fact) == ("retained", True)
