"""What a run may take at most: time, tokens or cost. When it is used up, no new request is started."""

import re
import time

from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.transcript import Reply

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(?P<time>\d+(?:\.\d+)?)(?P<unit>[smh])|(?P<name>tokens|cost)=(?P<most>\d+(?:\.\d+)?)")
_EXPECTED = "expected a time such as 55m, and tokens=NUMBER or cost=NUMBER after commas"


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
