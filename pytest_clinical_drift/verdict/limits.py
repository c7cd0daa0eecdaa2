"""The bands of a metric: PASS, CAUTION and FAIL, closed and without gaps."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Direction = Literal["higher", "lower"]
Band = Literal["PASS", "CAUTION", "FAIL"]

TOLERANCE = 1e-9
"""Values this close to a limit count as being on it."""

_COMPARISON = re.compile(r"^\s*(>=|<=|>|<|≥|≤)\s*([-−+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*$")


class Limit(NamedTuple):
    """One side of a band, such as `> 0.80`."""

    comparison: str
    value: float

    def holds(self, value: float) -> bool:
        """Whether a value lies on the good side of this limit."""
        inclusive = self.comparison in (">=", "<=")
        if abs(value - self.value) <= TOLERANCE:
            return inclusive
        return value > self.value if self.comparison[0] == ">" else value < self.value

    def __str__(self) -> str:
        return f"{self.comparison} {self.value:g}"


def _read_limit(value: Any) -> Any:
    if isinstance(value, str):
        match = _COMPARISON.match(value)
        if not match:
            raise ValueError(f"expected a comparison such as '> 0.80', found {value!r}")
        comparison = match.group(1).replace("≥", ">=").replace("≤", "<=")
        return Limit(comparison, float(match.group(2).replace("−", "-")))
    return value


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class MetricLimits(Table):
    """The bands of one metric."""

    direction: Direction
    pass_: Annotated[Limit | float, BeforeValidator(_read_limit)] = Field(alias="pass")
    caution: Annotated[Limit | float, BeforeValidator(_read_limit)]
    why: Annotated[str, Field(min_length=1)]
    worst: Literal["fail", "caution"] = "fail"
    """caution: this metric alone never fails a case."""

    @model_validator(mode="after")
    def _bands_touch(self) -> MetricLimits:
        sign = ">" if self.direction == "higher" else "<"
        # a bare number: PASS is strictly better than it, CAUTION reaches down to and includes it
        limits = {
            "pass": self.pass_ if isinstance(self.pass_, Limit) else Limit(sign, self.pass_),
            "caution": self.caution if isinstance(self.caution, Limit) else Limit(sign + "=", self.caution),
        }
        for name, limit in limits.items():
            if limit.comparison[0] != sign:
                raise ValueError(
                    f"with direction {self.direction} the {name} limit must use {sign} or {sign}=, found '{limit}'"
                )
        best, worst = limits["pass"], limits["caution"]
        crossed = best.value < worst.value if sign == ">" else best.value > worst.value
        gap_at_limit = (
            best.value == worst.value and best.comparison.endswith("=") and not worst.comparison.endswith("=")
        )
        if crossed or gap_at_limit:
            raise ValueError(
                f"pass '{best}' and caution '{worst}' leave a gap: the caution limit must be at or beyond the pass one"
            )
        object.__setattr__(self, "pass_", best)
        object.__setattr__(self, "caution", worst)
        return self

    @property
    def pass_limit(self) -> Limit:
        """PASS where it holds."""
        return self.pass_ if isinstance(self.pass_, Limit) else Limit(">", self.pass_)

    @property
    def caution_limit(self) -> Limit:
        """CAUTION where it holds and PASS does not; FAIL beyond."""
        return self.caution if isinstance(self.caution, Limit) else Limit(">=", self.caution)

    def band(self, value: float) -> Band:
        """PASS, CAUTION or FAIL; a metric capped at caution never fails."""
        if self.pass_limit.holds(value):
            return "PASS"
        if self.caution_limit.holds(value) or self.worst == "caution":
            return "CAUTION"
        return "FAIL"
