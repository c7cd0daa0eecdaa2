"""Fuzzing at length: `python -m benchmarks.fuzz [EXAMPLES] [--only NAME] [--seed N]` (20,000 unless told).

Every input must give a result or one of our errors in one sentence; exits 0 only where all did.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
import traceback
import warnings

from fuzz_targets import TARGETS, Target, discard_finished_run
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st


def attack(target: Target, examples: int, start: int) -> tuple[collections.Counter[str], str]:
    """What came of so many examples, and the first fault."""
    outcomes: collections.Counter[str] = collections.Counter()

    @seed(start)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(st.data())
    def attempt(data: st.DataObject) -> None:
        outcomes[target.feed(data.draw(target.values))] += 1

    try:
        attempt()
    except Exception as error:
        first = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
        steps = [
            f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(first.__traceback__)
        ]
        notes = [note[:300] for note in getattr(first, "__notes__", ())]
        return outcomes, "\n".join([*steps[-8:], f"  {type(first).__name__}: {ascii(str(first))[:300]}", *notes])
    return outcomes, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=int, nargs="?", default=20_000, help="at least so many in all")
    parser.add_argument("--only", help="one target by name")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = {name: target for name, target in TARGETS.items() if options.only in (None, name)}
    unit = options.examples / sum(target.share for target in chosen.values())
    total, faults = 0, 0
    for name, target in chosen.items():
        started = time.monotonic()
        outcomes, fault = attack(target, int(unit * target.share * 1.02) + 1, options.seed)
        total += outcomes.total()
        told = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
        print(f"{name:20} {outcomes.total():7,} examples in {time.monotonic() - started:5.0f} s: {told}", flush=True)
        if fault:
            faults += 1
            print(fault, flush=True)
    discard_finished_run()
    print(f"{total:,} examples, {faults} of {len(chosen)} targets with a fault")
    return 0 if not faults and total >= options.examples else 1


if __name__ == "__main__":
    sys.exit(main())
