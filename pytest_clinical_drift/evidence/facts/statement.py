"""What one place of a text says about a fact, and how the places together decide its status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RETAINED, PARTIAL, CONTRADICTED, ABSENT = "retained", "partial", "contradicted", "absent"

# What a statement says, strongest first.
PLAIN, CLASH, DENIED, PART, VAGUE, TRACE, OTHER, DOUBT = (
    "plain", "clash", "denied", "part", "vague", "trace", "other", "doubt",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """One place of a text that speaks of a fact."""

    said: str
    spans: tuple[tuple[int, int], ...]
    """First and last tokens of the words that say it."""
    reason: str = ""
    rule: str = ""
    """Name of the rule that found it; alarms are measured by it."""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """Status of a fact in a text."""

    status: str
    spans: tuple[tuple[int, int], ...] = ()
    reason: str = ""
    rule: str = ""
    certain: bool = True
    rival: tuple[tuple[int, int], ...] = ()
    """What speaks against a plain statement."""


def decide(statements: Sequence[Statement], *, unnamed: bool = False) -> Outcome:
    """The best statement stands; what speaks against it makes it unclear.

    `unnamed`: no word of the text can be the fact.
    """
    of = {
        said: [s for s in statements if s.said == said]
        for said in (PLAIN, CLASH, DENIED, PART, VAGUE, TRACE, OTHER, DOUBT)
    }
    against = [s for s in (*of[CLASH], *of[DENIED]) if s.sure]
    if of[PLAIN]:
        plain = of[PLAIN][0]
        if against:
            rival = against[0]
            return Outcome(RETAINED, plain.spans + rival.spans, f"also: {rival.reason}", "rival", False, rival.spans)
        return Outcome(RETAINED, plain.spans, "", "plain")
    if any(s.sure for s in of[PART]):
        of[CLASH] = [s for s in of[CLASH] if s.sure or s.rule != "other-qualifier"]  # of the other eye, perhaps
    for said in (CLASH, DENIED):
        if of[said]:
            best = max(of[said], key=lambda s: s.sure)
            clear = best.sure and not (said == DENIED and of[PART])
            return Outcome(CONTRADICTED, best.spans, best.reason, best.rule, clear)
    if of[PART]:
        best = max(of[PART], key=lambda s: s.sure)
        return Outcome(PARTIAL, best.spans, best.reason, best.rule, best.sure)
    if of[VAGUE]:
        return Outcome(PARTIAL, of[VAGUE][0].spans, of[VAGUE][0].reason, "general-name", certain=False)
    for said, rule in ((TRACE, "fragments"), (OTHER, "someone-else"), (DOUBT, "not-asserted")):
        if of[said]:
            certain = said == OTHER and len(of[OTHER]) == len(statements) and all(s.sure for s in of[OTHER])
            return Outcome(ABSENT, of[said][0].spans, of[said][0].reason, rule, certain)
    return Outcome(ABSENT, (), "not stated", "unnamed" if unnamed else "no-words", certain=unnamed)
