"""How many requests a server gets at a time, how long a case may take, and what a run may take at most."""

import asyncio
import heapq
import re
import time

from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.transcript import Reply

_START, _CEILING = 8, 256
"""Requests in flight at the beginning and at most, when nobody said how many the server takes."""
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(?P<time>\d+(?:\.\d+)?)(?P<unit>[smh])|(?P<name>tokens|cost)=(?P<most>\d+(?:\.\d+)?)")
_EXPECTED = "expected a time such as 55m, and tokens=NUMBER or cost=NUMBER after commas"


class AdaptiveLimiter:
    """Grows by one per answer until the server first complains, then halves and feels its way up again."""

    def __init__(self, concurrency: int | None = None) -> None:
        self.ceiling = concurrency or _CEILING
        self.limit = float(concurrency or _START)
        self.in_flight = 0
        self._cuts = self._arrivals = 0
        self._open_again = 0.0
        self._waiting: list[tuple[tuple[int, ...], int, asyncio.Future[int]]] = []

    async def acquire(self, priority: tuple[int, ...]) -> int:
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


def read_limits(text: str, *, prices: tuple[float, float] | None) -> dict[str, float]:
    """Read `55m`, `1.5h,tokens=2000000` or `cost=20` as seconds of time, tokens of prompts and replies, and cost."""
    given: dict[str, float] = {}
    for part in (part.strip() for part in text.split(",")):
        if (match := _PART.fullmatch(part)) is None:
            raise InputError(f"--drift-budget: {_EXPECTED}, found {part!r}")
        name = match["name"] or "time"
        most = float(match["most"] or match["time"]) * _SECONDS[match["unit"] or "s"]
        if name in given or most <= 0:
            raise InputError(f"--drift-budget: {_EXPECTED}, each once and above 0, found {text!r}")
        given[name] = most
    if "cost" in given and prices is None:
        raise InputError("--drift-budget cost=…: needs --drift-prices IN,OUT")
    return {name: given[name] for name in ("time", "tokens", "cost") if name in given}


def token_cost(prompt: int, completion: int, prices: tuple[float, float]) -> float:
    """By prices per million tokens, of prompts and of replies."""
    return (prompt * prices[0] + completion * prices[1]) / 1_000_000


class Budget:
    """Counts what a run has taken; the clock starts with it."""

    def __init__(self, text: str, prices: tuple[float, float] | None = None) -> None:
        self._text, self._limits, self._prices = text, read_limits(text, prices=prices), prices
        self._started = time.monotonic()
        self._prompt = self._completion = 0
        self._uncounted = False
        self.received = 0
        """New replies."""
        self.refused = 0
        """Requests that were not started any more."""

    def count(self, reply: Reply) -> None:
        """A reply came; one that was reused costs nothing."""
        if reply.reused_from is not None or reply.error is not None:
            return
        self.received += 1
        prompt, completion = reply.usage.prompt_tokens, reply.usage.completion_tokens
        if prompt is None or completion is None:
            self._uncounted = True
        else:
            self._prompt += prompt
            self._completion += completion

    def refusal(self) -> Failure | None:
        """Why no new request may be started, to be counted as one that was not; None while there is something left."""
        why = self.spent()
        self.refused += why is not None
        return why

    def spent(self) -> Failure | None:
        """Which limit is used up."""
        used = {
            "time": time.monotonic() - self._started,
            "tokens": self._prompt + self._completion,
            "cost": token_cost(self._prompt, self._completion, self._prices or (0.0, 0.0)),
        }
        for name, most in self._limits.items():
            if name != "time" and self._uncounted:
                return failure(FailureCode.UNCOUNTED, budget=self._text)
            if used[name] >= most:
                return failure(FailureCode.BUDGET, budget=self._text, limit=name)
        return None
