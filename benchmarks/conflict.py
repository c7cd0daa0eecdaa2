"""Measures the contradiction judges on labelled pairs or whole conversations.

    python -m benchmarks.conflict PATH [--judge rules] [--judge nli:FOLDER] [--show] [--half a|b]

Pairs: precision, recall and F1 by kind, beside a word-overlap baseline. Conversations: every pair of turns. The first
judge named decides the exit code: 0 where the goal holds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from pytest_clinical_drift.evidence.advice.breach import Conflict, rules_conflict
from pytest_clinical_drift.scoring.study_functions import judge_pairs

GOAL_PRECISION, GOAL_FALSE = 0.92, 0.01
"""Share of the flagged pairs that are contradictions; share of a conversation's other pairs that may be flagged."""
_SAME_WORDS = 0.25
_SAME_QUOTE = 0.5
_NEGATIVE = frozenset(
    ["not", "no", "never", "don't", "avoid", "stop", "without", "needn't", "isn't", "can't", "shouldn't", "mustn't"]
)


def word_overlap(earlier: str, later: str) -> bool:
    """Baseline: many words in common and a negative word on one side only."""
    first, second = set(earlier.lower().split()), set(later.lower().split())
    overlap = len(first & second) / max(1, min(len(first), len(second)))
    return overlap >= _SAME_WORDS and bool(first & _NEGATIVE) != bool(second & _NEGATIVE)


def scores(truths: Sequence[bool], answers: Sequence[bool]) -> tuple[float, float, float]:
    """Precision, recall, F1; 0 where nothing was flagged."""
    hits = sum(truth and answer for truth, answer in zip(truths, answers, strict=True))
    precision = hits / sum(answers) if any(answers) else 0.0
    recall = hits / sum(truths) if any(truths) else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


def measure_pairs(rows: list[dict[str, Any]], judge: str, *, show: bool) -> bool:
    """Print the figures of one judge on pairs, the total last."""
    verdicts = [found for found, _ in judge_pairs([(row["earlier"], row["later"]) for row in rows], judge)]
    truths = [row["label"] == "contradiction" for row in rows]
    answers = [verdict.contradiction for verdict in verdicts]
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for row, truth, verdict in zip(rows, truths, verdicts, strict=True):
        total[row["kind"]] += 1
        right[row["kind"]] += truth == verdict.contradiction
        if show and truth != verdict.contradiction:
            _show_pair(row, verdict)
    for kind in sorted(total):
        print(f"  {kind:28s} {right[kind]:3d} of {total[kind]:3d} right")
    baseline = [word_overlap(row["earlier"], row["later"]) for row in rows]
    for name, given in (("word overlap", baseline), (judge, answers)):
        precision, recall, f1 = scores(truths, given)
        print(f"{name:24s} n={len(rows)}  precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}")
    return precision >= GOAL_PRECISION


def _show_pair(row: dict[str, Any], verdict: Conflict) -> None:
    wrong = f"false alarm ({verdict.kind}: {verdict.reason})" if verdict.contradiction else "missed"
    print(f"  {row['id']} {row['kind']}: {wrong}\n      {row['earlier']}\n      {row['later']}")


def measure_dialogues(rows: list[dict[str, Any]], judge: str, *, show: bool) -> bool:
    """Print the figures of one judge on every pair of turns."""
    found = labelled = false = others = 0
    for row in rows:
        pairs = _turn_pairs(row)
        expected = {(entry["earlier"], entry["later"]): entry for entry in row["contradictions"]}
        labelled += len(expected)
        for (earlier, later), verdict in zip(pairs, _verdicts(row, pairs, judge), strict=True):
            entry = expected.get((earlier["turn"], later["turn"]))
            right = _same_quotes(entry, verdict) if entry is not None else not verdict.contradiction
            if entry is not None:
                found += right
            else:
                others += 1
                false += not right
            if show and not right:
                place = f"{row['id']} {earlier['turn']}-{later['turn']}"
                print(f"  {place}: {verdict.kind} {verdict.reason} {verdict.quotes}")
    rate = false / others if others else 0.0
    print(f"{judge}: {found} of {labelled} contradictions found with the right quotes")
    print(f"{judge}: {false} of {others} other pairs flagged ({rate:.2%})")
    return rate <= GOAL_FALSE


def _verdicts(row: dict[str, Any], pairs: list[tuple[dict[str, Any], dict[str, Any]]], judge: str) -> list[Conflict]:
    """The verdict on every two turns: by rules as a run compares them, knowing the messages between."""
    if judge != "rules":
        said = [(earlier["reply"], later["reply"]) for earlier, later in pairs]
        return [found for found, _ in judge_pairs(said, judge)]
    messages = {turn["turn"]: turn["message"] for turn in row["turns"]}
    return [
        rules_conflict(
            earlier["reply"],
            later["reply"],
            " ".join(text for turn, text in messages.items() if earlier["turn"] < turn <= later["turn"]),
        )
        for earlier, later in pairs
    ]


def _turn_pairs(row: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    turns = row["turns"]
    return [(earlier, later) for place, later in enumerate(turns) for earlier in turns[:place]]


def _same_quotes(entry: dict[str, Any], verdict: Conflict) -> bool:
    """Whether both quotes overlap with the labelled ones by half of the shorter."""
    if verdict.quotes is None:
        return False
    for wanted, given in zip((entry["quote_earlier"], entry["quote_later"]), verdict.quotes, strict=True):
        match = SequenceMatcher(None, wanted, given, autojunk=False).find_longest_match()
        if match.size < _SAME_QUOTE * min(len(wanted), len(given)):
            return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--judge", action="append", help="as --drift-judge takes it, rules by default; may be repeated")
    parser.add_argument("--show", action="store_true", help="print what was judged wrongly")
    parser.add_argument("--half", choices=["a", "b"], help="only the pairs whose id hashes into one half")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if options.half:
        wanted = 0 if options.half == "a" else 1
        rows = [row for row in rows if hashlib.sha256(row["id"].encode()).digest()[0] % 2 == wanted]
    measure = measure_dialogues if "turns" in rows[0] else measure_pairs
    judges = options.judge or ["rules"]
    # the deciding judge comes last, so that its figure is the last line
    results = [measure(rows, judge, show=options.show) for judge in reversed(judges)]
    return 0 if results[-1] else 1


if __name__ == "__main__":
    raise SystemExit(main())
