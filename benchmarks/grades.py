"""What the grades of harm do: models of known quality through the gate's own code, with a judge that is always right.

python -m benchmarks.grades [RUNS] [--cases N]; prints the odds behind the limits of `lesser_breaches`, what models get
that break demands of known grade, and whether a hard stop without its essential part fails; exits 0 only where every
goal holds. `--cases` takes so many of the bundled cases.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from benchmarks.decisions import Goals
from benchmarks.judged_runs import Judge, Stage
from pytest_clinical_drift.cases.entries import GRADES, SEVERE_GRADES
from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.model import Case, CriticalEntity, facts_of, words_in
from pytest_clinical_drift.cases.timeline import Demand, demands_at
from pytest_clinical_drift.core.findings import FindingKey
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.judging.answers import words_of
from pytest_clinical_drift.judging.protocol import JudgeRequest
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.metrics.intervals import pooled_interval
from pytest_clinical_drift.verdict.reasons import Verdict
from pytest_clinical_drift.verdict.thresholds import load_thresholds

RUNS = 60
_WHOLE_RUNS = 3
Broken = tuple[str, FindingKey]


def points(case: Case) -> Iterator[tuple[Broken, Demand]]:
    """Every demand of a case on the turn that makes it."""
    for turn in case.turns:
        for demand in demands_at(case, turn.turn):
            if demand.made_at == turn.turn:
                yield (case.id, FindingKey.of(demand.kind, turn.turn, demand.id)), demand


def broken(stage: Stage, share: float, seed: int) -> dict[Broken, str]:
    """A share of the demands of the three lower grades, drawn by seed."""
    dice = random.Random(seed)
    return {
        place: "missing" if demand.kind == "must" else "violated"
        for case in stage.cases
        for place, demand in points(case)
        if not demand.severe and dice.random() < share
    }


def odds(stage: Stage, runs: int) -> None:
    """The set's rate of lesser breaches for models that break so many of the lesser demands, and what it gets."""
    replies, groups = [len(case.turns) for case in stage.cases], [case.id for case in stage.cases]
    limits = load_thresholds().metrics["lesser_breaches"]
    print(f"\nlesser breaches per 100 replies, {runs} models each (limits {limits.pass_limit}, {limits.caution_limit})")
    print("  lesser demands broken    rate    PASS    CAUTION    FAIL")
    for share in (0.0, 0.01, 0.02, 0.05, 0.10, 0.15, 0.20, 0.30):
        got, total = Counter[str](), 0.0
        for seed in range(1 if share == 0 else runs):
            by_case = Counter(case_id for case_id, _ in broken(stage, share, seed))
            events = [by_case[case.id] for case in stage.cases]
            rate, interval = 100 * sum(events) / sum(replies), pooled_interval(events, replies, groups, confidence=0.95)
            total += rate
            inside = interval is not None and limits.pass_limit.holds(100 * interval.high)
            got["FAIL" if not limits.caution_limit.holds(rate) else "PASS" if inside else "CAUTION"] += 1
        count = sum(got.values())
        shares = "".join(f"{got[word] / count:>9.0%}" for word in ("PASS", "CAUTION", "FAIL"))
        print(f"  {share:>21.0%}{total / count:>8.2f}{shares}")


@dataclass(slots=True)
class Words(Judge):
    """Calls a hard stop absent whose line lacks essential words; of everything else it knows the truth."""

    def answer(self, ask: JudgeRequest) -> Answer:
        item = ask.item
        lines = item.facts if isinstance(item, Reading) else ()
        lacking = {line.fact for line in lines if _lacks(line.essential, line.statement, item.text)}
        if (
            not isinstance(item, Reading)
            and item.kind == "fact"
            and _lacks(item.essential, item.statement or "", item.text)
        ):
            lacking.add(item.fact or "")
        found = {
            (item.case_id, FindingKey.of("fact", item.turn, fact, source=item.source)): "absent" for fact in lacking
        }
        return Judge({**self.truth, **found}, 1.0, 1.0, self.seed).answer(ask)


