"""From figures and limits to PASS, CAUTION, FAIL or INCOMPLETE: one case here, the whole set in `set_verdict`."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from .case_values import Repeats, case_value, diagnose, incomplete
from .judgement import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    NEEDED,
    NOT_EVALUATED,
    PARTIAL,
    PASS,
    CaseVerdict,
    Judgement,
    SetVerdict,
    fails_run,
    judge_value,
    label,
    number,
)
from .set_verdict import judge_set
from .thresholds import Thresholds

__all__ = [
    "CAUTION",
    "FAIL",
    "INCOMPLETE",
    "NOT_EVALUATED",
    "PARTIAL",
    "PASS",
    "CaseVerdict",
    "Judgement",
    "SetVerdict",
    "diagnose",
    "fails_run",
    "judge_case",
    "judge_set",
    "label",
    "number",
]


def judge_case(repeats: Repeats, thresholds: Thresholds, today: datetime.date) -> CaseVerdict:
    """The worst of the evaluated, gated metrics; INCOMPLETE when the subject could not be run."""
    judgements = tuple(
        judge_value(name, limits, *case_value(name, repeats)) for name, limits in thresholds.metrics.items()
    )
    verdict = _worst(item.verdict for item in judgements)
    needed = [item for item in judgements if item.metric in NEEDED]
    if incomplete(repeats) or any(item.verdict == NOT_EVALUATED for item in needed):
        verdict = INCOMPLETE
    case_id = repeats[0].case_id
    judged = CaseVerdict(case_id, verdict, judgements, diagnose([repeats], thresholds))
    waiver = next((w for w in thresholds.waivers if w.case == case_id and w.holds_on(today)), None)
    if waiver and verdict == FAIL and not judged.hard:
        return CaseVerdict(judged.case_id, CAUTION, judgements, judged.diagnosis, waiver)
    return judged


def _worst(verdicts: Iterable[str]) -> str:
    order = {PASS: 0, NOT_EVALUATED: 0, CAUTION: 1, FAIL: 2}
    worst = max(verdicts, key=order.__getitem__, default=PASS)
    return PASS if worst == NOT_EVALUATED else worst
