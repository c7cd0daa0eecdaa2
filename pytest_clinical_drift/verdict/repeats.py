"""What is shown beside the verdict and is never gated: repeats that disagree."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.metrics.intervals import repeat_sd
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds


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
