"""Medicines and doses of a case against the vocabulary: unknown names, doses that deserve a second look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_clinical_drift.cases.model import Case, CriticalEntity
from pytest_clinical_drift.evidence.facts.slots import parse_fact
from pytest_clinical_drift.evidence.mentions.regimen import Regimen
from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS
from pytest_clinical_drift.lint.remark import Finding, Findings, error, warning

_LOW, _HIGH = 0.5, 1.5
"""How far outside the usual range a dose may lie: children, loading doses, divided tablets."""
_DAILY_SLACK = 1.25
_OFTEN = 0.5
"""Doses per day from which a medicine counts as taken daily: every other day and more."""


def medicines_and_doses(case: Case) -> Findings:
    """Medication facts, also new and changed ones, that name no known medicine or an unusual dose."""
    for fact in stated_facts(case):
        if fact.kind == "medication":
            yield from _of_fact(fact)


def stated_facts(case: Case) -> list[CriticalEntity]:
    """Every fact that the case ever holds for true: of the intake, introduced, and as changed by updates."""
    introduced = [fact for turn in case.turns for fact in turn.introduces]
    known = {name: fact for fact in (*case.critical_entities, *introduced) for name in (fact.text, fact.id)}
    changed = [
        known[update.fact].model_copy(update={"text": update.becomes})
        for turn in case.turns
        for update in turn.updates
        if update.becomes and update.policy != "annotate"
    ]
    return [*case.critical_entities, *introduced, *changed]


def _of_fact(fact: CriticalEntity) -> Findings:
    parsed = parse_fact(fact.text, fact.kind)
    concepts = [slot.concept for slot in (parsed.core, *parsed.details) if slot.concept is not None]
    if not any(concept.kind in (DRUG, DRUG_CLASS) for concept in concepts):
        yield warning(fact.id, f"no medicine of the vocabulary in {fact.text!r}: check the spelling")
    elif parsed.regimen is not None and parsed.core.concept is not None:
        yield from _of_regimen(fact, parsed.core.concept.data, parsed.regimen)


def _of_regimen(fact: CriticalEntity, entry: Mapping[str, Any], regimen: Regimen) -> Iterator[Finding]:
    ranges = [dose for dose in (entry.get("dose"), *entry.get("other_doses", ())) if dose]
    for amount in regimen.strengths:
        comparable = [dose for dose in ranges if _unit(dose["unit"], amount) is not None]
        if not comparable or amount.unit is None:
            continue
        said = f"{fact.text!r}: {amount.value:g} {amount.unit.name}"
        per_day = regimen.per_day
        if not any(_usual_single(dose, amount) for dose in comparable):
            yield warning(fact.id, f"{said} lies outside the usual {_described(comparable)}")
        elif per_day and per_day >= _OFTEN and all(_rarer_than_daily(dose) for dose in comparable):
            often = comparable[0]["frequency"]
            yield error(fact.id, f"{said} {per_day:g} times a day, where the usual frequency is {often}")
        elif per_day and not any(_usual_daily(dose, amount, per_day) for dose in comparable):
            most = max(dose["max_daily"] for dose in comparable if "max_daily" in dose)
            yield warning(fact.id, f"{said} {per_day:g} times a day is more than the usual {most:g} in a day")


def _usual_single(dose: Mapping[str, Any], amount: Amount) -> bool:
    one = _unit(dose["unit"], amount) or 0.0
    return bool(dose["min"] * one * _LOW <= amount.base <= dose["max"] * one * _HIGH)


def _usual_daily(dose: Mapping[str, Any], amount: Amount, per_day: float) -> bool:
    if "max_daily" not in dose:
        return True
    one = _unit(dose["unit"], amount) or 0.0
    return bool(amount.base * max(per_day, 1.0) <= dose["max_daily"] * one * _DAILY_SLACK)


def _rarer_than_daily(dose: Mapping[str, Any]) -> bool:
    return dose.get("frequency") not in (None, "daily")


def _unit(name: str, amount: Amount) -> float | None:
    """Base-unit value of one `name`, None when it measures something else than the amount does."""
    found = amounts(read(f"1 {name}"))
    return found[0].base if found and found[0].dimension == amount.dimension else None


def _described(ranges: list[Any]) -> str:
    return " or ".join(f"{dose['min']:g} to {dose['max']:g} {dose['unit']}" for dose in ranges)