def _lacks(parts: tuple[str, ...], statement: str, text: str) -> bool:
    """Whether a part is missing from the line that has most words of the statement."""
    wanted = set(words_of(statement))
    line = max(text.splitlines(), key=lambda line: len(wanted & set(words_of(line))), default="")
    return any(not words_in(part, line) for part in parts)


def without(part: str, fact: CriticalEntity, text: str) -> str:
    """A summary whose line on a fact has lost its essential part."""
    lines = [
        line.replace(part, "").replace(part.capitalize(), "") if fact.text.lower() in line.lower() else line
        for line in text.splitlines()
    ]
    return "\n".join(lines)


def essential(stage: Stage, goals: Goals) -> None:
    """Each bundled hard stop, one at a time, without its essential part in every summary."""
    caught, parts = 0, [(c, f, p) for c in stage.cases for f, _ in facts_of(c) for p in f.essential]
    for case, fact, part in parts:
        talk = stage.transcripts[case.id]
        exchanges = tuple(
            replace(e, summary=replace(e.summary, text=without(part, fact, e.summary.text))) for e in talk.exchanges
        )
        alone = Stage([case], stage.scorer, {case.id: replace(talk, exchanges=exchanges)})
        alone.findings = {case.id: alone.scorer.find(case, alone.transcripts[case.id])}
        caught += alone.run(Words({}, 1.0, 1.0, 0), read=False)[0] == Verdict.FAIL
    print(f"\n  hard stops without an essential part: FAIL in {caught} of {len(parts)}   "
          f"{goals.check('essential parts', caught == len(parts))}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=RUNS)
    parser.add_argument("--cases", type=int, help="bundled cases that are taken (default: all)")
    options = parser.parse_args()
    goals = Goals()
    stage = Stage(list(load_cases(bundled_cases()))[: options.cases])
    stage.prepare()
    odds(stage, options.runs)
    print(f"\nthe whole gate on {len(stage.cases)} bundled cases, a judge that is always right")
    print("  two highest grades met, of the rest broken    policy each-case    policy set")
    for share in (0.0, 0.02, 0.05, 0.10, 0.20):
        runs_of = [stage.assess(Judge(broken(stage, share, n), 1.0, 1.0, 0), read=False) for n in range(_WHOLE_RUNS)]
        got = [Counter(stage.verdict(run, policy) for run in runs_of) for policy in ("each-case", "set")]
        told = [", ".join(f"{verdict} {count}" for verdict, count in found.items()) for found in got]
        # a model that the set lets pass, or warns of, must not fail by the few replies of one case
        held = all(got[policy][Verdict.FAIL] == 0 for policy in (0, 1)) if share <= 0.1 else True
        right = got[0][Verdict.PASS] == _WHOLE_RUNS if share == 0 else held and got[0] == got[1]
        goal = goals.check(f"{share:.0%} of the lesser demands", right)
        print(f"  {share:>42.0%}{told[0]:>20}{told[1]:>14}   {goal}", flush=True)
    every = list(chain.from_iterable(points(case) for case in stage.cases))
    for grade in GRADES:
        found = next((point for point in every if point[1].expectation.grade == grade), None)
        if found is None:
            print(f"  no demand is {grade}   {goals.check(grade, False)}")
            continue
        place, demand = found
        word = "missing" if demand.kind == "must" else "violated"
        verdict, _ = stage.run(Judge({place: word}, 1.0, 1.0, 0), read=False)
        right = (verdict == Verdict.FAIL) == (grade in SEVERE_GRADES)
        print(
            f"  breaks one {grade} demand ({place[0]}, turn {demand.made_at}): {verdict}   {goals.check(grade, right)}"
        )
    essential(stage, goals)
    print(f"{len(goals.missed)} goals missed{': ' if goals.missed else ''}{', '.join(goals.missed)}")
    return bool(goals.missed)


if __name__ == "__main__":
    sys.exit(main())
