"""Whether two directives are about the same thing, or about a class and its member."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.objects import covers, related
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed

_ORAL = frozenset(["tablet", "tablets", "capsule", "capsules", "mouth", "oral", "pills", "pill"])


def shared_object(first: Advice, second: Advice) -> tuple[str, str, str] | None:
    """Ids of both sides that name the same thing or a class and its member, and how they relate."""
    member = None
    for one in first.objects:
        for other in second.objects:
            relation = related(one, other)
            if relation == "same":
                return one, other, relation
            if relation is not None and _rules_out(first, second, one, other):
                member = one, other, relation
    return member


def _rules_out(first: Advice, second: Advice, one: str, other: str) -> bool:
    """Of a class and its member: whether the side that forbids names the wider one, or both mean the patient's own."""
    if {first.action, second.action} <= {"stop", "continue"} and first.stance * second.stance < 0:
        return True
    if first.stance < 0 < second.stance:
        return covers((one,), other) and not _by_mouth_only(first, other)
    if second.stance < 0 < first.stance:
        return covers((other,), one) and not _by_mouth_only(second, one)
    return False


def _by_mouth_only(forbids: Advice, allowed: str) -> bool:
    """ "No diclofenac tablets" leaves the gel."""
    topical = not listed("topical").isdisjoint(allowed.partition(":")[2].split())
    return topical and not _ORAL.isdisjoint(forbids.quote.lower().replace(".", " ").replace(",", " ").split())
