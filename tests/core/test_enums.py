"""Words print as their values, wherever text is made of them."""

from __future__ import annotations

import json

from pytest_clinical_drift.cases.entries import DemandKind, Grade
from pytest_clinical_drift.transcript import Purpose


def test_a_word_prints_like_its_plain_text() -> None:
    """The seeds of the audit hold tuples such as ("must", 3, "t3-must-1") as text."""
    assert f"{(DemandKind.MUST, 3)}" == "('must', 3)"
    assert f"{Grade.MAJOR!r} {Grade.MAJOR} {[Purpose.SINGLE]}" == "'major' major ['single']"
    assert json.dumps({DemandKind.MUST_NOT: Purpose.SUMMARY}) == '{"must_not": "summary"}'
