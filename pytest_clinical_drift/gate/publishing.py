"""The end of a run: record, dossier and ledger line are written, the set becomes one more test result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.gate.collected import CollectedCases, set_properties
from pytest_clinical_drift.gate.finished import FinishedRun, Transcripts
from pytest_clinical_drift.gate.items import STUDY
from pytest_clinical_drift.gate.ledger import record_run
from pytest_clinical_drift.gate.manifest import make_manifest
from pytest_clinical_drift.gate.reporting import WholeResult, report_whole, shown
from pytest_clinical_drift.gate.reviewing import reviews_in_run
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.report.case_text import fill
from pytest_clinical_drift.report.headlines import case_headline, next_step, run_headline
from pytest_clinical_drift.report.markdown import publish_markdown
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.report.terminal import render_summary, verdict_line
from pytest_clinical_drift.results.inputs import store_judged, write_inputs
from pytest_clinical_drift.verdict.states import Verdict

GATE = "whole-set"
_COLOURS = {
    Verdict.PASS: "green",
    Verdict.CAUTION: "yellow",
    Verdict.PARTIAL: "yellow",
    Verdict.UNSETTLED: "yellow",
}


def finish_run(run: GateRun, collected: CollectedCases, transcripts: Transcripts) -> FinishedRun:
    """The record of a run whose set is judged; its line goes into the ledger."""
    manifest = make_manifest(run, run.subject.identity(), collected.runs, transcripts)
    verdict = collected.verdict
    result = collected.result(manifest, reviews_in_run(run.session.reviews, verdict, collected.runs))
    counts = {"selected": result.cases_selected, "total": result.cases_total}
    attempt = record_run(run.settings.results, manifest, verdict=result.verdict, **counts)
    return FinishedRun(result, run.gate, attempt)


def publish_run(run: GateRun, finished: FinishedRun, transcripts: Transcripts) -> list[Path]:
    """Write everything into the run's folder and publish it; a run over the full set also lies on top."""
    folder = run.folder
    written = finished.write(folder.draft, transcripts, run.sheet)
    stored = store_judged({group: judged for group, judged in run.judged.items() if group[0] in transcripts})
    window = run.session.options.window
    write_inputs(folder.draft, run.gate, finished.result.deciders, finished.result.manifest, stored, window=window)
    return folder.publish(written, on_top=finished.result.verdict != Verdict.PARTIAL)


def report_set(session: pytest.Session, finished: FinishedRun, collected: CollectedCases, problem: str = "") -> None:
    """The set becomes one more test result."""
    report_whole(session, whole_result(finished, collected, problem))


def whole_result(finished: FinishedRun, collected: CollectedCases, problem: str = "") -> WholeResult:
    """Passed only where the run ends with 0; an error where nothing was found against the model, else a failure.

    `problem`: why the results could not be written.
    """
    result, verdict = finished.result, finished.result.verdict
    code = collected.exit_code()
    failed = bool(code or problem)
    headline, reasons = run_headline(result), reason_texts(result.reasons, result.judgements)
    step, other = next_step(result) if failed else "", []
    if problem or (code and verdict in (Verdict.PASS, Verdict.CAUTION) and not finished.gate.strict):
        failures = collected.foreign_failures + collected.outages
        other = text_lines("gate.txt.j2", "blocked", code=code, failures=failures, problem=problem)
    # the step is what a reader of one line needs most, and a line is cut at its end
    first, rest = [headline, *other, step], "; ".join(reasons)
    return WholeResult(
        place=f"{STUDY}/{GATE}",
        name=finished.gate.slug,
        verdict=str(verdict),
        outcome="failed" if failed else "passed",
        message=": ".join(filter(None, ("; ".join(filter(None, first)), rest))),
        figures=set_properties(result),
        text="\n".join((*filter(None, first), *(f"  {reason}" for reason in reasons), "the table is at the end")),
        error=failed and (code != 1 or verdict in (Verdict.INCOMPLETE, Verdict.UNSETTLED, Verdict.PARTIAL)),
    )


def write_summary(terminal: Any, finished: FinishedRun, written: Sequence[Path]) -> None:
    """The whole table; with -v every fact lost, with -q the verdict alone, with -ra or -rA the cautions by case."""
    result, slug = finished.result, finished.gate.slug
    colour, verbosity = {_COLOURS.get(result.verdict, "red"): True}, terminal.config.get_verbosity()
    if terminal.hasopt("s"):
        for line in _cautions(finished):
            terminal.write_line(line, yellow=True)
    width = terminal.config.get_terminal_writer().fullwidth
    lines = render_summary(result, slug, attempt=finished.attempt, width=width, verbosity=verbosity)
    if verbosity >= 0:
        terminal.section(f"clinical drift: {slug}", **colour)
        lines += [f"written: {shown(file)}" for file in written]
        lines += [fill(next_step(result, shown(written[0].parent)), width)] if written else []
    verdict = verdict_line(result, width)
    for line in lines:
        terminal.write_line(line, **(colour if line == verdict else {}))


def annotate(terminal: Any, finished: FinishedRun) -> None:
    """On GitHub: the summary page, and a workflow command for each case that needs a look."""
    for command in publish_markdown(finished.result, finished.gate.slug):
        terminal.write_line(command)


def _cautions(finished: FinishedRun) -> list[str]:
    """The cases that passed their test without a PASS, each with what was lost."""
    return [
        f"{case.verdict} {STUDY}/{case.case_id}::{finished.gate.slug} - {case_headline(case)}"
        for case in finished.result.cases
        if case.verdict in (Verdict.CAUTION, Verdict.UNSETTLED) and not finished.gate.fails(case)
    ]
