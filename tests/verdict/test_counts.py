"""What a verdict rests on, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import alarm, event, flat

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.judging.calibration_file import KindLimits, Share
from pytest_clinical_drift.scoring.assessment import OPEN, AuditCount, CaseAssessment
from pytest_clinical_drift.verdict.counts import (
    CareCount,
    EvidenceCounts,
    SettledCounts,
    count_evidence,
)


def limits(found: float, wrong: float) -> KindLimits:
    none = Share(hits=0, of=300, low=0.0, high=1.0)
    return KindLimits(
        sensitivity=Share(hits=59, of=60, low=found, high=1.0),
        subtle=none,
        specificity=none,
        false_confirmed=Share(hits=1, of=300, low=0.0, high=wrong),
        missed=none,
    )


def grounds(*runs: CaseAssessment, **judge: KindLimits) -> EvidenceCounts:
    return count_evidence(runs, (), confidence=0.95, judge=judge or None, deciding=tuple(judge))


def test_alarms_are_counted_by_who_settled_them() -> None:
    """A confirmed and a dismissed one by the judge, one by a rule, one by nobody."""
    alarms = [
        alarm("lost", settled_by="judge"),
        alarm("lost", "dismissed", settled_by="judge"),
        alarm("stale", settled_by="rule"),
        alarm("omits", OPEN),
    ]
    found = grounds(flat("a", alarms=alarms))
    assert found.settled == (SettledCounts("rule", 1, 0), SettledCounts("judge", 1, 1), SettledCounts("person", 0, 0))
    assert found.open == 1


def test_severe_cases_and_their_limit() -> None:
    """0 of 60: 1 - 0.025 ** (1 / 60) = 6.0 %; a slip or a stale fact is not severe."""
    runs = [flat(f"case-{n}", events=[event("stale_facts")]) for n in range(60)]
    found = grounds(*runs)
    assert (found.cases, found.severe, found.severe_open) == (60, 0, 0)
    assert found.severe_upper == pytest.approx(1 - 0.025 ** (1 / 60))
    assert found.severe_upper_missed is None
    waiting = replace(runs[0], events=(event(state=OPEN),))
    assert grounds(waiting, *runs[1:]).severe_open == 1


def test_misses_of_the_judge_widen_the_limit() -> None:
    """The weakest kind counts: harm that the judge does not raise is missed as well; a rate never exceeds 1."""
    runs = [flat(f"case-{n}") for n in range(9)]
    upper = 1 - 0.025 ** (1 / 9)
    found = grounds(*runs, fact=limits(0.8, 0.01), breach=limits(0.9, 0.01), harm=limits(0.7, 0.01))
    assert found.severe_upper_missed == pytest.approx(upper / 0.7)
    assert grounds(*runs, fact=limits(0.001, 0.01)).severe_upper_missed == 1.0


def test_false_breaches_to_expect() -> None:
    """250 entries on demands and forbidding facts at 1.2 % make 3; facts in summaries are no breaches."""
    runs = flat("a", asked=(("fact", 1000), ("breach", 200))), flat("b", asked=(("breach", 50),))
    found = grounds(*runs, fact=limits(0.9, 0.5), breach=limits(0.9, 0.012))
    assert found.false_breaches == pytest.approx(3.0)
    assert grounds(*runs).false_breaches is None


def test_audit_counts_doubts_against_the_rules() -> None:
    """Without an audit there is none; 0 of 100 leaves room for 1 - 0.025 ** (1 / 100)."""
    assert grounds(flat("a", audit=AuditCount())).audit is None
    audit = grounds(flat("a", audit=AuditCount(60, 0, 0)), flat("b", audit=AuditCount(40, 0, 0))).audit
    assert audit is not None
    assert (audit.asked, audit.upper) == (100, pytest.approx(1 - 0.025 ** (1 / 100)))


def test_rules_and_readings_are_set_side_by_side() -> None:
    """Facts of all conversations, by what rules say and then by what the readings say."""
    one = replace(flat("a"), rules_against_judge=(("absent/retained", 2), ("retained/retained", 5)))
    two = replace(flat("b"), rules_against_judge=(("retained/absent", 1), ("retained/retained", 3)))
    assert grounds(one, two).rules_against_judge == {
        "absent": {"retained": 2},
        "retained": {"absent": 1, "retained": 8},
    }


def test_levels_of_care_against_what_the_case_expects() -> None:
    """Replies that sent too far or not far enough, and one that refused; a level that nobody expects is not counted."""
    levels = ("self", "urgent", "emergency", "routine", None)
    turns = [
        {"turn": number, "message": "Hello.", "expect": {"care": level} if level else {}}
        for number, level in enumerate(levels, start=1)
    ]
    case = Case.model_validate({"id": "a", "patient_summary": "x", "critical_entities": ["x"], "turns": turns})
    read = ((1, "emergency"), (2, "urgent"), (3, "self"), (4, "refused"), (5, "self"))
    found = count_evidence([replace(flat("a"), care=read)], [case], confidence=0.95)
    assert found.care == CareCount(replies=4, right=1, too_high=1, too_low=1, refused=1)
    assert count_evidence([flat("a")], [case], confidence=0.95).care is None
