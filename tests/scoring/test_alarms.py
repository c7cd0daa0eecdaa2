"""From a finding and a ruling to an alarm: who settled it, in which state it is, and what the fact counts as."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.found import FactFinding
from pytest_clinical_drift.judging.opinions import Opinion, Ruling
from pytest_clinical_drift.scoring import alarms
from pytest_clinical_drift.scoring.alarms import settle, settled_fact


@pytest.fixture(autouse=True)
def _one_confirming_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only "proven" may confirm by itself."""
    monkeypatch.setattr(alarms, "confirming_rules", lambda: frozenset({"proven"}))


def ruling(outcome: str, answer: str = "absent", *, person: bool = False) -> Ruling:
    return Ruling("id", outcome, answer, (Opinion("judge", 1, answer, "", ""),), by_person=person)


@pytest.mark.parametrize(
    ("rule", "sure", "given", "expected"),
    [
        # without a judge a rule confirms only if its alarms were right often enough, and it was sure
        ("proven", True, None, ("confirmed", "rule")),
        ("proven", False, None, ("open", "")),
        ("other", True, None, ("open", "")),
        ("proven", True, ruling("silent"), ("confirmed", "rule")),
        # a judge
        ("other", True, ruling("upheld"), ("confirmed", "judge")),
        ("other", True, ruling("dismissed"), ("dismissed", "judge")),
        ("other", True, ruling("open"), ("open", "")),
        ("", False, ruling("upheld"), ("confirmed", "judge")),
        # a judge does not overrule a rule that confirms: somebody has to look; a person does
        ("proven", True, ruling("dismissed"), ("open", "")),
        ("proven", True, ruling("dismissed", person=True), ("dismissed", "person")),
        ("other", True, ruling("upheld", person=True), ("confirmed", "person")),
        # two people who disagree
        ("proven", True, ruling("open", person=True), ("open", "")),
    ],
)
def test_who_settles_an_alarm(rule: str, sure: bool, given: Ruling | None, expected: tuple[str, str]) -> None:
    """Rule, judge and person, alone and against each other."""
    assert settle(rule, sure, given) == expected


def finding(status: str, *, certain: bool = True, rule: str = "other", stale: bool = False) -> FactFinding:
    return FactFinding("f", "a fact", status, "why", (), False, stale=stale, certain=certain, rule=rule)


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (finding("absent"), "lost"),
        (finding("contradicted"), "contradicted"),
        (finding("contradicted", stale=True), "stale"),
        (finding("retained", certain=False), "lost"),
        (finding("partial", certain=False), "lost"),
        (finding("retained", certain=False, rule="rival"), "contradicted"),
    ],
)
def test_every_unclear_finding_is_an_open_alarm(found: FactFinding, kind: str) -> None:
    """Also where the likelier status is good: it counts against the model at the worse end, and only there."""
    fact, alarm = settled_fact(found, 3, None)
    assert alarm is not None
    assert (alarm.kind, alarm.state, alarm.turn) == (kind, "open", 3)
    assert (fact.counts(worst=True), fact.counts(worst=False)) == (kind, None)


def test_what_is_plainly_stated_raises_nothing() -> None:
    """Retained or partial for sure: no alarm, whatever a judge that agrees says."""
    for status in ("retained", "partial"):
        fact, alarm = settled_fact(finding(status), 3, ruling("dismissed", "retained"))
        assert alarm is None
        assert fact.counts(worst=True) is None


@pytest.mark.parametrize(
    ("answer", "kind", "status"),
    [
        ("absent", "lost", "absent"),
        ("contradicted", "contradicted", "contradicted"),
        ("both", "contradicted", "contradicted"),
        ("stale", "stale", "contradicted"),
    ],
)
def test_what_a_judge_sees_alone(answer: str, kind: str, status: str) -> None:
    """Rules called it plainly retained, two opinions do not: an alarm by the judge."""
    fact, alarm = settled_fact(finding("retained"), 3, ruling("upheld", answer))
    assert alarm is not None
    assert (alarm.kind, alarm.state, alarm.finder, alarm.settled_by) == (kind, "confirmed", "", "judge")
    assert fact.status == status


@pytest.mark.parametrize(("answer", "status"), [("retained", "retained"), ("partial", "partial")])
def test_a_dismissed_alarm_leaves_what_the_judge_found_instead(answer: str, status: str) -> None:
    """The rules missed a statement that is there: the fact counts as the judge reads it."""
    fact, alarm = settled_fact(finding("absent"), 3, ruling("dismissed", answer))
    assert alarm is not None
    assert alarm.state == "dismissed"
    assert fact.status == status
    assert fact.counts(worst=True) is None
