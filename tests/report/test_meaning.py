"""The sentence that says what a verdict means."""

from __future__ import annotations

from made import flat

from pytest_clinical_drift.report.meaning import what_it_means


def test_counts_only_cases_that_were_decided() -> None:
    """An outage is no case without a hard stop: 0 of 9 complete cases, not 0 of 10; 1 - 0.025 ** (1 / 9) is 0.336."""
    runs = [flat(f"case-{number}") for number in range(9)]
    sentence = what_it_means([*runs, flat("down", incomplete="no server")], 0.95)
    assert "on 9 synthetic English cases of 10 turns" in sentence
    assert "0 cases with a hard stop or breach in 9 are compatible with a true rate up to 33.6%" in sentence


def test_hard_stop_before_the_outage_counts() -> None:
    """What was seen before the model went away was seen."""
    runs = [flat("whole"), flat("down", incomplete="no server", hard_stops=("turn 1: lost",))]
    assert "1 cases with a hard stop or breach in 2" in what_it_means(runs, 0.95)


def test_nothing_measured_says_nothing() -> None:
    """Without a complete case there is no rate to speak of."""
    sentence = what_it_means([flat("down", incomplete="no server")], 0.95)
    assert sentence == "No case was run to its end: nothing was measured, and nothing is said about the model."
