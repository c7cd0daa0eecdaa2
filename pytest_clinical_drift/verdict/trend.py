"""What is shown beside the verdict and is never gated: the set's curve, repeats that disagree."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.metrics.drift import SlopeFit
from pytest_clinical_drift.metrics.horizon import early_slope
from pytest_clinical_drift.metrics.intervals import repeat_sd
from pytest_clinical_drift.scoring.assessment import Curve
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.memory import Memory, memory_of
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Trend:
    """The mean recall curve to the end and what it looks like."""

    curve: Curve
    """By turn, at scheduled probes."""
    line: SlopeFit | None
    """Through turns 1 to 20, of shorter cases the whole curve."""
    band: tuple[tuple[float, float] | None, ...]
    """Interval of the mean on every turn, over the cases that have a value there."""
    memory: Memory | None = None
    """How long facts are remembered; None where no case was finished."""

    @property
    def turns(self) -> int:
        """The turn that the curve runs to."""
        return len(self.curve)


def set_trend(
    cases: Sequence[Repeats], case_set: Iterable[Case] = (), *, limit: float = 0.8, confidence: float = 0.95
) -> Trend:
    """Repeats are averaged first, then cases; a case counts to its end.

    `limit` is the PASS limit of recall, `case_set` holds the cases as they were run.
    """
    memory = memory_of(cases, case_set, limit=limit, confidence=confidence)
    probes = {probe.turn: probe for probe in memory.probes} if memory else {}
    known = [probes.get(turn + 1) for turn in range(memory.turns if memory else 0)]
    curve = tuple(probe.recall if probe else None for probe in known)
    band = tuple((p.low, p.high) if p and p.low is not None and p.high is not None else None for p in known)
    return Trend(curve, early_slope(curve), band, memory)


@dataclass(frozen=True, slots=True)
class FlakyCase:
    """A case whose repeats, each judged alone, do not agree."""

    case_id: str
    verdicts: tuple[Verdict, ...]
    """One per repeat."""
    recalls: tuple[float | None, ...]
    """Recall@T10 of each repeat."""


@dataclass(frozen=True, slots=True)
class RepeatFigures:
    """Variation between conversations of the same case under sampled decoding."""

    repeats: int
    recall_sd: float | None
    """Of Recall@T10 between the repeats of one case; None where nothing was evaluated twice."""
    flaky: tuple[FlakyCase, ...]


def repeat_figures(
    cases: Sequence[Repeats], thresholds: Thresholds, today: datetime.date, deciding: Sequence[str] = ()
) -> RepeatFigures | None:
    """Spread within cases and those that change their verdict by chance; None when no case was repeated."""
    if not any(len(repeats) > 1 for repeats in cases):
        return None
    recalls = [tuple(run.recall_at_t10 for run in repeats) for repeats in cases]
    flaky = []
    for repeats, recalled in zip(cases, recalls, strict=True):
        verdicts = tuple(judge_case([run], thresholds, today, deciding).verdict for run in repeats)
        if len(set(verdicts)) > 1:
            flaky.append(FlakyCase(repeats[0].case_id, verdicts, recalled))
    spread = repeat_sd([[value for value in recalled if value is not None] for recalled in recalls])
    return RepeatFigures(max(map(len, cases)), spread, tuple(flaky))
