"""Treatments that were turned down, and what a medicine is for."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.retention import assess_retention

RETAINED, PARTIAL, CONTRADICTED, ABSENT = "retained", "partial", "contradicted", "absent"

STATED = {
    "mammogram declined": {
        "She turned the mammogram down.": RETAINED,
        "A mammogram was offered and declined.": RETAINED,
        "She had a mammogram in spring.": CONTRADICTED,
        "A mammogram is planned for spring.": ABSENT,
    },
    "apixaban for atrial fibrillation": {
        "Atrial fibrillation, on apixaban.": RETAINED,
        "He takes apixaban.": PARTIAL,
        "He has atrial fibrillation.": PARTIAL,
        "Atrial fibrillation; apixaban was stopped.": CONTRADICTED,
        "He takes ramipril.": ABSENT,
    },
    "allopurinol caused hepatitis": {
        "Allopurinol gave him hepatitis.": RETAINED,
        "He could not tolerate allopurinol.": PARTIAL,
        "He had hepatitis from alcohol.": ABSENT,
    },
}


@pytest.mark.parametrize("fact", STATED)
def test_refusals_reasons_and_reactions(fact: str) -> None:
    """What was refused, what a medicine is for and what it brought about each take both of their parts."""
    found = {text: assess_retention(text, [fact])[0].status for text in STATED[fact]}
    assert found == STATED[fact]
