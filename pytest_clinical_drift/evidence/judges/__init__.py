"""Judges of contradiction: they share one Protocol and are chosen by name."""

from __future__ import annotations

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.judges.protocol import Conflict, Judge
from pytest_clinical_drift.evidence.judges.rules import RulesJudge

__all__ = ["Conflict", "Judge", "RulesJudge", "load_judge"]


def load_judge(spec: str) -> Judge:
    """The judge that `rules` or `nli[:MODEL]` names; weights are loaded when it first judges."""
    name, _, model = spec.partition(":")
    if name == "rules" and not model:
        return RulesJudge()
    if name == "nli":
        from pytest_clinical_drift.evidence.judges.cross_encoder import DEFAULT_MODEL
        from pytest_clinical_drift.evidence.judges.nli import NliJudge

        return NliJudge(model or DEFAULT_MODEL)
    raise InputError(f"there is no judge {spec!r}; write 'rules', 'nli' or 'nli:MODEL'")
