"""What to say at the end besides the verdict: a calibration to commit; how far a run got that can be resumed."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.gate.reporting import resume_hint
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.verdict.states import Verdict


def ending_remarks(run: GateRun, cases: Sequence[CaseResult], *, broken_off: bool) -> list[str]:
    """Nothing for a run that found its judge calibrated and came to its end within its budget."""
    if run.runner is None:
        return []
    budget = run.plan.budget
    over = budget.spent() if budget is not None and budget.refused else None
    remarks = [f"clinical-drift: {run.session.kept}"] if run.session.kept else []
    if budget is not None and over is not None:
        finished = sum(case.verdict != Verdict.INCOMPLETE for case in cases)
        wanted = sum(run.plan.requests(run.cases[case_id]) for case_id in run.chosen)
        so_far = f"{finished} of {len(run.chosen)} cases; {budget.received} new replies of {wanted}"
        remarks.append(f"clinical-drift: {over}; finished: {so_far}")
    return [*remarks, *(resume_hint(run.store_path) if broken_off or over is not None else [])]
