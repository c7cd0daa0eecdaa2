"""Further attempts at a request that failed: how many, after what pauses, and when to stop."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

import stamina

from pytest_clinical_drift.subjects.server_http import ServerFault
from pytest_clinical_drift.transcript import Reply

_FIRST_WAIT, _LONGEST_WAIT, _JITTER = 0.1, 15.0, 0.25

# stamina logs each retry without saying what of; hundreds of such lines would drown the report of a failing case
_asking: ContextVar[bool] = ContextVar("asking", default=False)
logging.getLogger("stamina").addFilter(lambda record: not _asking.get())


async def try_again(
    attempt: Callable[[], Awaitable[Reply]], failed: ServerFault, *, attempts: int, time_left: Callable[[], float]
) -> Reply:
    """More attempts after the first one, which most requests do without; a Reply with an error when all have failed."""
    patience = _Patience(attempts, time_left)
    reply, first = Reply("", error=failed.cause), True
    _asking.set(True)
    try:
        async for further in stamina.retry_context(
            patience.another_attempt,
            attempts=None,
            timeout=None,
            wait_initial=_FIRST_WAIT,
            wait_max=_LONGEST_WAIT,
            wait_jitter=_JITTER,
        ):
            with further:
                if first:
                    first = False
                    raise failed
                reply = await attempt()
    except ServerFault as fault:
        tries = f", after {patience.failures} attempts" if patience.failures > 1 else ""
        return Reply("", error=f"{fault.cause}{tries}")
    return reply


class _Patience:
    """Decides for one request whether another attempt is made, and after what pause."""

    def __init__(self, attempts: int, time_left: Callable[[], float]) -> None:
        self.failures = 0
        self._attempts = attempts
        self._time_left = time_left

    def another_attempt(self, error: Exception) -> bool | float:
        if not isinstance(error, ServerFault) or not error.again:
            return False
        if error.after is not None:
            # being told to wait is flow control, bounded by the deadline; jitter, as others were told the same
            wait = error.after + random.uniform(0, _JITTER)
            return wait if wait < self._time_left() else False
        self.failures += 1
        wait = min(_FIRST_WAIT * 2 ** (self.failures - 1), _LONGEST_WAIT)
        return self.failures < self._attempts and wait < self._time_left()
