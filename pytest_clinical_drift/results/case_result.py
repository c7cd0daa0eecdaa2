"""One case in the record of a run."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode
from pytest_clinical_drift.verdict.values import CaseVerdict, Judgement

UNDIAGNOSED = Reason(ReasonCode.NOTHING_TO_DIAGNOSE)


@dataclass(frozen=True, slots=True)
class CaseResult(CaseVerdict):
    """One case: its verdict, and the conversations behind it, as they were scored."""

    judgements: tuple[Judgement, ...] = ()
    diagnosed: Reason = UNDIAGNOSED
    headline: str = ""
    """What went wrong, in a line for readers of the file."""
    diagnosis: str = ""
    """The same as `diagnosed`, in words."""
    repeats: tuple[CaseAssessment, ...] = ()

    @property
    def group(self) -> str:
        """Cases of one group are not independent of each other."""
        return self.repeats[0].group if self.repeats else self.case_id
