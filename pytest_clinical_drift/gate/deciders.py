"""Who decides in a run, as the verdict needs to know it, and how the header names the judge."""

from __future__ import annotations

from pytest_clinical_drift.judging.judge_options import JudgePolicy
from pytest_clinical_drift.judging.session import JudgeSession
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.thresholds import JudgeRules
from pytest_clinical_drift.verdict.values import Deciders


def judge_policy(rules: JudgeRules, *, may_calibrate: bool = True) -> JudgePolicy:
    """What the thresholds demand of a judge."""
    return JudgePolicy(
        {str(name): floor for name, floor in rules.floors.items()},
        rules.readings,
        may_calibrate and rules.calibrate != "never",
        rules.dismiss_severe,
    )


def deciders_of(session: JudgeSession, rules: JudgeRules, reviewers: tuple[str, ...], unanswered: int = 0) -> Deciders:
    return Deciders(
        judge=session.name if session.judges else None,
        deciding=tuple(sorted(session.deciding)),
        below_floor=session.below_floor,
        reviewers=reviewers,
        missing=_missing(session, rules, unanswered),
        errors=_errors(session),
        control=session.is_control,
        judges=len(session.judges),
    )


def _missing(session: JudgeSession, rules: JudgeRules, unanswered: int) -> Reason | None:
    """Why a judge that the thresholds require has not judged."""
    if not rules.required:
        return None
    if not session.judges:
        return reason(ReasonCode.JUDGE_REQUIRED)
    if session.below_floor:
        return reason(ReasonCode.JUDGE_BELOW_FLOOR, kinds=list(session.below_floor))
    return reason(ReasonCode.QUESTIONS_UNANSWERED, questions=unanswered) if unanswered else None


def _errors(session: JudgeSession) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """Of each group that the judge decides: faults confirmed, of all; clean items not confirmed, of all."""
    known = session.calibration.kinds if session.calibration else {}
    return {
        group: (
            (limits.sensitivity.hits, limits.sensitivity.of),
            (limits.false_confirmed.of - limits.false_confirmed.hits, limits.false_confirmed.of),
        )
        for group, limits in known.items()
        if group in session.deciding
    }


def judge_header(session: JudgeSession) -> list[str]:
    """Who judges, and which host gets to read records and conversations."""
    if not session.judges:
        return []
    if session.options.offline:
        return [f"judge: {session.name}, from stored answers alone; nothing is sent"]
    hosts = ", ".join(session.hosts)
    where = f"records and conversations go to {hosts}" if hosts else "runs in this process"
    return [f"judge: {session.name}; {where}"]
