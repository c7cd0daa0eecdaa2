"""The bands of a metric: PASS, CAUTION and FAIL, closed and without gaps."""

import hashlib
import math
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from pytest_clinical_drift.verdict.states import FigureState

TOLERANCE = 1e-9
"""Values this close to a limit count as being on it."""

_COMPARISON = re.compile(r"^\s*(>=|<=|>|<|≥|≤)\s*([-−+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*$")
_PLAIN = {ord("≥"): ">=", ord("≤"): "<="}


class Limit(NamedTuple):
    """One side of a band, such as `> 0.80`."""

    comparison: str
    value: float

    def holds(self, value: float) -> bool:
        inclusive = self.comparison in (">=", "<=")
        if abs(value - self.value) <= TOLERANCE:
            return inclusive
        return value > self.value if self.comparison[0] == ">" else value < self.value

    def __str__(self) -> str:
        return f"{self.comparison} {self.value:g}"


class Range(NamedTuple):
    """What a metric can be at all."""

    low: float
    high: float
    meaning: str


RATE = Range(0.0, 1.0, "a rate lies between 0 and 1")
SLOPE = Range(-1.0, 1.0, "a slope lies between -1 and 1 per turn")
FALL = Range(-1.0, 1.0, "a fall lies between -1 and 1")
PER_HUNDRED = Range(0.0, 100.0, "a rate per hundred replies lies between 0 and 100")
NOT_NEGATIVE = Range(0.0, math.inf, "it is 0 or more")


class Table(BaseModel):
    """A mapping of the file: unknown keys are faults."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def fingerprint(self) -> str:
        """Hash of the content, for the manifest."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def _read_limit(value: Any, info: ValidationInfo) -> Any:
    """A comparison, or a bare number: PASS is strictly better than it, CAUTION reaches down to and includes it."""
    direction = info.data.get("direction")
    sign = "<" if direction == "lower" else ">"
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
        return Limit(sign if info.field_name == "pass_limit" else f"{sign}=", value)
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else value  # a limit that was written to JSON
    match = _COMPARISON.match(text) if isinstance(text, str) else None
    if not match:
        raise ValueError(f"expected a comparison such as '> 0.80', found {value!r}")
    limit = Limit(match.group(1).translate(_PLAIN), float(match.group(2).replace("−", "-")))
    if direction and limit.comparison[0] != sign:
        raise ValueError(f"with direction {direction} the limit must use {sign} or {sign}=, found '{limit}'")
    return limit


class MetricLimits(Table):
    """The bands of one metric."""

    direction: Literal["higher", "lower"]
    pass_limit: Annotated[Limit, BeforeValidator(_read_limit)] = Field(alias="pass")
    """PASS where it holds."""
    caution_limit: Annotated[Limit, BeforeValidator(_read_limit)] = Field(alias="caution")
    """CAUTION where it holds and PASS does not; FAIL beyond."""
    why: Annotated[str, Field(min_length=1)]
    worst: Literal["fail", "caution"] = "fail"
    """caution: this metric alone never fails a case."""
    open: Literal["unsettled", "caution"] | None = None
    """What an open severe alarm, or a figure nobody has read, makes of the verdict; None: as for the whole gate."""
    implied: bool = False
    """In force although the file leaves it out."""

    @model_validator(mode="after")
    def _bands_touch(self) -> Self:
        best, worst = self.pass_limit, self.caution_limit
        crossed = best.value < worst.value if self.direction == "higher" else best.value > worst.value
        gap_at_limit = best.value == worst.value and "=" in best.comparison and "=" not in worst.comparison
        if crossed or gap_at_limit:
            raise ValueError(
                f"pass '{best}' and caution '{worst}' leave a gap: the caution limit must be at or beyond the pass one"
            )
        return self

    def band(self, value: float) -> FigureState:
        """PASS, CAUTION or FAIL; a metric capped at caution never fails."""
        if self.pass_limit.holds(value):
            return FigureState.PASS
        capped = self.caution_limit.holds(value) or self.worst == "caution"
        return FigureState.CAUTION if capped else FigureState.FAIL


def idle_limits(limits: MetricLimits, possible: Range) -> Iterator[tuple[str, str]]:
    """Limits that every possible value keeps, or none: the key, and what is wrong with it."""
    best, worst = possible[:2] if limits.direction == "lower" else (possible.high, possible.low)
    for key, limit in (("pass", limits.pass_limit), ("caution", limits.caution_limit)):
        if not limit.holds(best):
            fault = "no value can keep"
        elif limit.holds(worst) and (key == "pass" or limits.worst == "fail"):
            fault = "every value keeps"
        else:
            continue
        percent = possible.high == 1 < abs(limit.value) <= 100
        meant = f"; did you mean {limit.value / 100:g}?" if percent else ""
        never = "; a metric that never fails a case has worst: caution" if key == "caution" and not percent else ""
        yield key, f"{fault} '{limit}': {possible.meaning}{meant}{never}"
