"""Two regimens of one medicine: what conflicts in dose, frequency, division and time of day, and what is not said."""

from __future__ import annotations

from pytest_clinical_drift.evidence.mentions.regimen import Regimen, same_amount
from pytest_clinical_drift.evidence.quantities.amounts import same
from pytest_clinical_drift.evidence.quantities.frequencies import MOST_DAYS


def compare(wanted: Regimen, stated: Regimen, missing: list[str]) -> str:
    """What conflicts between two regimens, or ""; what is not stated is added to `missing`."""
    if wanted.ratios:
        if not stated.ratios:
            missing.append("strength")
        elif wanted.ratios[0] not in stated.ratios:
            return f"strength {stated.ratios[0]} instead of {wanted.ratios[0]}"
    if wanted.strengths:
        conflict = _compare_strength(wanted, stated, missing)
        if conflict:
            return conflict
    elif wanted.per_day is not None:
        conflict = _compare_rate(wanted, stated, missing)
        if conflict:
            return conflict
    if wanted.counts:
        alike = [c for c in stated.counts if c.dimension == wanted.counts[0].dimension]
        if not alike:
            missing.append(f"number of {wanted.counts[0].dimension}s")
        elif not any(same(c.value, wanted.counts[0].value) for c in alike):
            return f"{alike[0].value:g} instead of {wanted.counts[0].value:g} {wanted.counts[0].dimension}s"
    if wanted.hours and not any(same(h, wanted.hours[0], 1.0) for h in stated.hours):
        missing.append("duration")
    return ""


def _compare_strength(wanted: Regimen, stated: Regimen, missing: list[str]) -> str:
    goal = wanted.strengths[0]
    doses = list(stated.strengths)
    if not doses:
        missing.append("dose")
        return _compare_rate(wanted, stated, missing) if stated.times else ""
    matching = [dose for dose in doses if same_amount(goal, dose)]
    rate = wanted.per_day
    found = stated.per_day
    if (
        len(doses) > 1
        and len(matching) == len(doses)
        and stated.parts_of_day
        and len(stated.parts_of_day) == len(doses)
    ):
        found = float(len(doses))
    split = [d for d in doses if d not in matching and found and d.dimension == goal.dimension]
    if matching and rate == 1 and any(same(d.base * (found or 1), goal.base) for d in split):
        return ""  # "100 mg three times a day (300 mg daily)"
    if matching:
        return _compare_rate(wanted, stated, missing, found)
    for dose in doses:
        whole = dose.dimension == goal.dimension and same(dose.base * (found or 1), goal.base * (rate or 1))
        if dose.unit is not None and whole and not (rate == 1 and wanted.once):
            missing.append("how the daily amount is divided")
            return ""
    if all(dose.unit is None for dose in doses):
        missing.append("dose")
        return ""
    if goal.dimension == "unit" and any(d.dimension == "volume" and same(d.value, goal.value) for d in doses):
        return "ml instead of units"
    if goal.dimension in ("mass", "unit") and all(d.dimension not in ("mass", "unit") for d in doses):
        missing.append("dose")
        return ""
    dose = doses[-1]
    unit = dose.unit.name if dose.unit else ""
    return f"{dose.value:g} {unit} instead of {goal.value:g} {goal.unit.name if goal.unit else ''}".strip()


def _compare_rate(wanted: Regimen, stated: Regimen, missing: list[str], found: float | None = None) -> str:
    rate = wanted.per_day
    if rate is None:
        return ""
    found = stated.per_day if found is None else found
    if found is None:
        missing.append("how often")
        return ""
    if found == MOST_DAYS:
        missing.append("how often")
        return ""  # "takes it most days": how well it is taken, not how it is prescribed
    if rate == 0 and any(f.per_day == 0 for f in stated.times):
        return ""  # "up to three times a day as needed": the limit beside it
    if rate == 0 and any(f.per_day and same(f.per_day, found, 0.06 * found) for f in wanted.times):
        missing.append("as needed")
        return ""
    # A month counts as four weeks; how often something is used as needed says no more than that it is used.
    if not same(rate, found, 0.0011 + 0.06 * rate if rate < 0.5 else 0.0):
        if not stated.certain or (rate == 0 and found < 1):
            missing.append("how often")
            return ""
        if found == 0 or rate == 0:
            return "as needed instead of regularly" if found == 0 else "regularly instead of as needed"
        return f"{found:g} instead of {rate:g} times a day" if found >= 1 and rate >= 1 else "another interval"
    if wanted.parts_of_day and not wanted.parts_of_day & stated.parts_of_day:
        if stated.parts_of_day:
            return f"in the {min(stated.parts_of_day)} instead of {min(wanted.parts_of_day)}"
        missing.append("time of day")
    return ""
