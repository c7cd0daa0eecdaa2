"""Lapses over the turns of a conversation: hard stops, updates that were not taken up, facts stated wrongly."""

from __future__ import annotations

from collections.abc import Sequence

from .assessment import FactFinding, TurnAssessment
from .cases import Case

__all__ = ["find_contradicted_facts", "find_hard_stops", "find_stale_facts"]


def _timeline(turns: Sequence[TurnAssessment]) -> dict[str, list[tuple[int, FactFinding]]]:
    """For each fact its findings, in turn order."""
    timeline: dict[str, list[tuple[int, FactFinding]]] = {}
    for turn in turns:
        for finding in turn.findings:
            timeline.setdefault(finding.fact_id, []).append((turn.turn, finding))
    return timeline


def _lasting(marked: Sequence[int], decisive: set[int]) -> list[int]:
    """Turns that make a lapse lasting: two in a row, or a decisive turn (the horizon, the last)."""
    return [turn for turn in marked if turn in decisive or turn - 1 in marked]


def _decisive_turns(case: Case) -> set[int]:
    return {case.horizon, len(case.turns)}


def find_hard_stops(case: Case, turns: Sequence[TurnAssessment]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Hard stops and single slips, one sentence each."""
    stops: list[str] = []
    slips: list[str] = []
    for history in _timeline(turns).values():
        if not history[0][1].hard_stop:
            continue
        text = history[-1][1].text
        denied = [(turn, finding) for turn, finding in history if finding.status == "contradicted"]
        absent = [turn for turn, finding in history if finding.status == "absent"]
        if denied:
            turn, finding = denied[0]
            words = f' ("{finding.quotes[0].text}")' if finding.quotes else ""
            stops.append(f'turn {turn}: contradicted "{text}" (hard stop){words}')
        if lasting := _lasting(absent, _decisive_turns(case)):
            first = lasting[0] - 1 if lasting[0] - 1 in absent else lasting[0]
            stops.append(f'turn {first}: lost "{text}" (hard stop)')
        elif absent and not denied:
            slips.append(f'turn {absent[0]}: "{text}" (hard stop) missing once')
    return tuple(stops), tuple(slips)


def find_stale_facts(case: Case, turns: Sequence[TurnAssessment]) -> dict[str, str]:
    """Texts of facts whose old value was stated as current, lastingly; text to first turn's sentence."""
    found: dict[str, str] = {}
    for history in _timeline(turns).values():
        stale = [turn for turn, finding in history if finding.stale]
        if lasting := _lasting(stale, _decisive_turns(case)):
            text = history[-1][1].text
            found[f'turn {stale[0]}: "{text}" not taken up ({_reason_at(history, lasting[0])})'] = text
    return found


def _reason_at(history: Sequence[tuple[int, FactFinding]], turn: int) -> str:
    return next(finding.reason for number, finding in history if number == turn)


def find_contradicted_facts(case: Case, turns: Sequence[TurnAssessment], stale: set[str]) -> tuple[str, ...]:
    """Facts stated wrongly up to the horizon, one sentence each, without hard stops and updates not taken up."""
    sentences = []
    for history in _timeline(turns).values():
        wrong = [
            (turn, finding) for turn, finding in history if finding.status == "contradicted" and turn <= case.horizon
        ]
        if not wrong or history[0][1].hard_stop:
            continue
        turn, finding = wrong[0]
        if any(f'"{finding.text}" not taken up' in sentence for sentence in stale):
            continue
        words = f' ("{finding.quotes[0].text}")' if finding.quotes else ""
        sentences.append(f'turn {turn}: contradicted "{finding.text}"{words}')
    return tuple(sentences)
