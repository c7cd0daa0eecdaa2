"""`run_gate(model=…)`: the gate from Python, for scripts and notebooks, without a pytest session."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.reviewed import check_baseline
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.gate.set_result import SetResult, judge_run
from pytest_clinical_drift.gate.settings import Settings
from pytest_clinical_drift.report.headlines import run_headline
from pytest_clinical_drift.report.json_file import with_sentences
from pytest_clinical_drift.report.words import judged_text, label
from pytest_clinical_drift.results.models import RunResult


class GateResult(RunResult):
    """The record of a run, shown as a table in notebooks."""

    def _repr_html_(self) -> str:
        rows = []
        for item in self.judgements:
            value = "–" if item.value is None else judged_text(item, of_set=True)
            cells = (label(item.metric), value, item.limit, str(item.verdict))
            rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
        head = "<th>figure</th><th>value</th><th>PASS limit</th><th>verdict</th>"
        table = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
        return f"<p><b>{escape(run_headline(self))}</b></p><table>{table}</table>"


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
    place = Path(store).absolute() if store is not None else None  # from here, as paths of a script are
    given = {"system": system, "cases": cases, "thresholds": thresholds, "store": place}
    paths: dict[str, Any] = {name: Path(path) for name, path in given.items() if path is not None}
    asked = Settings(
        model=model,
        root=Path(root).resolve(),
        settings={key: str(value) for key, value in (settings or {}).items()},
        judges=(judge,) if isinstance(judge, str) else tuple(judge),
        judge_settings={key: str(value) for key, value in (judge_settings or {}).items()},
        repeats=repeats,
        strict=strict,
        turns=turns,
        **paths,
    )
    run = GateRun(asked)
    chosen = list(run.cases if only is None else dict.fromkeys(only))
    if unknown := [name for name in chosen if name not in run.cases]:
        raise InputError(f"no case {unknown[0]!r} in {run.cases_path}")
    check_baseline(asked.baseline)
    run.check()
    runner = run.begin()
    runner.cases = [run.cases[case_id] for case_id in chosen]
    collected = SetResult(run.inputs)
    try:
        for case_id in chosen:
            transcripts, result = run.result_of(case_id)
            collected.add(result, transcripts)
    finally:
        runner.stop()
        run.session.stop()
    whole = with_sentences(judge_run(run, collected))
    return GateResult.model_construct(**{name: getattr(whole, name) for name in RunResult.model_fields})
