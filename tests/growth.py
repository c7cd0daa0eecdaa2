"""Processor time of one call, for tests of how cost grows with the input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def cpu_seconds(call: Callable[[], object]) -> float:
    """Seconds of this process for one call, without the collector: a full pass over a large heap is no part of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        begun = time.process_time()
        call()
        return time.process_time() - begun
    finally:
        if enabled:
            gc.enable()


def growth_ratio(work: Callable[[int], Callable[[], object]], small: int, times: int, *, tries: int = 4) -> float:
    """How many times the cost of `work(small)` that of `work(times * small)` is: the least of several tries of each.

    `work` gives a fresh piece of work of a size, so that nothing remembered from an earlier try helps a later one. A
    cost too small to measure counts as a tenth of a millisecond.
    """
    work(small)()
    costs = [max(1e-4, min(cpu_seconds(work(size)) for _ in range(tries))) for size in (small, times * small)]
    return costs[1] / costs[0]
