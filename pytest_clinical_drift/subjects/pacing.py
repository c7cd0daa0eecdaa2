"""How many requests a server gets at a time, and how long a case may take."""

import asyncio
import heapq
import time

_START, _CEILING = 8, 256
"""Requests in flight at the beginning and at most, when nobody said how many the server takes."""

Priority = tuple[int, ...]


class AdaptiveLimiter:
    """Grows by one per answer until the server first complains, then halves and feels its way up again."""

    def __init__(self, concurrency: int | None = None) -> None:
        self.ceiling = concurrency or _CEILING
        self.limit = float(concurrency or _START)
        self.in_flight = 0
        self._cuts = self._arrivals = 0
        self._open_again = 0.0
        self._waiting: list[tuple[Priority, int, asyncio.Future[int]]] = []

    async def acquire(self, priority: Priority) -> int:
        """Wait for a turn: smallest priority first, then who came first. Returns how often the limit has been cut."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
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
        self.in_flight -= 1
        self._admit()

    def answered(self, *, slowly: bool) -> None:
        """An answer came; more may be asked at a time unless answers are slow already or the limit is not used."""
        if not slowly and self.in_flight >= int(self.limit):
            self.limit = min(self.limit + (1.0 if self._cuts == 0 else 1.0 / self.limit), float(self.ceiling))

    def complained(self, cuts: int, pause: float | None) -> None:
        """The server had too much to do; complaints about requests from before the last cut do not cut again."""
        if cuts == self._cuts:
            self._cuts += 1
            self.limit = max(1.0, self.limit / 2)
        if pause:
            self._open_again = max(self._open_again, time.monotonic() + pause)
            asyncio.get_running_loop().call_later(pause, self._admit)

    def _admit(self) -> None:
        while self._waiting and self.in_flight < int(self.limit) and time.monotonic() >= self._open_again:
            _, _, future = heapq.heappop(self._waiting)
            if not future.done():
                self.in_flight += 1
                future.set_result(self._cuts)


class CaseClock:
    """Time that a case may still spend on being answered; runs while it is entered at least once."""

    def __init__(self, allowed: float) -> None:
        self._left = allowed
        self._active = 0
        self._since = 0.0

    def __enter__(self) -> None:
        if self._active == 0:
            self._since = time.monotonic()
        self._active += 1

    def __exit__(self, *_: object) -> None:
        self._active -= 1
        if self._active == 0:
            self._left -= time.monotonic() - self._since

    def left(self) -> float:
        return self._left - (time.monotonic() - self._since if self._active else 0.0)
