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
