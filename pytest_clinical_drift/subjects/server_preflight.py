"""The first request to a server: is somebody there, may we ask, and is the model known.

Whatever shows that address, key or model name are wrong ends the run before the first case. A server that answers, but
with an outage of its own (429, 5xx), is no wrong input: the run goes on, and cases that stay without a reply are
INCOMPLETE.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pytest_clinical_drift.subjects.server_http import ServerFault

PATIENCE = 40.0
"""Seconds for one answer, when the user set no timeout: enough for a small model to be loaded on demand."""
_ATTEMPTS, _SILENT_ATTEMPTS = 8, 3
_LONGEST_PAUSE = 10.0
_SPEAK_AFTER = 3.0

Say = Callable[[str], object]


async def first_answer(
    attempt: Callable[[], Awaitable[object]], *, place: str, patience: float, say: Say
) -> ServerFault | None:
    """Ask until there is an answer; returns the trouble of a server that is there, raises what shows there is none."""
    silent, told = 0, ""
    for failures in range(1, _ATTEMPTS + 1):
        notice = f"waiting for the first answer of {place}, at most {patience:g} s"
        try:
            await _while_telling(attempt(), notice, say)
            return None
        except ServerFault as fault:
            if not fault.again and "token limit" in fault.cause:
                return None  # it thought for longer than a greeting takes: it is there
            silent += fault.silent
            if not fault.again or fault.absent or fault.misplaced:
                raise
            if silent == _SILENT_ATTEMPTS:
                fault.cause += f", {silent} times; a server that needs longer gets it with --drift-set timeout=SECONDS"
                raise
            if failures == _ATTEMPTS:
                if fault.status is None:
                    raise
                return fault
            if fault.cause != told:
                told = fault.cause
                say(f"{place}: {told}; asking again")
            await asyncio.sleep(min(0.3 * failures if fault.after is None else fault.after, _LONGEST_PAUSE))
    return None


async def _while_telling(answer: Awaitable[object], notice: str, say: Say) -> None:
    """Wait for the answer; whoever sits in front of a silent terminal is told what for."""
    alarm = asyncio.get_running_loop().call_later(_SPEAK_AFTER, say, notice)
    try:
        await answer
    finally:
        alarm.cancel()
