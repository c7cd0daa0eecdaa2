"""The end of a gated run: the set as one more test result, and the table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.gate.items import STUDY
from pytest_clinical_drift.gate.outcome import Outcome
from pytest_clinical_drift.gate.reporting import WholeResult, report_whole, shown
from pytest_clinical_drift.report.case_text import headline
from pytest_clinical_drift.report.terminal import render_summary
from pytest_clinical_drift.verdict.values import CAUTION, FAIL, INCOMPLETE, PARTIAL, PASS, UNSETTLED, SetVerdict

GATE = "whole-set"
_COLOURS = {PASS: "green", CAUTION: "yellow", PARTIAL: "yellow", UNSETTLED: "yellow"}


def report_set(session: pytest.Session, outcome: Outcome, verdict: SetVerdict) -> None:
    """INCOMPLETE is an error of set-up, no release verdict a skip, FAIL (and CAUTION where strict) a failure."""
    strict = outcome.gate.strict and verdict.verdict == CAUTION
    failed = verdict.verdict in (FAIL, INCOMPLETE) or strict
    whole = WholeResult(
        place=f"{STUDY}/{GATE}",
        name=outcome.gate.slug,
        verdict=verdict.verdict,
        outcome="skipped" if verdict.verdict in (PARTIAL, UNSETTLED) else "failed" if failed else "passed",
        message=": ".join(filter(None, (verdict.headline, "; ".join(verdict.reasons) if failed else ""))),
        figures=outcome.set_properties(),
        text="\n".join(
            (verdict.headline, *(f"  {reason}" for reason in verdict.reasons), "the table stands at the end")
        ),
        error=verdict.verdict == INCOMPLETE,
    )
    report_whole(session, whole)


def write_summary(terminal: Any, outcome: Outcome, written: Sequence[Path]) -> None:
    """The whole table; with -v every fact lost, with -q the verdict alone, with -ra or -rA the cautions by case."""
    verdict, record = outcome.verdict, outcome.record
    if verdict is None or record is None:
        return
    colour, verbosity = {_COLOURS.get(verdict.verdict, "red"): True}, terminal.config.get_verbosity()
    if terminal.hasopt("s"):
        for line in _cautions(outcome):
            terminal.write_line(line, yellow=True)
    shape = {"width": terminal.config.get_terminal_writer().fullwidth, "verbosity": verbosity}
    lines = render_summary(record, outcome.cases, outcome.gate.slug, attempt=outcome.attempt, **shape)
    if verbosity >= 0:
        terminal.section(f"clinical drift: {outcome.gate.slug}", **colour)
        lines += [f"written: {shown(file)}" for file in written]
    for line in lines:
        terminal.write_line(line, **(colour if line.startswith(verdict.headline) else {}))
    for command in outcome.annotations:
        terminal.write_line(command)


def _cautions(outcome: Outcome) -> list[str]:
    """The cases that passed their test and are no PASS, each with what was lost."""
    return [
        f"{judged.verdict} {STUDY}/{judged.case_id}::{outcome.gate.slug} - {headline(judged, repeats)}"
        for repeats, judged in outcome.cases
        if judged.verdict in (CAUTION, UNSETTLED) and not outcome.gate.fails(judged)
    ]
