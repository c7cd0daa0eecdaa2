"""The calibration file: how good a judge is on labelled texts, every attempt pooled, and what it may decide."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.cases.files import read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.judging.measuring import KindTally, Measurement, Tally
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.subjects.base import Identity

FORMAT = 2
VALID_DAYS = 30
"""For a judge whose identity is not proven: an alias may be another model tomorrow."""
CONFIDENCE = 0.95
_SHARES = ("faults", "subtle", "clean", "false", "missed", "opinions")


class Share(BaseModel, frozen=True):
    hits: int
    of: int
    low: float
    high: float
    """One-sided 95 % limits, clustered by patient."""

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None


class KindLimits(BaseModel, frozen=True):
    """How good the procedure is on one kind."""

    sensitivity: Share
    """Faults confirmed, of all faults; an open one counts as missed."""
    subtle: Share
    """The same of the subtle ones alone."""
    specificity: Share
    """Clean items without a confirmed or open alarm, of all clean ones."""
    false_confirmed: Share
    """Clean items with a confirmed alarm, of all clean ones."""
    missed: Share
    """Faults that nothing raised or that were dismissed, of all faults."""
    consistent: Share
    """Points asked about in both wordings whose answers agree."""
    stopped: str = ""
    """Why it was not measured to the end: the floor that cannot be reached, or `requests`; then no rate is given."""


class ExternalTable(BaseModel, frozen=True):
    """The judge against labels of a public set; shown, without a floor."""

    name: str
    made: datetime.date
    rows: tuple[dict[str, Any], ...]
    """One row per kind and agreement of the annotators."""


class Attempt(BaseModel, frozen=True):
    """One calibration of this judge: counts by kind, share and patient."""

    made: datetime.date
    texts: int
    requests: int
    counts: dict[str, dict[str, dict[str, tuple[int, int]]]]
    stopped: dict[str, str] = {}
    unsure: dict[str, int] = {}
    confusions: dict[str, int] = {}
    disputed_as_errors: dict[str, dict[str, tuple[int, int]]] = {}
    """Hits and trials with disputed labels counted as errors."""


class Calibration(BaseModel, frozen=True):
    """The file that a project commits."""

    format: int = FORMAT
    judge: str
    """The judge's name; with two judges both."""
    identity: str
    """Hash of judges, settings and prompts."""
    proven: bool
    prompt_version: str
    prompts: str
    labelled: str
    """Hash of the labelled set."""
    patients: int
    labelled_by: str = "models"
    """Who labelled the set: not clinicians, unless it says so."""
    attempts: tuple[Attempt, ...]
    seconds_per_request: float | None = None
    tokens_per_request: tuple[float, float] | None = None
    """Of prompt and answer; None where the judge does not count them."""
    kinds: dict[str, KindLimits] = {}
    """All attempts pooled."""
    external: tuple[ExternalTable, ...] = ()

    @property
    def made(self) -> datetime.date:
        return self.attempts[-1].made

    @property
    def requests(self) -> int:
        return sum(attempt.requests for attempt in self.attempts)

    def deciding(self, floors: Mapping[str, float]) -> frozenset[str]:
        """Groups of kinds whose lower limits reach the floors: the others are shown and decide nothing."""
        return frozenset(group for group in GROUPS if group in self.kinds and not self.below(group, floors))

    def below(self, group: str, floors: Mapping[str, float]) -> dict[str, float]:
        """The lower limits of a group that miss their floor; all of them at 0 where the group was stopped early."""
        limits = self.kinds.get(group)
        if limits is None:
            return dict.fromkeys(floors, 0.0)
        lows = {"sensitivity": limits.sensitivity, "subtle": limits.subtle, "specificity": limits.specificity}
        return {
            name: lows[name].low
            for name, floor in floors.items()
            if limits.stopped or lows[name].low < floor or not lows[name].of
        }


