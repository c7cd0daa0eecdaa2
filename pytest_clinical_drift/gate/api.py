"""`run_gate(model=…)`: the gate from Python, for scripts and notebooks, without a pytest session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_clinical_drift.conversation.runner import BackgroundRunner
from pytest_clinical_drift.errors import FailureCode, InputError, SubjectError, failure
from pytest_clinical_drift.gate.collected import CollectedCases
from pytest_clinical_drift.gate.deciders import deciders_of
from pytest_clinical_drift.gate.manifest import make_manifest
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.gate.settings import Settings
from pytest_clinical_drift.report.figures import judged_text
from pytest_clinical_drift.report.headlines import run_headline
from pytest_clinical_drift.report.words import label
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.values import Judgement

if TYPE_CHECKING:
    from pytest_clinical_drift.cases.model import Case
    from pytest_clinical_drift.gate.own_scores import Scores


class GateResult(RunResult):
    """The record of a run, shown as a table in notebooks."""

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(label(item.metric))}</td><td>{escape(_value(item))}</td>"
            f"<td>{escape(item.limit)}</td><td>{escape(str(item.verdict))}</td></tr>"
            for item in self.judgements
        )
        head = "<tr><th>figure</th><th>value</th><th>PASS limit</th><th>verdict</th></tr>"
        return f"<p><b>{escape(run_headline(self))}</b></p><table>{head}{rows}</table>"


def _value(item: Judgement) -> str:
    return "–" if item.value is None else judged_text(item, of_set=True)


def run_gate(
    model: str,
    *,
    judge: str | Sequence[str] = (),
    cases: str | Path | None = None,
    only: Sequence[str] | None = None,
    thresholds: str | Path | None = None,
    settings: Mapping[str, object] | None = None,
    judge_settings: Mapping[str, object] | None = None,
    system: str | Path | None = None,
    repeats: int = 1,
    turns: int | None = None,
    strict: bool = False,
    root: str | Path = ".",
    store: str | Path | None = None,
) -> GateResult:
    """Run the conversations of `cases` on `model`, have them judged, and return the record of the run.

    The arguments are those of the options with the same names; `only` selects cases by id and gives PARTIAL. Nothing is
    written but the reply cache and the calibration of a judge that had to be measured, in the project's `calibration/`.
    Bad input raises InputError in one sentence; an outage is INCOMPLETE, not an exception.
    """
    here = Path(root).resolve()
    asked = Settings(
        model=model,
        root=here,
        settings={key: str(value) for key, value in (settings or {}).items()},
        system=_path(system),
        cases=_path(cases),
        thresholds=_path(thresholds),
        judges=(judge,) if isinstance(judge, str) else tuple(judge),
        judge_settings={key: str(value) for key, value in (judge_settings or {}).items()},
        results=here / "results",
        store=Path(store) if store is not None else here / ".clinical-drift/store.sqlite",
        repeats=repeats,
        strict=strict,
        turns=turns,
    )
    run = GateRun(asked, _no_scores)
    chosen = list(run.cases) if only is None else list(only)
    if unknown := [name for name in chosen if name not in run.cases]:
        raise InputError(f"no case {unknown[0]!r} in {run.cases_path}")
    return _carry_out(run, chosen)


def _carry_out(run: GateRun, chosen: Sequence[str]) -> GateResult:
    run.check()
    run.runner = BackgroundRunner(
        run.subject,
        run.plan,
        store=run.store_path,
        on_finished=lambda talk: run.session.consider(run.cases[talk.case_id], talk, run.scorer.find),
    )
    run.runner.cases = [run.cases[case_id] for case_id in chosen]
    collected = CollectedCases(run.gate)
    transcripts: dict[str, tuple[Transcript, ...]] = {}
    try:
        for case_id in chosen:
            try:
                transcripts[case_id], assessments = run.assess(case_id)
            except SubjectError as error:
                transcripts[case_id] = (
                    Transcript(case_id, (), failure=failure(FailureCode.SUBJECT_STOPPED, error=str(error))),
                )
                assessments = (run.scorer.score(run.cases[case_id], transcripts[case_id][0]),)
            collected.add(run.gate.judge(assessments, run.session.deciding), assessments)
    finally:
        run.runner.stop()
        run.session.stop()
    unanswered = sum(of.unanswered for of in collected.runs)
    collected.judge(deciders_of(run.session, run.gate.thresholds.judge, (), unanswered))
    result = collected.result(make_manifest(run, run.subject.identity(), collected.runs, transcripts))
    return GateResult.model_construct(**{name: getattr(result, name) for name in RunResult.model_fields})


def _path(given: str | Path | None) -> Path | None:
    return Path(given) if given is not None else None


def _no_scores(case: Case, transcript: Transcript) -> Scores:
    """Scorers of a project are pytest hooks; without a session there are none."""
    return ()
