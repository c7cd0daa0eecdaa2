"""What people have settled, in words."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.judging.reviews import DECLARED
from pytest_clinical_drift.report.headlines import run_sentence
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.results.models import ReviewRecord, RunResult
from pytest_clinical_drift.verdict.states import Verdict

_TEMPLATE = "gate.txt.j2"


def review_sentence(reviewed: ReviewRecord) -> str:
    """What the reviews did: in a run that was given them, or to one that was judged again."""
    macro = "reviewed" if reviewed.before is None else "changed"
    (sentence,) = text_lines(_TEMPLATE, macro, it=reviewed, declared=DECLARED)
    return sentence


def change_lines(result: RunResult, cases: Sequence[tuple[str, Verdict, Verdict]]) -> list[str]:
    """What reviews changed in a run that was judged again; `cases` are those whose verdict did."""
    values = {"it": result.reviewed, "cases": cases, "headline": run_sentence(result), "declared": DECLARED}
    return text_lines(_TEMPLATE, "changes", **values)
