"""Missed doses of two replies compared: a rule for them, and what is to be done about one against that rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_clinical_drift.evidence.guidance.missed import Remedy, Window, remedies_of
from pytest_clinical_drift.evidence.guidance.objects import related
from pytest_clinical_drift.evidence.judges.excuses import Excuses
from pytest_clinical_drift.evidence.judges.protocol import Conflict

_EXCLUDE = {("take", "skip"), ("skip", "take"), ("not double", "double"), ("skip", "double")}


def missed_opposed(earlier: str, later: str, excuses: Excuses) -> Iterator[Conflict]:
    """Every rule of the earlier reply that the later one breaks in the situation the rule is for."""
    rules = remedies_of(earlier)
    if not rules:
        return
    for given in remedies_of(later):
        broken = _broken(rules, given)
        if broken is not None and not excuses.news_at(given.sentence, given.medicines, given.topic):
            reason = f"a {broken.event} dose: {broken.outcome} here, {given.outcome} there"
            yield Conflict(
                True, reason, (broken.quote, given.quote), True, "missed dose", min(given.medicines, default=None)
            )


def _broken(rules: Sequence[Remedy], given: Remedy) -> Remedy | None:
    """The rule that holds for what is given, where all that hold say otherwise."""
    holding = [
        rule for rule in rules if rule.event == given.event and _one_medicine(rule, given) and _holds(rule, given)
    ]
    if not holding or not all((rule.outcome, given.outcome) in _EXCLUDE for rule in holding if _decides(rule, given)):
        return None
    return next((rule for rule in holding if _decides(rule, given)), None)


def _decides(rule: Remedy, given: Remedy) -> bool:
    """Whether a rule is about what is given: taking two, or else taking it at all."""
    return ("double" in rule.outcome) == ("double" in given.outcome) or (rule.outcome, given.outcome) == (
        "skip",
        "double",
    )


def _holds(rule: Remedy, given: Remedy) -> bool:
    """Whether a rule holds in the situation: its window is met; "nearly time for the next" is none to go by."""
    if "double" in given.outcome:
        return True
    if rule.late is not None:
        return given.late is not None and _within(rule.late, given.late)
    if rule.ahead is not None:
        return given.ahead is not None and _within(rule.ahead, given.ahead)
    return False


def _within(rule: Window, given: Window) -> bool:
    return rule[0] <= given[0] and given[1] <= rule[1] and rule != given


def _one_medicine(rule: Remedy, given: Remedy) -> bool:
    if not rule.medicines or not given.medicines:
        return True
    return any(related(one, other) for one in rule.medicines for other in given.medicines)
