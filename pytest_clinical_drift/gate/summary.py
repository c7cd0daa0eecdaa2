"""The end of a gated run on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_clinical_drift.gate.outcome import RunOutcome
from pytest_clinical_drift.gate.reporting import shown
from pytest_clinical_drift.gate.selection import STUDY
from pytest_clinical_drift.gate.token_account import spent_line
from pytest_clinical_drift.report.case_text import headline
from pytest_clinical_drift.verdict.values import CAUTION, PARTIAL, PASS, UNSETTLED, CaseVerdict

_COLOURS = {PASS: "green", CAUTION: "yellow", PARTIAL: "yellow", UNSETTLED: "yellow"}


def write_summary(
    terminal: Any, outcome: RunOutcome, written: Sequence[Path], fails: Callable[[CaseVerdict], bool]
) -> None:
    """The whole table; with -v every fact lost, with -q the verdict alone, with -ra or -rA the cautions by case."""
    verdict = outcome.verdict
    if verdict is None:
        return
    colour, verbosity = _COLOURS.get(verdict.verdict, "red"), terminal.config.get_verbosity()
    if terminal.hasopt("s"):
        for line in _cautions(outcome, fails):
            terminal.write_line(line, yellow=True)
    lines = outcome.summary(terminal._tw.fullwidth, verbosity)
    if verbosity >= 0:
        terminal.section(f"clinical drift: {outcome.run.slug}", **{colour: True})
        if outcome.record is not None:
            lines += spent_line(outcome.record["manifest"]["tokens"])
        lines += [f"written: {shown(file)}" for file in written]
    for line in lines:
        terminal.write_line(line, **({colour: True} if line.startswith(verdict.headline) else {}))
    for command in outcome.annotations:
        terminal.write_line(command)


def _cautions(outcome: RunOutcome, fails: Callable[[CaseVerdict], bool]) -> list[str]:
    """The cases that passed their test and are no PASS, each with what was lost."""
    return [
        f"{judged.verdict} {STUDY}/{judged.case_id}::{outcome.run.slug} - {headline(judged, repeats)}"
        for repeats, judged in outcome.cases
        if judged.verdict in (CAUTION, UNSETTLED) and not fails(judged)
    ]
