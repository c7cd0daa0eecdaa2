"""Every benchmark at its smallest size: does it still run to its end and print a figure? Goals are not judged."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks import ROOT
from benchmarks.listed import Benchmark, missing

AT_ONCE = 2
LONGEST = 600.0
"""Seconds after which a benchmark that hangs is ended; all of them take less than three minutes together."""
_ONE_CORE = {"OMP_NUM_THREADS": "1"}
"""Threads that wait for each other are slow where another benchmark has the core."""
_SHOWN = 15
"""Lines of output that are shown of a benchmark that broke."""


class State(StrEnum):
    OK = "ok"
    SKIPPED = "skipped"
    BROKE = "broke"


@dataclass(frozen=True)
class Outcome:
    """What came of one benchmark."""

    name: str
    state: State
    figure: str
    """Its last line; where there is none, the reason."""
    seconds: float
    output: str = ""

    def row(self) -> str:
        return f"{self.name:<18} {self.state:<8}{self.seconds:>4.0f} s  {self.figure}"


def smoke(benchmarks: Sequence[Benchmark], gold: Path) -> int:
    """Run all, print a table, and return 0 only where none broke."""
    started = time.monotonic()
    longest_first = sorted(benchmarks, key=lambda benchmark: -len(benchmark.needs))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {benchmark.name: pool.submit(_tried, benchmark, gold) for benchmark in longest_first}
    outcomes = [running[benchmark.name].result() for benchmark in benchmarks]
    broken = [outcome for outcome in outcomes if outcome.state is State.BROKE]
    for outcome in broken:
        print(f"== {outcome.name}", *outcome.output.splitlines()[-_SHOWN:], "", sep="\n")
    for outcome in outcomes:
        print(outcome.row())
    counts = ", ".join(f"{sum(o.state is state for o in outcomes)} {state}" for state in State)
    print(f"{len(outcomes)} benchmarks at their smallest size in {time.monotonic() - started:.0f} s: {counts}")
    return 1 if broken or not outcomes else 0


def _tried(benchmark: Benchmark, gold: Path) -> Outcome:
    started = time.monotonic()
    why = missing(benchmark, gold)
    if why:
        return Outcome(benchmark.name, State.SKIPPED, why, time.monotonic() - started)
    code, printed, errors = _run(benchmark.command(benchmark.smoke, gold))
    seconds = time.monotonic() - started
    last = next((line.strip() for line in reversed(printed.splitlines()) if line.strip()), "")
    fault = f"not at its end after {LONGEST:.0f} s" if code is None else benchmark.broke(code, last, errors)
    if fault:
        return Outcome(benchmark.name, State.BROKE, fault, seconds, printed + errors)
    return Outcome(benchmark.name, State.OK, last, seconds)


def _run(command: list[str]) -> tuple[int | None, str, str]:
    """Exit code, None where it was ended, and both outputs."""
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as errors:
        # in a session of its own, so that its servers and workers can be ended with it
        process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | _ONE_CORE, stdout=printed, stderr=errors, start_new_session=True
        )
        code: int | None = None
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if code is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        printed.seek(0)
        errors.seek(0)
        return code, printed.read(), errors.read()
