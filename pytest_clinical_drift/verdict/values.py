"""What a verdict is made of: the values that travel, and how reports name and write the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import yaml

from pytest_clinical_drift.metrics.corrected import CorrectedRate, Counted
from pytest_clinical_drift.metrics.stats import Interval
from pytest_clinical_drift.scoring.assessment import Event
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.thresholds import ALWAYS_GATED, Thresholds, Waiver

PASS, CAUTION, FAIL = "PASS", "CAUTION", "FAIL"
INCOMPLETE, PARTIAL, UNSETTLED = "INCOMPLETE", "PARTIAL", "UNSETTLED"
NOT_EVALUATED = "not evaluated"
"""It could have been measured, and was not: never green, and no whole set passes with it."""
NOT_APPLICABLE = "not applicable"
"""It cannot happen in these cases: neither green nor in the way."""

SEVERE = tuple(ALWAYS_GATED)
"""One confirmed event fails a case under every policy, no waiver covers it, an open one leaves the case unsettled."""
NEEDED = ("recall_at_t10", "drift_slope")
"""Metrics without which there is no verdict at all."""
MOST_TO_READ = 60
"""Groups of open alarms (case, fact, run of turns) beyond which nobody reads them all."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What alarms were settled by."""

    judge: str | None = None
    """Name of the judge; None: rules only."""
    deciding: tuple[str, ...] = ()
    """Kinds of question in which its calibration lets it decide."""
    below_floor: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    """People whose reviews count, as declared."""
    missing: str = ""
    """Why a judge that the thresholds require has not judged; empty where it has or need not."""
    errors: Mapping[str, tuple[Counted, Counted]] = field(default_factory=dict)
    """Per kind of question what calibration counted: faults upheld, of how many; clean ones not upheld, of how many."""

    def suffix(self, unread: int = 0) -> str:
        """ "rules only", "judge NAME", with what no person has read yet."""
        by = f"judge {self.judge}" if self.judge and self.deciding else "rules only"
        if self.judge and not self.deciding:
            by = f"rules only; judge {self.judge} decides nothing"
        if self.reviewers:
            by += f"; reviewed by {', '.join(self.reviewers[:3])}"
        if unread:
            by += f"; {unread} {'breach' if unread == 1 else 'breaches'} not yet read by a person"
        return by


RULES_ONLY = Basis()


@dataclass(frozen=True, slots=True)
class Judgement:
    """One metric against its limits."""

    metric: str
    value: float | None
    """At the better end: confirmed alarms only."""
    verdict: str
    """PASS, CAUTION, FAIL, "not evaluated" or "not applicable"."""
    limit: str
    """The limit of PASS."""
    detail: str = ""
    """What a reader needs to act, or why it is undefined."""
    interval: Interval | None = None
    worst: float | None = None
    """At the worse end: open alarms count too."""
    events: tuple[Event, ...] = ()
    """What was counted, confirmed and open."""
    corrected: CorrectedRate | None = None
    """The set's rate without the judge's error; None where it cannot be had."""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """One case, judged."""

    case_id: str
    verdict: str
    judgements: tuple[Judgement, ...]
    diagnosis: str
    waiver: Waiver | None = None
    """The waiver that turned this FAIL into CAUTION."""
    unsettled: bool = False
    """Something severe is open and the thresholds call that unsettled; also where the case fails by something else."""

    @property
    def hard(self) -> bool:
        """Whether a severe event decided."""
        return any(item.metric in SEVERE and item.verdict == FAIL for item in self.judgements)


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """The whole set, judged."""

    verdict: str
    judgements: tuple[Judgement, ...]
    reasons: tuple[str, ...]
    """Sentences, the decisive ones first."""
    diagnosis: str
    selected: int
    total: int
    complete: int
    failing: tuple[str, ...]
    """Ids of the cases past a fail line."""
    waivers: tuple[Waiver, ...] = ()
    basis: Basis = Basis()
    unread: int = 0
    """Confirmed breaches that no person has read."""
    to_read: int = 0
    """Groups of open alarms."""
    severe_to_read: int = 0
    """Those among them that would fail a case."""

    @property
    def headline(self) -> str:
        """The verdict in a few words, with what it rests on."""
        if self.verdict == PARTIAL:
            told = [f"{counted(len(self.failing), 'case')} at FAIL"] if self.failing else []
            if broken := self.selected - self.complete:
                told.append(f"{counted(broken, 'case')} not run to the end")
            why = f"; {' and '.join(told)}" if told else ""
            return f"PARTIAL ({self.selected} of {self.total}): no release verdict{why}"
        if self.verdict == UNSETTLED:
            many = self.to_read > MOST_TO_READ
            advice = "too many to read; use a better judge" if many else "settle them with clinical-drift review"
            count = f"{counted(self.to_read, 'group')} of open alarms, {self.severe_to_read} severe"
            return f"UNSETTLED ({self.basis.suffix()}): {count}; {advice}"
        return f"{self.verdict} ({self.basis.suffix(self.unread if self.verdict == FAIL else 0)})"


def band_of(limits: MetricLimits, value: float | None) -> str:
    """Where a value lies; an undefined one is not evaluated, never 0."""
    return NOT_EVALUATED if value is None else limits.band(value)


def fails_run(verdict: CaseVerdict, thresholds: Thresholds) -> bool:
    """Whether this case alone fails the run under the policy in force."""
    return verdict.verdict == FAIL and (thresholds.policy == "each-case" or verdict.hard)


@cache
def words(section: str, name: str = "report_words") -> Any:
    """A table of the words that reports use."""
    text = (resources.files("pytest_clinical_drift") / "data" / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)[section]


def label(metric: str) -> str:
    return str(words("metrics").get(metric, {}).get("label", metric))


def number(metric: str, value: float) -> str:
    return format(value, words("metrics").get(metric, {}).get("format", "g"))


def counted(count: float, one: str) -> str:
    """A count with its noun: "1 case", "3 cases", "2 replies"."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count:,g} {one if count == 1 else many}"
