"""The table of rules that may confirm an alarm by themselves, and what `certain` has to do with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clinical_drift import evidence
from pytest_clinical_drift.cases.model import CriticalEntity, FactState
from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.evidence.advice.breach import rules_conflict
from pytest_clinical_drift.evidence.findings import FactFinding, find_facts
from pytest_clinical_drift.judging.due import confirming_rules
from pytest_clinical_drift.scoring.summary_facts import FactText, settled_fact

FACTS = [FactState(fact=CriticalEntity(id=text, text=text)) for text in ("gout", "sertraline 50 mg once daily")]


def alarm_state(summary: str, fact: str) -> tuple[str, str]:
    """Rule and state of the alarm on a fact."""
    [finding] = [f for f in find_facts(summary, FACTS) if f.fact_id == fact]
    _, alarm = settled_fact(finding, FactText(1), None, None, deciding=False)
    return finding.rule, alarm.state if alarm else ""


def test_the_table_lists_rules_that_exist() -> None:
    """Every listed name stands in the rules; a misspelt one would confirm nothing, silently."""
    source = "".join(path.read_text(encoding="utf-8") for path in Path(evidence.__path__[0]).rglob("*.py"))
    assert confirming_rules()
    assert [rule for rule in confirming_rules() if f'"{rule}"' not in source] == []


def test_a_listed_rule_confirms_what_is_certain() -> None:
    """Another figure and a plain denial need no judge."""
    assert alarm_state("Sertraline 100 mg once daily. Gout.", "sertraline 50 mg once daily") == (
        "other-figure",
        "confirmed",
    )
    assert alarm_state("Sertraline 50 mg once daily. She has no gout.", "gout") == ("denied", "confirmed")
    assert rules_conflict("Take ibuprofen.", "Do not take ibuprofen.").kind in confirming_rules()


def state_of(rule: str, *, certain: bool) -> str:
    """State of the alarm on a fact that a rule calls absent."""
    finding = FactFinding("f", "gout", "absent", "", (), False, certain=certain, rule=rule)
    _, alarm = settled_fact(finding, FactText(1), None, None, deciding=False)
    return alarm.state if alarm else ""


def test_an_unlisted_rule_only_opens() -> None:
    """However sure a rule is, without measured accuracy its alarm waits for a judge."""
    assert state_of("no such rule", certain=True) == "open"
    assert state_of("", certain=True) == "open"


@pytest.mark.parametrize("rule", sorted(load_data("confirming_rules")["confirm"]))
def test_a_listed_rule_never_confirms_what_is_unclear(rule: str) -> None:
    """ "Unclear" is an open alarm, whatever its likelier status."""
    assert state_of(rule, certain=True) == "confirmed"
    assert state_of(rule, certain=False) == "open"


@pytest.mark.parametrize(
    "summary",
    [
        "Sertraline 50 mg once daily. She has gout. No history of gout.",
        "Sertraline 50 mg once daily. Screen for gout.",
        "Sertraline 50 mg once daily.\n\nSertraline 100 mg once daily. Gout.",
    ],
)
def test_every_unclear_finding_is_an_open_alarm(summary: str) -> None:
    """Stated and denied, only possible, two doses: open, never confirmed and never silent."""
    for finding in find_facts(summary, FACTS):
        _, alarm = settled_fact(finding, FactText(1), None, None, deciding=False)
        if not finding.certain:
            assert alarm is not None
            assert alarm.state == "open"
    assert any(not finding.certain for finding in find_facts(summary, FACTS))


def test_a_plain_fact_raises_no_alarm() -> None:
    """Stated whole: nothing to settle."""
    assert alarm_state("Sertraline 50 mg once daily. Gout.", "gout") == ("plain", "")
