"""The gate on the whole set as one more test result."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.gate.outcome import RunOutcome
from pytest_clinical_drift.gate.reporting import WholeResult, report_whole
from pytest_clinical_drift.gate.selection import STUDY
from pytest_clinical_drift.verdict.values import CAUTION, FAIL, INCOMPLETE, PARTIAL, UNSETTLED, SetVerdict

GATE = "whole-set"


def report_gate(session: pytest.Session, outcome: RunOutcome, verdict: SetVerdict) -> None:
    """INCOMPLETE is an error of set-up, no release verdict a skip, FAIL (and CAUTION where strict) a failure."""
    strict = outcome.run.settings.strict and verdict.verdict == CAUTION
    failed = verdict.verdict in (FAIL, INCOMPLETE) or strict
    message = verdict.headline
    if failed and verdict.reasons:
        message = f"{message}: {'; '.join(verdict.reasons)}"
    whole = WholeResult(
        place=f"{STUDY}/{GATE}",
        name=outcome.run.slug,
        verdict=verdict.verdict,
        outcome="skipped" if verdict.verdict in (PARTIAL, UNSETTLED) else "failed" if failed else "passed",
        message=message,
        figures=outcome.gate_properties(),
        text="\n".join(
            (verdict.headline, *(f"  {reason}" for reason in verdict.reasons), "the table stands at the end")
        ),
        error=verdict.verdict == INCOMPLETE,
    )
    report_whole(session, whole)
