"""A calibration as the command prints it."""

from __future__ import annotations

import datetime

from pytest_clinical_drift.judging.calibration_file import Attempt, Calibration, pooled
from pytest_clinical_drift.report.calibration_text import render_calibration

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
    assert "18/20 (≥ " in row
    assert "40/40 (≥ " in row
    assert row.endswith("  no")
    assert "tokens" not in render_calibration(made(first), (), FLOORS)


def test_a_judge_that_may_change_unseen_is_told_how_long_its_file_is_valid() -> None:
    """A model behind an alias; the same number of days after which the file is void."""
    unproven = made(attempt()).model_copy(update={"proven": False})
    assert "the judge's identity is not proven: valid for 30 days (" in render_calibration(unproven, (), FLOORS)
    assert "not proven" not in render_calibration(made(attempt()), (), FLOORS)


def test_a_weak_judge_is_told_from_too_few_texts() -> None:
    """9 of 10 faults have a limit of 0.61; 20 of 20 clean ones and no subtle fault say nothing."""
    lines = render_calibration(made(attempt()), (), FLOORS).splitlines()
    assert lines[lines.index("decides nothing on") + 1] == (
        "  facts in summaries: sensitivity below its floor; too few texts to show its sensitivity to subtle faults, "
        "specificity"
    )
    assert "decides nothing on" not in render_calibration(made(attempt()), ("fact",), FLOORS)


def test_parts_of_a_kind_are_told_as_such_in_a_table_that_fits_a_terminal() -> None:
    """Broken demands are decided together: their parts have no decision of their own. Of each share the limit that
    counts is given: the lower one of what was done well, the upper one of errors."""
    patients = [f"p{number}" for number in range(56)]
    pairs = {"faults": (15, 16), "subtle": (7, 8), "clean": (99, 100), "false": (1, 100), "missed": (1, 16)}
    shares = {name: dict.fromkeys(patients, pair) for name, pair in pairs.items()}
    kinds = ("breach", "must", "must_not", "forbidden", "course", "misreported")
    full = made(attempt().model_copy(update={"counts": dict.fromkeys(kinds, shares)}))
    lines = render_calibration(full, ("breach",), FLOORS).splitlines()
    table = {line.split("  ")[0]: line for line in lines[1:10]}
    assert table["broken demands"].endswith("  yes")
    assert table["misreported advice"].endswith("  no")
    for part in ("demands met", "demands not to", "what facts rule out"):
        assert table[part].endswith("  part of broken demands")
    limits = full.kinds["must"]
    assert f"840/896 (≥ {limits.sensitivity.low:.3f})" in table["demands met"]
    assert f"56/896 (≤ {limits.missed.high:.3f})" in table["demands met"]
    assert f"56/5600 (≤ {limits.false_confirmed.high:.3f})" in table["demands met"]
    assert max(map(len, table.values())) <= 150
