"""The end of a run: record, dossier and ledger line are written, the set becomes one more test result."""

import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.core.files import write_atomically
from pytest_clinical_drift.gate.inside_pytest import write_junit
from pytest_clinical_drift.gate.items import STUDY, DriftResult
from pytest_clinical_drift.gate.ledger import attempts_and_controls, ledger_above
from pytest_clinical_drift.gate.pytest_reports import ResultWithoutTest, figure_lines, shown
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.gate.set_result import SetResult, figures_of
from pytest_clinical_drift.report.headlines import case_headline, next_step, run_headline
from pytest_clinical_drift.report.html import REPORT_FILE, render_case_pages, render_report
from pytest_clinical_drift.report.json_file import write_results
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.layout import fill
from pytest_clinical_drift.report.markdown import publish_markdown
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.report.run_lines import blocked_line
from pytest_clinical_drift.report.terminal import render_summary, verdict_line
from pytest_clinical_drift.results.folders import CASE_PAGES, RunFolder
from pytest_clinical_drift.results.inputs import JudgingRecord, write_inputs
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Sheet, standing_of
from pytest_clinical_drift.results.run_log import ConversationLog, write_log
from pytest_clinical_drift.results.signed import record_hash
from pytest_clinical_drift.verdict.reasons import Verdict

GATE = "whole-set"
_COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.INCOMPLETE: "red"}


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run whose set is judged."""

    collected: SetResult
    result: RunResult
    attempt: str = ""
    """Which attempt of this candidate it is."""

    def write(self, folder: Path, sheet: Sheet, *, place: Path | None = None) -> list[Path]:
        """Results first, then the dossier; returns what people may want to open.

        `place`: where the run lies whose ledger counts, unless it is written there.
        """
        result, transcripts = self.result, self.collected.transcripts
        results = write_results(result, folder)
        home = ledger_above(place or folder)
        attempts, controls = attempts_and_controls(home, result.manifest) if home else (None, None)
        standing = standing_of(result, record_hash(folder), sheet, home=home, attempts=attempts, controls=controls)
        page = render_report(result, transcripts, self.collected.inputs.thresholds, standing)
        written = write_atomically(folder / REPORT_FILE, page)
        shutil.rmtree(folder / CASE_PAGES, ignore_errors=True)  # of a verdict that was written here before
        for name, case_page in render_case_pages(result, transcripts):
            write_atomically(folder / CASE_PAGES / name, case_page)
        return [results, written]

    def publish(
        self, folder: RunFolder, sheet: Sheet, logs: Sequence[ConversationLog], judging: JudgingRecord
    ) -> list[Path]:
        """Write everything into the run's folder and publish it; a run over the full set also lies on top."""
        written = self.write(folder.draft, sheet)
        write_inputs(folder.draft, self.collected.inputs, self.result, judging)
        write_log(folder.draft, logs)
        return folder.publish(written, on_top=self.result.verdict != Verdict.PARTIAL)

    def summary(self, written: Sequence[Path], width: int, *, verbosity: int = 0, merged: bool = False) -> list[str]:
        """What the terminal shows of the set; on GitHub, the page of the CI run is written as well."""
        result, slug = self.result, self.collected.inputs.slug
        lines = render_summary(result, slug, attempt=self.attempt, width=width, verbosity=verbosity)
        if verbosity >= 0 and written:
            lines += [f"written: {shown(file)}" for file in written]
            lines.append(fill(next_step(result, shown(written[0].parent), merged=merged), width))
        return [*lines, *publish_markdown(result, slug)]


