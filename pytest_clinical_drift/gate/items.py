"""Cases as pytest items, one test each with a text that tells what was lost; the set as one more result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.ledger import record_run
from pytest_clinical_drift.gate.outcome import Outcome, case_properties
from pytest_clinical_drift.gate.record import write_run_record
from pytest_clinical_drift.gate.reporting import GateFailure, WholeResult, report_whole, shown
from pytest_clinical_drift.gate.reviewing import told_in_run
from pytest_clinical_drift.gate.run import GateRun, manifest_of
from pytest_clinical_drift.report.case_text import case_report, headline
from pytest_clinical_drift.report.terminal import render_summary
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    PARTIAL,
    PASS,
    UNSETTLED,
    CaseVerdict,
    SetVerdict,
)

STUDY = "study_c"
"""First part of every test id."""
GATE = "whole-set"
_COLOURS = {PASS: "green", CAUTION: "yellow", PARTIAL: "yellow", UNSETTLED: "yellow"}


class Unfinished(GateFailure):
    """A project's own test asked for a case whose conversation could not be held: an error, never an empty result."""


@dataclass(frozen=True, slots=True, repr=False)
class DriftResult:
    """What a project's own test gets from the `drift_result` fixture."""

    case: Case
    transcripts: tuple[Transcript, ...]
    assessments: tuple[CaseAssessment, ...]
    """One per repeat."""
    verdict: CaseVerdict
    judge: str = ""
    """The judge and its limits, in a line."""

    def __repr__(self) -> str:
        """Short: pytest prints it below a failed assertion."""
        return f"<{self.case.id}: {self.verdict.verdict}>"

    @property
    def passed(self) -> bool:
        """Whether the case is a plain PASS."""
        return self.verdict.verdict == PASS

    @property
    def assessment(self) -> CaseAssessment:
        """The first (usually the only) repeat."""
        return self.assessments[0]

    @property
    def generation_seconds(self) -> float | None:
        """Time that the subject spent on this case; None when it was not measured."""
        measured = [run.generation_seconds for run in self.assessments if run.generation_seconds is not None]
        return sum(measured) if measured else None

    @property
    def headline(self) -> str:
        """What went wrong, in a line."""
        return headline(self.verdict, self.assessments)

    @property
    def text(self) -> str:
        """All that there is to say of a case that is not a plain PASS."""
        if self.passed:
            return ""
        return "\n".join((case_report(self.verdict, self.assessments, judge=self.judge), *self._tracebacks()))

    def _tracebacks(self) -> list[str]:
        """Where the project's own function failed."""
        replies = [r for run in self.transcripts for turn in run.exchanges for r in (turn.reply, turn.summary) if r]
        return [told for reply in replies if reply.error and (told := reply.error.partition("\n")[2])][:1]

    def properties(self, judge: str) -> list[tuple[str, object]]:
        """Its figures for junit; plain values only, undefined ones left out."""
        return case_properties(self.verdict, self.assessments, judge)

    def finished(self) -> DriftResult:
        """This result; raises Unfinished where the conversation was not held to its end."""
        if self.verdict.verdict == INCOMPLETE:
            line = f"{self.case.id}: {self.headline}"
            raise Unfinished("\n".join((line, *self._tracebacks())), line)
        return self


Results = Callable[[str], DriftResult]
"""Gives the result of a case by its id; waits for it."""


class CaseGroup(pytest.Collector):
    """One case; its test id does not depend on where the case file lies."""

    def __init__(self, *, run: GateRun, results: Results, case_id: str, **kwargs: Any) -> None:
        super().__init__(name=case_id, nodeid=f"{STUDY}/{case_id}", **kwargs)
        self._given = {"run": run, "results": results, "case_id": case_id}

    def collect(self) -> Iterable[pytest.Item]:
        yield CaseItem.from_parent(self, **self._given)


