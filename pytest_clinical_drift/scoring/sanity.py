"""The sanity band: what the best and the worst possible summaries score on these cases.

A subject that echoes the intake cannot forget it, one that says nothing cannot remember. If the echo scores low or the
silence scores at all, the matcher or the case set is broken, and no figure of the run means anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.evidence.finding_types import FactFinding
from pytest_clinical_drift.evidence.findings import find_facts
from pytest_clinical_drift.metrics.recall import mean, recall

LOWEST_CEILING = 0.95
"""An echo of the intake should find at least this share of the intake's facts."""


class SanityFault(StrEnum):
    """What makes the figures of a run mean nothing."""

    ECHO_LOSES_FACTS = "echo_loses_facts"
    SILENCE_KEEPS_FACTS = "silence_keeps_facts"


@dataclass(frozen=True, slots=True)
class SanityBand:
    """Recall of the echo and of silence, over the same cases."""

    echo_at_start: float | None
    """The intake, read for the facts of the intake."""
    echo_at_horizon: float | None
    """The same, against what is true at turn 10: facts that change on the way are missing from it by right."""
    silence: float | None
    """An empty summary at turn 10."""
    missed: tuple[str, ...]
    """Facts not found in their own intake: "case: fact"."""
    cases: int

    @property
    def faults(self) -> tuple[SanityFault, ...]:
        """What is wrong with matcher or cases; empty when the band is sound."""
        low = self.echo_at_start is not None and self.echo_at_start < LOWEST_CEILING
        found = {SanityFault.ECHO_LOSES_FACTS: low, SanityFault.SILENCE_KEEPS_FACTS: bool(self.silence)}
        return tuple(fault for fault, holds in found.items() if holds)


def sanity_band(cases: Sequence[Case]) -> SanityBand:
    at_start, at_t10, silence = [], [], []
    missed: list[str] = []
    for case in cases:
        before, after = facts_at(case, 0), facts_at(case, case.t10_turn)
        echo = find_facts(case.patient_summary, before)
        missed += [f"{case.id}: {finding.text}" for finding in echo if finding.status not in ("retained", "partial")]
        at_start.append(_recall(echo))
        at_t10.append(_recall(find_facts(case.patient_summary, after)) if after != before else at_start[-1])
        silence.append(_recall(find_facts("", after)))
    return SanityBand(mean(at_start), mean(at_t10), mean(silence), tuple(missed), len(cases))


def _recall(findings: Sequence[FactFinding]) -> float | None:
    return recall([finding.status for finding in findings])
