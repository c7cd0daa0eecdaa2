"""What long conversations cost, and whether the drift horizon's interval holds what it promises.

Requests, prompt tokens and the plugin's own time at 20, 40, 80 and 160 turns, on bundled cases with `control:steady`;
then 200 simulated sets per half-life. Exits 0 if 160 turns need at most a third of one probe per turn, the own time
grows no faster than the turns, and at least 93 % of the intervals contain the true horizon.

python -m benchmarks.long_conversations [CASES] [--seeds N]
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import tracemalloc

import numpy as np

from pytest_clinical_drift.authoring.interludes import stretch
from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.interludes import load_interludes
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import probed_turns
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.metrics.horizon import drift_horizon
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.subjects.control import ControlSubject
from pytest_clinical_drift.transcript import Reply, Transcript

TURNS = (20, 40, 80, 160)
CHARACTERS_PER_TOKEN = 4.2
PROBES = [*range(1, 21), 25, 30, 40, 50, 60, 80, 100, 120, 160]
LIMIT, CASES, FACTS, SEEDS, HALF_LIVES = 0.8, 60, 7, 200, (30.0, 100.0, 200.0)


class Counted(ControlSubject):
    """Answers as the control does, and counts what a model would have to read."""

    requests = characters = 0

    def respond(self, request: Request) -> Reply:
        self.requests += 1
        self.characters += sum(len(message.content) for message in request.messages)
        return super().respond(request)


def held(cases: list[Case], plan: Plan) -> tuple[Counted, list[Transcript], float]:
    """The subject after all conversations, what was said, and the seconds."""
    subject, finished = Counted("steady", {}), list[Transcript]()
    subject.check(cases)
    started = time.perf_counter()
    run_conversations(cases, subject, plan, on_finished=finished.append)
    return subject, finished, time.perf_counter() - started


def cost(count: int) -> bool:
    bank, scorer, rows = load_interludes(), Scorer(), []
    for turns in TURNS:
        cases = [stretch(case, turns, bank) for case in load_cases(bundled_cases())[:count]]
        probed = sum(len(probed_turns(case)) for case in cases) / count
        every, _, _ = held(cases, Plan(probe_every_turn=True))
        tracemalloc.start()
        held(cases, Plan())
        memory = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        subject, finished, talking = held(cases, Plan())
        started = time.perf_counter()
        for case, transcript in zip(cases, finished, strict=True):
            scorer.score(case, transcript)
        scoring = time.perf_counter() - started
        told = {"requests": subject.requests / count, "every": every.requests / count}
        told |= {"tokens": subject.characters / CHARACTERS_PER_TOKEN / count / 1000}
        told |= {"tokens_every": every.characters / CHARACTERS_PER_TOKEN / count / 1000}
        rows.append((turns, probed, told, 1000 * talking / count, 1000 * scoring / count, memory / count))
    print("per case  probes  requests (one probe per turn)  k prompt tokens (…)  talking ms  scoring ms  memory MB")
    for turns, probed, told, talking, scoring, memory in rows:
        print(
            f"{turns:8} {probed:7.1f} {told['requests']:9.1f} ({told['every']:.0f}) {told['tokens']:24.0f} "
            f"({told['tokens_every']:.0f}) {talking:12.1f} {scoring:11.1f} {memory:10.2f}"
        )
    thrifty = rows[-1][1] <= TURNS[-1] / 3
    own = [talking + scoring for _, _, _, talking, scoring, _ in rows]
    linear = own[-1] <= own[0] * TURNS[-1] / TURNS[0] * 1.2
    print(f"probes at {TURNS[-1]} turns: {rows[-1][1] / TURNS[-1]:.0%} of one per turn (goal: at most a third)")
    print(f"own time at {TURNS[-1]} turns: {own[-1] / own[0]:.1f} times that at {TURNS[0]} (goal: at most 9.6)")
    return thrifty and linear


def coverage(seeds: int) -> bool:
    held_up = True
    for half_life in HALF_LIVES:
        truth, hits, widths = 1 + half_life * math.log2(1 / LIMIT), 0, []
        for seed in range(seeds):
            generator = np.random.default_rng(seed)
            lifetimes = generator.exponential(half_life / math.log(2), size=(CASES, FACTS))
            table = (lifetimes[:, :, None] > np.array(PROBES) - 1).mean(axis=1)
            found = drift_horizon(table, PROBES, [str(case) for case in range(CASES)], limit=LIMIT, resamples=2000)
            if found is None or found.low is None:
                continue
            hits += found.low <= truth <= (found.high or math.inf)
            widths.append((found.high or PROBES[-1]) - found.low)
        share = hits / seeds
        held_up &= share >= 0.93
        print(
            f"half-life {half_life:g}: true horizon {truth:.1f}, inside the interval in {share:.1%} of {seeds} sets "
            f"of {CASES} cases, median width {np.median(widths):.0f} turns (goal: at least 93 %)"
        )
    return held_up


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=12)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="simulated sets per half-life")
    options = parser.parse_args()
    results = [cost(options.cases), coverage(options.seeds)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