class CaseItem(pytest.Item):
    """The test of one case on one model."""

    def __init__(self, *, run: GateRun, results: Results, case_id: str, **kwargs: Any) -> None:
        super().__init__(name=run.slug, nodeid=f"{STUDY}/{case_id}::{run.slug}", **kwargs)
        self.run, self.case_id, self._results = run, case_id, results
        self.result: DriftResult | None = None
        for mark in case_marks(run.cases[case_id]):
            self.add_marker(mark)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.case_id} on {self.name}"

    def setup(self) -> None:
        """Wait for the conversation and score it; a subject that could not be run is an error, not a failure."""
        self.result = self._results(self.case_id)
        if self.config.getini("drift_junit_properties"):
            self.user_properties.extend(self.result.properties(self.run.bench.name))
        if self.result.verdict.verdict == INCOMPLETE:
            raise GateFailure(self.result.text, self.result.headline)

    def runtest(self) -> None:
        if self.result is not None and self.run.gate.fails(self.result.verdict):
            raise GateFailure(self.result.text, self.result.headline)


def case_marks(case: Case) -> list[pytest.MarkDecorator]:
    """The marks of every test on this case: ours, and its tags."""
    return [pytest.mark.clinical_drift, *(getattr(pytest.mark, mark_name(tag)) for tag in case.tags)]


def mark_name(tag: str) -> str:
    """A case's tag as a pytest mark: `pressure:cost` is chosen by `-m pressure_cost`."""
    return re.sub(r"\W+", "_", tag)


def cases_of(items: Iterable[pytest.Item], cases: Mapping[str, Case]) -> list[Case]:
    """The cases that these tests need: ours, and those of the project that ask for one."""
    wanted = set()
    for item in items:
        if isinstance(item, CaseItem):
            wanted.add(item.case_id)
        elif isinstance(case := getattr(getattr(item, "callspec", None), "params", {}).get("drift_case"), Case):
            wanted.add(case.id)
    return [case for case in cases.values() if case.id in wanted]


def take_selection(config: pytest.Config, run: GateRun) -> list[str] | None:
    """Ids of the cases to collect, None for all.

    Our test ids among the arguments are taken out of pytest's paths: no file stands behind them.
    """
    named = list(getattr(config.option, "drift_selection", None) or [])
    paths = []
    explicit = config.args_source is config.ArgsSource.ARGS
    for argument in config.args if explicit else ():
        head, _, rest = argument.partition("/")
        if head == STUDY and not Path(argument).exists():
            named += _named_cases(argument, rest.partition("::")[0], run)
        else:
            paths.append(argument)
    config.args = paths
    config.option.drift_selection = named
    if named:
        return list(dict.fromkeys(named))
    return [] if paths else None


def _named_cases(argument: str, case_id: str, run: GateRun) -> list[str]:
    if not case_id:
        return list(run.cases)
    if case_id not in run.cases:
        raise InputError(f"{argument}: there is no case {case_id!r} in {run.cases_path}")
    return [case_id]


def names_case(nodeid: str, case_id: str) -> bool:
    """Whether a test id is that case's own, or one of a project's test that runs on it."""
    if nodeid.startswith(f"{STUDY}/{case_id}::"):
        return True
    parameters = nodeid.partition("[")[2].removesuffix("]")
    return f"-{case_id}-" in f"-{parameters}-"


# -- the end of a run: the set as one more test result, and the table on the terminal


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


def write_run(
    run: GateRun,
    outcome: Outcome,
    verdict: SetVerdict,
    folder: Path,
    transcripts: Mapping[str, Sequence[Transcript]],
) -> list[Path]:
    """Results, dossier and what a later verdict needs; the run's line in the ledger."""
    manifest = manifest_of(run, run.subject.identity(), outcome.runs, transcripts)
    counts = {"selected": verdict.selected, "total": verdict.total}
    outcome.attempt = record_run(run.settings.results, manifest, verdict=verdict.verdict, **counts)
    ruled = {group: rulings for group, rulings in run.bench.ruled.items() if group[0] in transcripts}
    reviewed = told_in_run(run.bench.reviews, verdict.basis, outcome.runs)
    written = outcome.write(folder, run.settings.root, manifest, transcripts, reviewed)
    write_run_record(folder, run.gate, verdict.basis, manifest, ruled)
    return written


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
