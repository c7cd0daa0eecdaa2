"""What a run may take at most: time, tokens or cost. When it is used up, no new request is started."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.transcript import Reply

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d+(?:\.\d+)?)([smh])")
_LIMIT = re.compile(r"(tokens|cost)=(\d+(?:\.\d+)?)")
_EXPECTED = "expected a time such as 55m, and tokens=NUMBER or cost=NUMBER after commas"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that were given; None: no such limit."""

    seconds: float | None = None
    tokens: float | None = None
    """Of prompts and replies of the model together."""
    cost: float | None = None
    """By the prices of --drift-prices."""


def read_limits(text: str, *, prices: tuple[float, float] | None) -> Limits:
    """Read `55m`, `1.5h,tokens=2000000` or `cost=20`."""
    given: dict[str, float] = {}
    for part in (part.strip() for part in text.split(",")):
        if match := _TIME.fullmatch(part):
            name, value = "seconds", float(match[1]) * _SECONDS[match[2]]
        elif match := _LIMIT.fullmatch(part):
            name, value = match[1], float(match[2])
        else:
            raise InputError(f"--drift-budget: {_EXPECTED}, found {part!r}")
        if name in given or value <= 0:
            raise InputError(f"--drift-budget: {_EXPECTED}, each once and above 0, found {text!r}")
        given[name] = value
    if "cost" in given and prices is None:
        raise InputError("--drift-budget cost=…: needs --drift-prices IN,OUT")
    return Limits(**given)


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
            return
        self._prompt += prompt
        self._completion += completion

    def refusal(self) -> Failure | None:
        """Why no new request may be started, to be counted as one that was not; None while there is something left."""
        why = self.spent()
        self.refused += why is not None
        return why

    def spent(self) -> Failure | None:
        """Which limit is used up."""
        limits = self._limits
        if limits.seconds is not None and time.monotonic() - self._started >= limits.seconds:
            return failure(FailureCode.BUDGET, budget=self._text, limit="time")
        if limits.tokens is None and limits.cost is None:
            return None
        if self._uncounted:
            return failure(FailureCode.UNCOUNTED, budget=self._text)
        if limits.tokens is not None and self._prompt + self._completion >= limits.tokens:
            return failure(FailureCode.BUDGET, budget=self._text, limit="tokens")
        cost = token_cost(self._prompt, self._completion, self._prices or (0.0, 0.0))
        if limits.cost is not None and cost >= limits.cost:
            return failure(FailureCode.BUDGET, budget=self._text, limit="cost")
        return None
