"""How many requests a server gets at a time, and how long a case may take."""

from __future__ import annotations

import asyncio
import heapq
import time
from dataclasses import dataclass

_START = 8
"""Requests in flight at the beginning, when nobody said how many the server takes."""
_CEILING = 256

Priority = tuple[int, ...]


@dataclass(slots=True)
class Ticket:
    """The right to have one request in flight."""

    epoch: int
    """How often the limit had been cut when it was given out."""


class AdaptiveLimiter:
    """Grows by one per answer until the server first complains, then halves and feels its way up again."""

    def __init__(self, concurrency: int | None = None) -> None:
        self.ceiling = concurrency or _CEILING
        self.limit = float(concurrency or _START)
        self.in_flight = 0
        self.most_in_flight = 0
        self._cuts = 0
        self._open_again = 0.0
        self._waiting: list[tuple[Priority, int, asyncio.Future[Ticket]]] = []
        self._arrivals = 0
        self._alarm: asyncio.TimerHandle | None = None

    def acquire_now(self) -> Ticket | None:
        """A place if one is free and nobody waits for it."""
        if self._waiting or self.in_flight >= int(self.limit) or time.monotonic() < self._open_again:
            return None
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        return Ticket(self._cuts)

    async def acquire(self, priority: Priority) -> Ticket:
        """Wait for a turn; the smallest priority goes first, then who came first."""
        future: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(self._waiting, (priority, self._arrivals, future))
        self._admit()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.release()  # admitted and cancelled in the same moment
            raise

    def release(self) -> None:
        """The request is over, whatever came of it."""
        self.in_flight -= 1
        self._admit()

    def answered(self, *, slowly: bool) -> None:
        """An answer came; more may be asked at a time unless answers are slow already or the limit is not used."""
        if not slowly and self.in_flight >= int(self.limit):
            self.limit = min(self.limit + (1.0 if self._cuts == 0 else 1.0 / self.limit), float(self.ceiling))

    def complained(self, ticket: Ticket, pause: float | None) -> None:
        """The server had too much to do; complaints about requests from before the last cut do not cut again."""
        if ticket.epoch == self._cuts:
            self._cuts += 1
            self.limit = max(1.0, self.limit / 2)
        if pause:
            self._open_again = max(self._open_again, time.monotonic() + pause)

    def _admit(self) -> None:
        pause = self._open_again - time.monotonic()
        if pause > 0:
            if self._alarm is None:
                self._alarm = asyncio.get_running_loop().call_later(pause, self._wake)
            return
        while self._waiting and self.in_flight < int(self.limit):
            _, _, future = heapq.heappop(self._waiting)
            if not future.done():
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                future.set_result(Ticket(self._cuts))

    def _wake(self) -> None:
        self._alarm = None
        self._admit()


class CaseClock:
    """Time that a case spends on being answered; waiting for a free place does not count."""

    def __init__(self, allowed: float) -> None:
        self._allowed = allowed
        self._spent = 0.0
        self._active = 0
        self._since = 0.0

    def start(self) -> None:
        """One more of the case's requests is being worked on."""
        if self._active == 0:
            self._since = time.monotonic()
        self._active += 1

    def pause(self) -> None:
        """One of them is over or waits for a place."""
        self._active -= 1
        if self._active == 0:
            self._spent += time.monotonic() - self._since

    def left(self) -> float:
        """Seconds left."""
        running = time.monotonic() - self._since if self._active else 0.0
        return self._allowed - self._spent - running
