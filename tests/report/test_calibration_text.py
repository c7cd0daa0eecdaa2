"""A calibration as the command prints it."""

from __future__ import annotations

import datetime

from pytest_clinical_drift.judging.calibration_file import Attempt, Calibration, pooled
from pytest_clinical_drift.report.judge_text import render_calibration

FLOORS = {"sensitivity": 0.85, "subtle": 0.75, "specificity": 0.98}
FOUND = {"faults": {"a": (9, 10)}, "clean": {"a": (20, 20)}}


def made(*attempts: Attempt) -> Calibration:
    return Calibration(
        judge="reader", identity="x", proven=True, prompt_version="1", prompts="p", labelled="l", patients=1,
        attempts=attempts, kinds=pooled(attempts),
    )  # fmt: skip


def attempt(tokens: tuple[int, int] | None = None) -> Attempt:
    day = datetime.date(2026, 5, 1)
    return Attempt(made=day, texts=30, requests=1040, tokens=tokens, counts={"fact": FOUND})


def test_requests_tokens_and_pooled_shares_are_printed() -> None:
    """Requests of the newest attempt; the shares are those of all attempts."""
    first, second = attempt(), attempt((70_000, 900))
    lines = render_calibration(made(first, second), (), FLOORS).splitlines()
    assert lines[0].endswith(
        "30 texts in 1,040 requests, 70,000 prompt and 900 answer tokens; attempt 2, all attempts pooled"
    )
    (row,) = (line for line in lines if line.startswith("facts in summaries"))
    assert "18 of 20 (" in row
    assert "40 of 40 (" in row
    assert "tokens" not in render_calibration(made(first), (), FLOORS)


def test_a_judge_that_may_change_unseen_is_told_how_long_its_file_is_valid() -> None:
    """A model behind an alias; the same number of days after which the file is void."""
    unproven = made(attempt()).model_copy(update={"proven": False})
    assert "the judge's identity is not proven: valid for 30 days (" in render_calibration(unproven, (), FLOORS)
    assert "not proven" not in render_calibration(made(attempt()), (), FLOORS)


def test_a_weak_judge_is_told_from_too_few_texts() -> None:
    """9 of 10 faults have a limit of 0.61; 20 of 20 clean ones and no subtle fault say nothing."""
    (row,) = (line for line in render_calibration(made(attempt()), (), FLOORS).splitlines() if line.startswith("facts"))
    assert row.endswith(
        "no: sensitivity below its floor; too few texts to show its sensitivity to subtle faults, specificity"
    )
