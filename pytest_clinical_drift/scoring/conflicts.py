"""Pairs of replies: which were compared, which contradict each other, and how often."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.evidence.found import Findings
from pytest_clinical_drift.judging.answers import against
from pytest_clinical_drift.judging.opinions import DISMISSED as SAYS_NO
from pytest_clinical_drift.judging.opinions import OPEN as SPLIT
from pytest_clinical_drift.judging.opinions import UPHELD
from pytest_clinical_drift.metrics.conflict import conflict_rate
from pytest_clinical_drift.scoring.alarms import Rulings, conflict_alarms
from pytest_clinical_drift.scoring.assessment import CONFIRMED, OPEN, Alarm, ConflictFigures, Contradiction
from pytest_clinical_drift.transcript import Exchange

NO_PAIRS = "no two turns gave advice, so nothing could contradict"
NO_REPLIES = "the recording holds summaries only, no replies"
_NO_ADVICE = "no advice"


def judged_pairs(
    findings: Findings, rulings: Rulings, exchanges: Sequence[Exchange]
) -> tuple[ConflictFigures, list[Alarm]]:
    """K_Conflict at both ends, and the alarms on pairs of replies."""
    pairs = adjacent = _evaluated_pairs(findings, rulings)
    alarms, found = [], []
    for alarm, by_rule in conflict_alarms(findings, rulings):
        near = (alarm.earlier_turn, alarm.turn) in adjacent
        alarms.append(alarm)
        if alarm.state == CONFIRMED:
            earlier = alarm.earlier_turn or 0
            found.append(
                Contradiction(earlier, alarm.turn, alarm.earlier_quote, alarm.quote, alarm.reason, alarm.severe, near)
            )
        elif by_rule is not None and not near and alarm.state == OPEN:
            alarms.pop()  # a distant pair that nobody confirms is not put to anybody
    sure = sum(c.adjacent for c in found)
    open_ones = sum(a.state == OPEN and (a.earlier_turn, a.turn) in adjacent for a in alarms)
    rate = conflict_rate(sure, len(pairs))
    recorded_without = any(e.reply is not None and not e.reply.recorded for e in exchanges)
    reason = "" if rate is not None else (NO_REPLIES if recorded_without else NO_PAIRS)
    return ConflictFigures(len(pairs), sure, rate, reason, tuple(found), sure + open_ones), alarms


def _evaluated_pairs(findings: Findings, rulings: Rulings) -> set[tuple[int, int]]:
    """Adjacent pairs that gave advice: as rules see it, with what was ruled on each; only what decides counts."""
    pairs = set(findings.pairs)
    for about, ruling in rulings.items():
        if about[0] != "conflict":
            continue
        pair = (int(about[1]), int(about[2]))
        suspected = any(against("conflict", opinion.answer) for opinion in ruling.opinions)
        if ruling.outcome == SAYS_NO and ruling.answer == _NO_ADVICE:
            pairs.discard(pair)
        elif pair[1] - pair[0] == 1 and (
            ruling.outcome in (UPHELD, SAYS_NO) or (ruling.outcome == SPLIT and suspected)
        ):
            pairs.add(pair)
    return pairs
