"""A plan or an intention beside a finding, stated or denied: "no plans", "would never act on it"."""

from __future__ import annotations

from collections.abc import Callable

from pytest_clinical_drift.evidence.context import context_at
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, RETAINED, Outcome
from pytest_clinical_drift.evidence.reading.phrases import Cue, cues_of
from pytest_clinical_drift.evidence.text import Document

_FILE = "intentions"
_KINDS = ("plan", "intent")


def intention(fact: Fact, part: str, document: Document, near: Callable[[int], bool]) -> Outcome | None:
    """Whether the plan or intention that a part of a fact asks for (or denies) is stated near; None: neither."""
    wanted = [kind for kind in _KINDS if kind in part.lower().split() or f"{kind}s" in part.lower().split()]
    if not wanted:
        return None
    evidence: list[tuple[int, int]] = []
    for kind in wanted:
        without, having = _found(document, kind, near)
        agreeing, against = (without, having) if _denied(fact, kind) else (having, without)
        if against and not agreeing:
            word = "denied" if against is without else "stated"
            return Outcome(CONTRADICTED, ((against[0].first, against[0].last),), f"{kind} is {word}")
        if not agreeing:
            return None
        evidence.append((agreeing[0].first, agreeing[0].last))
    return Outcome(RETAINED, tuple(evidence))


def _denied(fact: Fact, kind: str) -> bool:
    words = fact.document.words
    places = [i for i, word in enumerate(words) if word.startswith(kind)]
    return fact.negative or any(context_at(fact.document, i, i).negated for i in places[:1])


def _found(document: Document, kind: str, near: Callable[[int], bool]) -> tuple[list[Cue], list[Cue]]:
    """Statements that there is none, and statements that there is one."""
    cues = cues_of(document, _FILE)
    without = [c for c in cues.between(f"no_{kind}", 0, len(document)) if near(c.first)]
    having = [
        c
        for c in cues.between(kind, 0, len(document))
        if near(c.first)
        and not context_at(document, c.first, c.last).negated
        and not any(o.first <= c.last and c.first <= o.last for o in without)
    ]
    return without, having