def attempt_of(measurement: Measurement, disputed: Measurement, *, requests: int, today: datetime.date) -> Attempt:
    """What one measurement adds to the file; `disputed` is that of the disputed labels alone."""
    with_disputed: dict[str, dict[str, tuple[int, int]]] = {}
    for kind in dict.fromkeys((*measurement.kinds, *disputed.kinds)):
        tally, apart = measurement.kinds.get(kind, KindTally()), disputed.kinds.get(kind, KindTally())
        with_disputed[kind] = {
            name: (getattr(tally, name).counts[0], getattr(tally, name).counts[1] + getattr(apart, name).counts[1])
            for name in ("faults", "clean")
        }
    return Attempt(
        made=today,
        texts=measurement.texts,
        requests=requests,
        counts={kind: _by_patient(tally) for kind, tally in measurement.kinds.items()},
        stopped=measurement.stopped,
        unsure=dict(measurement.unsure),
        confusions=dict(measurement.confusions.most_common(20)),
        disputed_as_errors=with_disputed,
    )


def _by_patient(tally: KindTally) -> dict[str, dict[str, tuple[int, int]]]:
    shares = {name: getattr(tally, name) for name in _SHARES}
    return {n: {p: (share.hits[p], share.trials[p]) for p in share.trials} for n, share in shares.items()}


def pooled(attempts: Sequence[Attempt]) -> dict[str, KindLimits]:
    """Limits over all attempts: retrying until it passes does not help."""
    tallies: dict[str, dict[str, Tally]] = {}
    stopped: dict[str, str] = {}
    for attempt in attempts:
        stopped |= attempt.stopped
        for kind, shares in attempt.counts.items():
            for name, patients in shares.items():
                tally = tallies.setdefault(kind, {}).setdefault(name, Tally())
                tally.hits.update(Counter({patient: counts[0] for patient, counts in patients.items()}))
                tally.trials.update(Counter({patient: counts[1] for patient, counts in patients.items()}))
    return {kind: _limits(shares, stopped.get(kind, "")) for kind, shares in tallies.items()}


def _limits(shares: Mapping[str, Tally], stopped: str) -> KindLimits:
    shares_of = {name: _share(shares.get(name, Tally())) for name in _SHARES}
    return KindLimits(
        sensitivity=shares_of["faults"],
        subtle=shares_of["subtle"],
        specificity=shares_of["clean"],
        false_confirmed=shares_of["false"],
        missed=shares_of["missed"],
        consistent=shares_of["opinions"],
        stopped=stopped,
    )


def _share(tally: Tally) -> Share:
    (hits, of), (low, high) = tally.counts, tally.limits(CONFIDENCE)
    return Share(hits=hits, of=of, low=low, high=high)


# ---- the file


def fingerprint(identities: Sequence[Identity]) -> str:
    """Of all judges of a run together with the prompts."""
    return "+".join(identity.fingerprint(prompt_hash()) for identity in identities)


def file_name(name: str, identities: Sequence[Identity]) -> str:
    """Named by judge, prompt version and a fingerprint of both."""
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:80]
    return f"{slug}-prompts-{prompt_version()}-{fingerprint(identities)[:10]}.json"


def read_calibration(path: Path) -> Calibration:
    """A calibration file; InputError in one sentence when it is not one."""
    try:
        return Calibration.model_validate_json(read_text(path))
    except ValidationError as error:
        raise InputError(f"{path}: not a calibration file of this version ({first_fault(error)})") from None


def write_calibration(calibration: Calibration, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(calibration.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return path


def invalid_because(calibration: Calibration, identities: Sequence[Identity], today: datetime.date) -> str:
    """Why a calibration says nothing about this judge today; empty where it does."""
    if calibration.prompts != prompt_hash():
        return f"it was made with other prompts (version {calibration.prompt_version}; now {prompt_version()})"
    if calibration.identity != fingerprint(identities):
        return f"it is of another judge or of other settings ({calibration.judge})"
    if not calibration.proven and (today - calibration.made).days > VALID_DAYS:
        return f"it was made on {calibration.made}, over {VALID_DAYS} days ago, and the judge's identity is not proven"
    return ""


def find_calibration(folder: Path, identities: Sequence[Identity], today: datetime.date) -> Calibration | None:
    """The newest valid calibration of a judge in a project's folder; other JSON files there are not ours to judge."""
    valid = []
    for path in sorted(folder.glob("*.json")):
        try:
            looks_ours = isinstance(data := json.loads(read_text(path)), dict) and "attempts" in data
        except (InputError, ValueError, RecursionError):
            continue
        if looks_ours and not invalid_because(calibration := read_calibration(path), identities, today):
            valid.append(calibration)
    return max(valid, key=lambda calibration: calibration.made, default=None)