@contextmanager
def delayed_interrupt() -> Iterator[list[int]]:
    """A first Ctrl-C waits until the block is done, and is put on the list; a second one is heard at once."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # no other one gets it
        yield pressed
        return
    before = signal.getsignal(signal.SIGINT) or signal.default_int_handler

    def wait(number: int, _: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, wait)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


# -- as test results


def whole_result(finished: FinishedRun, problem: str = "") -> ResultWithoutTest:
    """Passed only where the run ends with 0; an error where nothing was found against the model, else a failure.

    `problem`: why the results could not be written.
    """
    result, collected, verdict = finished.result, finished.collected, finished.result.verdict
    code = collected.exit_code()
    failed = bool(code or problem)
    headline, reasons = run_headline(result), reason_texts(result.reasons, result.judgements)
    step, other = next_step(result) if failed else "", []
    if problem or (code and verdict in (Verdict.PASS, Verdict.CAUTION) and not collected.inputs.strict):
        failures = collected.foreign_failures + collected.outages
        other = [blocked_line(code=code, failures=failures, problem=problem)]
    # the step is what a reader of one line needs most, and a line is cut at its end
    first, rest = [headline, *other, step], "; ".join(reasons)
    return ResultWithoutTest(
        place=f"{STUDY}/{GATE}",
        name=collected.inputs.slug,
        verdict=str(verdict),
        outcome="failed" if failed else "passed",
        message=": ".join(filter(None, ("; ".join(filter(None, first)), rest))),
        figures=figures_of(result, result.manifest.judge),
        text="\n".join((*filter(None, first), *(f"  {reason}" for reason in reasons), "the table is at the end")),
        error=failed and (code != 1 or verdict in (Verdict.INCOMPLETE, Verdict.UNSETTLED, Verdict.PARTIAL)),
    )


def write_run_junit(file: Path, finished: FinishedRun) -> None:
    """The junit file of a run that pytest has not made: the same tests, messages and figures."""
    inputs, transcripts, manifest = finished.collected.inputs, finished.collected.transcripts, finished.result.manifest
    cases, judge = {case.id: case for case in inputs.cases}, judge_line(manifest.judged)
    tests = []
    for case in finished.result.cases:
        result = DriftResult(cases[case.case_id], tuple(transcripts[case.case_id]), case, judge)
        test = ResultWithoutTest(
            place=f"{STUDY}/{case.case_id}",
            name=inputs.slug,
            verdict=str(case.verdict),
            outcome="failed" if result.undecided or inputs.fails(case) else "passed",
            message=result.message,
            figures=figures_of(case, manifest.judge),
            text=result.text,
            error=result.undecided,
        )
        seconds = result.generation_seconds or 0.0
        tests.append((test.reports(seconds=seconds), figure_lines(test.figures, result.text)))
    whole = whole_result(finished)
    tests.append((whole.reports(), figure_lines(whole.figures)))
    write_junit(file, f"clinical-drift {inputs.slug}", tests)


# -- in the terminal


def write_summary(terminal: Any, finished: FinishedRun, written: Sequence[Path]) -> None:
    """The whole table; with -v every fact lost, with -q the verdict alone, with -ra or -rA the cautions by case."""
    result, inputs = finished.result, finished.collected.inputs
    colour, verbosity = {_COLOURS.get(result.verdict, "yellow"): True}, terminal.config.get_verbosity()
    if terminal.hasopt("s"):
        for case in result.cases:
            if case.verdict in (Verdict.CAUTION, Verdict.UNSETTLED) and not inputs.fails(case):
                line = f"{case.verdict} {STUDY}/{case.case_id}::{inputs.slug} - {case_headline(case)}"
                terminal.write_line(line, yellow=True)
    width = terminal.config.get_terminal_writer().fullwidth
    if verbosity >= 0:
        terminal.section(f"clinical drift: {inputs.slug}", **colour)
    verdict = verdict_line(result, width)
    for line in finished.summary(written, width, verbosity=verbosity):
        terminal.write_line(line, **(colour if line == verdict else {}))


def ending_remarks(run: GateRun, collected: SetResult, *, broken_off: bool) -> list[str]:
    """A calibration to commit; of a run that can be resumed how far it got, and where its replies are."""
    budget = run.plan.budget
    over = budget.spent() if budget is not None and budget.refused else None
    remarks = [run.session.kept] if run.session.kept else []
    if budget is not None and over is not None:
        finished = sum(case.verdict != Verdict.INCOMPLETE for case in collected.cases)
        wanted = sum(run.plan.requests(run.cases[case_id]) for case_id in run.chosen)
        of = f"{finished} of {len(run.chosen)} cases; {budget.received} new replies of {wanted}"
        remarks.append(f"{over}; finished: {of}")
    if run.store_path is not None and (broken_off or over is not None):
        remarks.append(f"reply cache: {shown(run.store_path)} (rerun the same command to resume)")
    return [f"clinical-drift: {remark}" for remark in remarks]
