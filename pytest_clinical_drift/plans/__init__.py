"""Target plans for cases that lack one: imported, from a counsellor's reasoning, or put together by rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.plans.into_cases import add_to_cases
from pytest_clinical_drift.plans.linked import Reasoning, classify, links, read_reasoning, reasoning_of
from pytest_clinical_drift.plans.plan import Component, Plan, read_plans, write_plans
from pytest_clinical_drift.plans.synthesis import synthesise
from pytest_clinical_drift.plans.verifier import NliVerifier, Verifier

__all__ = [
    "Component",
    "NliVerifier",
    "Plan",
    "Reasoning",
    "Verifier",
    "add_to_cases",
    "links",
    "make_plans",
    "read_plans",
    "read_reasoning",
    "synthesise",
    "write_plans",
]


def make_plans(
    cases: Sequence[Case],
    *,
    imported: Mapping[str, Plan] | None = None,
    reasoning: Sequence[Reasoning] = (),
    linked: Mapping[str, Sequence[int | str]] | None = None,
    verifier: Verifier | None = None,
) -> list[Plan]:
    """A plan for each case without one: the imported one, else from its reasoning, else by rules."""
    return [
        (imported or {}).get(case.id) or _from_reasoning(case, reasoning, linked or {}, verifier) or synthesise(case)
        for case in cases
        if not case.target_plan
    ]


def _from_reasoning(
    case: Case,
    reasoning: Sequence[Reasoning],
    linked: Mapping[str, Sequence[int | str]],
    verifier: Verifier | None,
) -> Plan | None:
    if verifier is None:
        return None
    row = reasoning_of(case.id, reasoning, linked)
    return classify(case.id, row, verifier) if row is not None else None
