"""How long a run may take. When the time is used up, no new request is started."""

import re
import time

from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.transcript import Reply

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)([smh])\s*")


class Budget:
    """Counts what a run has got and what it gave up; the clock starts with it."""

    def __init__(self, text: str) -> None:
        match = _TIME.fullmatch(text)
        self.seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
        if self.seconds <= 0:
            raise InputError(f"--drift-budget: expected a time above 0 such as 30s, 55m or 1.5h, found {text!r}")
        self._text = text
        self._started = time.monotonic()
        self.received = 0
        """New replies."""
        self.refused = 0
        """Requests that were not started any more."""

    def count(self, reply: Reply) -> None:
        """A reply came; one that was reused is no new one."""
        self.received += reply.reused_from is None and reply.error is None

    def refusal(self) -> Failure | None:
        """Why no new request may be started, to be counted as one that was not; None while there is time left."""
        why = self.spent()
        self.refused += why is not None
        return why

    def spent(self) -> Failure | None:
        """The failure of what is not started any more, once the time is used up."""
        over = time.monotonic() - self._started >= self.seconds
        return failure(FailureCode.BUDGET, budget=self._text) if over else None
