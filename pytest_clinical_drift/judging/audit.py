"""The audit: entries that the readings cleared and that are asked about all the same, drawn by hash."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import demands_at, probes_of
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.entries import About, about_entry
from pytest_clinical_drift.judging.material import forbidden_at
from pytest_clinical_drift.judging.questions import question_for
from pytest_clinical_drift.judging.raised_points import Point, Read
from pytest_clinical_drift.judging.rulings import Raised, Ruling, State
from pytest_clinical_drift.metrics import SEED

WANTED = 150
"""Cleared entries of a run that are asked about, the same number of each kind as far as there are so many."""
AUDITED = ("fact", "must", "must_not", "forbidden", "harm", "conflict")
"""Kinds of which a reading has an entry for every text; of what it only lists, nothing is there to be asked about."""


def audit_rates(cases: Sequence[Case], repeats: int, wanted: int = WANTED) -> dict[str, float]:
    """Share of each kind that is drawn, computed from the whole set's case files, so that shards draw the same."""
    expected: Counter[str] = Counter()
    for case in cases:
        probed = set(probes_of(case).turns)
        for turn in case.turns:
            own = case.is_own(turn.turn)
            expected["fact"] += len(facts_at(case, turn.turn)) if turn.turn in probed else 0
            expected.update(demand.kind for demand in (demands_at(case, turn.turn) if own else ()))
            expected["forbidden"] += bool(forbidden_at(case, turn.turn))
            expected["harm"] += 1
            expected["conflict"] += own and turn.turn > 1
    share = wanted / len(AUDITED) / repeats
    return {kind: min(1.0, share / expected[kind]) for kind in AUDITED if expected[kind]}


def draw(rates: Mapping[str, float], repeat: int, read: Read, known: Sequence[Point]) -> list[Point]:
    """Some of the cleared entries of one conversation, besides the points already known."""
    asked, drawn = {point.about for point in known}, []
    for reading, entries in read:
        for entry in entries if reading.kind != "conversation" and not reading.source else ():
            about, rate = about_entry(entry), rates.get(entry.kind, 0.0)
            if entry.raised or entry.answer == UNSURE or about in asked:
                continue
            if rate > 0 and random.Random(f"{SEED}/{reading.case_id}/{repeat}/{about}").random() < rate:
                question = question_for(reading, entry)
                drawn.append(Point(about, entry.kind, Raised.AUDIT, question, entry, reading=reading.key))
    return drawn


@dataclass(frozen=True, slots=True)
class AuditCount:
    """What the audit of one conversation showed."""

    asked: int = 0
    """Cleared entries whose question was answered."""
    wrong: int = 0
    """Upheld in both wordings."""
    open: int = 0
    """Upheld in one wording."""


def audit_count(rulings: Mapping[About, Ruling]) -> AuditCount:
    drawn = [ruling for ruling in rulings.values() if ruling.audit and not ruling.by_person]
    answered = [r for r in drawn if any(not o.reading and o.answer != UNSURE for o in r.opinions)]
    states = [ruling.state for ruling in answered]
    return AuditCount(len(answered), states.count(State.CONFIRMED), states.count(State.OPEN))
