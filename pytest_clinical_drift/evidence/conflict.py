"""Contradictions between replies: one pair, or the turns of a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.advice import advice_of
from pytest_clinical_drift.evidence.judges import Conflict, Judge, RulesJudge, load_judge
from pytest_clinical_drift.evidence.judges.rules import Change, matter_of_change

_RULE = re.compile(r"n't\b|\b(?:not|never|always|every|even|only|must|unless|until|whenever|whatever)\b")

__all__ = ["Conflict", "ConflictEvidence", "TurnConflict", "compare_turns", "judge_conflict"]


@dataclass(frozen=True, slots=True)
class TurnConflict:
    """A contradiction between two turns of a conversation."""

    earlier_turn: int
    later_turn: int
    quotes: tuple[str, str]
    reason: str
    severe: bool
    kind: str = ""
    object: str | None = None


@dataclass(frozen=True, slots=True)
class ConflictEvidence:
    """What comparing the turns of a conversation gave."""

    advice_turns: tuple[int, ...]
    """Turns whose reply gave advice."""
    pairs: tuple[tuple[int, int], ...]
    """Adjacent pairs of them that were judged."""
    contradictions: tuple[TurnConflict, ...]
    """Of those pairs: at most one, the gravest, for each."""
    all_pairs: tuple[TurnConflict, ...]
    """Contradictions on the same object between any two turns."""

    @property
    def pairs_evaluated(self) -> int:
        """The denominator of the rate; 0: not evaluated."""
        return len(self.pairs)


def judge_conflict(earlier: str, later: str, judge: str | Judge = "rules") -> Conflict:
    """Whether the later advice contradicts the earlier one, with both quotes and the reason."""
    chosen = load_judge(judge) if isinstance(judge, str) else judge
    return chosen.judge(earlier, later)


def compare_turns(replies: Sequence[str | None], judge: str | Judge = "rules", stride: int = 1) -> ConflictEvidence:
    """Compare each turn that gave advice with the one before that did (every `stride`-th pair), and all turns by rules.

    Replies stand in the order of their turns, the first is turn 1; None: no reply, which does not break the chain.
    """
    if stride < 1:
        raise InputError(f"the stride must be 1 or more, it is {stride}")
    chosen = load_judge(judge) if isinstance(judge, str) else judge
    spoken = [(turn, reply) for turn, reply in enumerate(replies, 1) if reply and advice_of(reply)]
    judged = list(pairwise(spoken))[::stride]
    verdicts = chosen.judge_many([(earlier, later) for (_, earlier), (_, later) in judged])
    contradictions = tuple(
        _turn_conflict(first, second, verdict, earlier, later)
        for ((first, earlier), (second, later)), verdict in zip(judged, verdicts, strict=True)
        if verdict.contradiction
    )
    return ConflictEvidence(
        tuple(turn for turn, _ in spoken),
        tuple((first, second) for (first, _), (second, _) in judged),
        contradictions,
        tuple(_all_pairs(spoken)),
    )


def _turn_conflict(first: int, second: int, verdict: Conflict, earlier: str, later: str) -> TurnConflict:
    quotes = verdict.quotes or (earlier, later)
    return TurnConflict(first, second, quotes, verdict.reason, verdict.severe, verdict.kind, verdict.object)


def _all_pairs(spoken: Sequence[tuple[int, str]]) -> Iterator[TurnConflict]:
    """Contradictions of every two turns; what a turn says wrongly is held against one earlier turn, the clearest.

    What changed for a reason in between stays changed. Later turns that go back to what was said before a contradiction
    are not listed against it once more, unless they follow it directly.
    """
    rules = RulesJudge()
    changed: dict[Change, list[tuple[int, int]]] = {}
    """Object and what changed: the two turns between which its advice changed for a reason."""
    strayed: set[tuple[int, str]] = set()
    """Turns and quotes that contradicted an earlier turn."""
    for position, (second, later) in enumerate(spoken):
        found: list[TurnConflict] = []
        for first, earlier in spoken[:position]:
            excused: set[Change] = set()
            for verdict in rules.conflicts(earlier, later, excused=excused, in_talk=first != spoken[position - 1][0]):
                change = verdict.object or "", matter_of_change(verdict.kind)
                settled = any(first <= old and new < second for old, new in changed.get(change, ()))
                if verdict.quotes is None or settled:
                    continue
                if (first, verdict.quotes[0]) not in strayed:
                    strayed.add((second, verdict.quotes[1]))
                elif first != spoken[position - 1][0]:
                    continue
                found.append(_turn_conflict(first, second, verdict, earlier, later))
            for change in excused:
                changed.setdefault(change, []).append((first, second))
        yield from _clearest(found)


def _clearest(found: Sequence[TurnConflict]) -> Iterator[TurnConflict]:
    """Of the contradictions of each later quote the one that states a rule most plainly, else the most recent."""
    best: dict[str, TurnConflict] = {}
    for entry in found:
        known = best.get(entry.quotes[1])
        if known is None or _rank(entry) > _rank(known):
            best[entry.quotes[1]] = entry
    yield from best.values()


def _rank(entry: TurnConflict) -> tuple[bool, bool, int]:
    """Grave before others, a rule ("never", "even if") before a plain regimen, the later turn before the earlier."""
    return entry.severe, _RULE.search(entry.quotes[0].lower()) is not None, entry.earlier_turn
