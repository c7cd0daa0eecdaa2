"""What a worker sends to the controller: a case's assessments with the verdict that was made of them, once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

from pydantic import TypeAdapter

from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.values import CaseVerdict

Judged = tuple[tuple[CaseAssessment, ...], CaseVerdict]
"""The repeats of a case, and its verdict."""


@cache
def _adapter() -> TypeAdapter[Judged]:
    return TypeAdapter(Judged)


def pack(assessments: Sequence[CaseAssessment], verdict: CaseVerdict) -> str:
    """Plain text that crosses process borders; surrogates are escaped."""
    plain = _adapter().dump_python((tuple(assessments), verdict), mode="python")
    return json.dumps(plain, ensure_ascii=True, default=str)


def unpack(text: str) -> Judged:
    """The inverse of `pack`."""
    return _adapter().validate_python(json.loads(text))
