"""The public function: order, entities, aliases, quotations."""

from __future__ import annotations

import pytest

from pytest_clinical_drift import assess_retention
from pytest_clinical_drift.cases.model import CriticalEntity
from pytest_clinical_drift.evidence.facts.retention import assess_document
from pytest_clinical_drift.evidence.reading.text import read

SUMMARY = "<think>gout</think>\n**Medicines:** sertraline 50\u202fmg o.d.\nNo asthma."


def test_one_result_per_fact_in_order() -> None:
    """Strings and entities alike; the given text comes back."""
    facts = ["asthma", CriticalEntity(id="ssri", text="sertraline 50 mg once daily"), "gout"]
    found = assess_retention(SUMMARY, facts)
    assert [r.entity for r in found] == ["asthma", "sertraline 50 mg once daily", "gout"]
    assert [r.status for r in found] == ["contradicted", "retained", "absent"]


def test_quotations_index_the_raw_text() -> None:
    """Thin spaces and emphasis included; nothing stated, nothing quoted."""
    for retention in assess_retention(SUMMARY, ["asthma", "sertraline 50 mg once daily"]):
        assert retention.evidence
        assert all(SUMMARY[span.start : span.end] == span.quote for span in retention.evidence)
    assert assess_retention(SUMMARY, ["gout"])[0].evidence == ()


def test_a_reason_stands_unless_it_is_plain() -> None:
    """Retained plainly needs no reason; everything else has one."""
    facts = [
        "asthma",
        "sertraline 50 mg once daily",
        "gout",
        "sertraline 100 mg once daily",
        "sertraline 50 mg at night",
    ]
    for retention in assess_retention(SUMMARY, facts):
        assert bool(retention.reason) != (retention.status == "retained" and retention.certain)
        assert retention.rule


def test_an_alias_states_the_fact() -> None:
    """Where the text of the fact says less, its aliases count."""
    fact = CriticalEntity(id="w", text="widowed", aliases=["her husband died"])
    assert assess_retention("Her husband died last spring.", [fact])[0].status == "retained"


def test_a_document_read_before_gives_the_same() -> None:
    """Text or document, in one call or several."""
    facts = ["asthma", "sertraline 50 mg once daily"]
    assert assess_document(read(SUMMARY), facts) == assess_retention(SUMMARY, facts)
    assert [assess_retention(SUMMARY, [fact])[0] for fact in facts] == assess_retention(SUMMARY, facts)


def test_nothing_to_assess() -> None:
    """No facts, no results; an empty summary states nothing."""
    assert assess_retention("Anything.", []) == []
    assert assess_retention("", ["asthma"])[0].status == "absent"


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Does she have a penicillin allergy?", "penicillin allergy"),
        ("Is her HbA1c 71 mmol/mol?", "HbA1c 71 mmol/mol"),
        ("Is she on sertraline 50 mg once daily?", "sertraline 50 mg once daily"),
        ("Does she live with her parents?", "lives with her parents"),
    ],
)
def test_a_question_states_no_fact(question: str, fact: str) -> None:
    """What is only asked about is absent, whatever kind of fact it is."""
    assert assess_retention(question, [fact])[0].status == "absent"
