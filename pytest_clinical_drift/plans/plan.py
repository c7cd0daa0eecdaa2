"""Target plans and their file: a plan's text, the components it is made of, and the words each rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pytest_clinical_drift.errors import InputError

Source = Literal["rules", "linked", "imported"]


@dataclass(frozen=True, slots=True)
class Component:
    """One part of a plan."""

    id: str
    evidence: tuple[str, ...]
    """Quotes it rests on: of the intake, of a message, or of the counsellor's reasoning."""
    probability: float | None = None
    """How sure the model is that the best quote says so; None for rules."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A target plan of one case."""

    case_id: str
    text: str
    source: Source
    components: tuple[Component, ...] = ()
    source_openr1_id: int | str | None = None
    """Row of the reasoning data that a linked plan comes from."""
    source_split: str | None = None


def write_plans(plans: Sequence[Plan], file: Path, *, verifier: str | None = None) -> None:
    """Write `target_plans.json`; equal plans give an equal file."""
    counts = {source: sum(plan.source == source for plan in plans) for source in ("rules", "linked", "imported")}
    meta = {"generator": f"pytest-clinical-drift {_version()}", "verifier": verifier, "plans": len(plans), **counts}
    data = {
        "meta": meta,
        "plans": {plan.case_id: _entry(plan) for plan in sorted(plans, key=lambda plan: plan.case_id)},
    }
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror or error})") from None


def read_plans(file: Path) -> dict[str, Plan]:
    """Read a `target_plans.json`, ours or the original's; plans by case id."""
    try:
        data = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{file}: not valid JSON ({str(error).splitlines()[0]})") from None
    entries = data.get("plans", data) if isinstance(data, dict) else None
    if not isinstance(entries, dict):
        raise InputError(f"{file}: expected a mapping 'plans' from case id to plan, found {type(data).__name__}")
    found = (_plan(file, str(case_id), entry) for case_id, entry in entries.items() if case_id != "meta")
    return {plan.case_id: plan for plan in found if plan is not None}


def _entry(plan: Plan) -> dict[str, Any]:
    return {
        "plan": plan.text,
        "source": plan.source,
        "source_openr1_id": plan.source_openr1_id,
        "source_split": plan.source_split,
        "plan_components": [component.id for component in plan.components],
        "plan_component_evidence": {
            component.id: {"quotes": list(component.evidence), "probability": component.probability}
            for component in plan.components
        },
    }


def _plan(file: Path, case_id: str, entry: object) -> Plan | None:
    """One entry; the original leaves the text empty where it found nothing."""
    if isinstance(entry, str):
        entry = {"plan": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("plan"), str | None):
        raise InputError(f"{file}: the plan of {case_id!r} must be a text or a mapping with 'plan'")
    text = (entry.get("plan") or "").strip()
    if not text:
        return None
    number = entry.get("source_openr1_id")
    return Plan(
        case_id,
        text,
        "imported",
        _components(entry),
        number if isinstance(number, int | str) else None,
        str(entry["source_split"]) if entry.get("source_split") else None,
    )


def _components(entry: Mapping[str, Any]) -> tuple[Component, ...]:
    evidence = entry.get("plan_component_evidence")
    evidence = evidence if isinstance(evidence, dict) else {}
    names = entry.get("plan_components")
    names = names if isinstance(names, list) else list(evidence)
    return tuple(_component(str(name), evidence.get(name)) for name in names)


def _component(name: str, evidence: object) -> Component:
    """Evidence is a quote, a list of quotes, or a mapping that holds them, in files of different ages."""
    probability: float | None = None
    if isinstance(evidence, dict):
        scores = [value for value in evidence.values() if isinstance(value, float)]
        probability = scores[0] if scores else None
        evidence = [value for value in evidence.values() if isinstance(value, str | list)]
    return Component(name, tuple(_quotes(evidence)), probability)


def _quotes(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, list):
        return [quote for item in value for quote in _quotes(item)]
    if isinstance(value, dict):
        return [quote for item in value.values() for quote in _quotes(item)]
    return []


def _version() -> str:
    try:
        return version("pytest-clinical-drift")
    except PackageNotFoundError:
        return "(not installed)"
