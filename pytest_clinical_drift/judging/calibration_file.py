"""The calibration file: how good a judge is on labelled texts, every attempt pooled, and what it may decide."""

import contextlib
import datetime
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import isclose
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError, field_validator

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.core.files import read_text, write_atomically
from pytest_clinical_drift.core.text import shortened
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.judging.measuring import SHARES, Measurement, Tally
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.protocol import UNPROVEN_DAYS
from pytest_clinical_drift.judging.queue import Count
from pytest_clinical_drift.subjects.base import Identity

FORMAT = 2
VALID_DAYS = UNPROVEN_DAYS
"""For a judge whose identity is not proven."""


class Share(BaseModel, frozen=True):
    hits: int
    of: int
    low: float
    high: float
    """One-sided 95 % limits, clustered by patient."""

    @classmethod
    def of_tally(cls, tally: Tally) -> Self:
        hits, of = tally.counts
        low, high = tally.limits()
        return cls(hits=hits, of=of, low=low, high=high)

    def agrees_with(self, other: Self) -> bool:
        """The same counts, and limits that differ by rounding at most, as between two machines."""
        same = (self.hits, self.of) == (other.hits, other.of)
        return same and isclose(self.low, other.low, abs_tol=1e-9) and isclose(self.high, other.high, abs_tol=1e-9)


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
    stopped: str = ""
    """Why it was not measured to the end: the floor that cannot be reached, or `requests`; then no rate is given."""

    def agrees_with(self, other: Self) -> bool:
        shares = all(getattr(self, name).agrees_with(getattr(other, name)) for name in SHARES)
        return shares and self.stopped == other.stopped


class ExternalTable(BaseModel, frozen=True):
    """The judge against labels of a public set; shown, without a floor."""

    name: str
    made: datetime.date
    rows: tuple[dict[str, Any], ...]
    """One row per kind and agreement of the annotators."""


_Counts = Mapping[str, Mapping[str, Mapping[str, tuple[int, int]]]]
"""Hits and trials by kind, share and patient."""


class Attempt(BaseModel, frozen=True):
    """One calibration of this judge: counts by kind, share and patient."""

    made: datetime.date
    texts: int
    requests: int
    tokens: tuple[int, int] | None = None
    """Of prompts and answers; None where the judge does not count them."""
    counts: _Counts
    stopped: dict[str, str] = {}
    unsure: dict[str, int] = {}
    disputed_as_errors: dict[str, dict[str, tuple[int, int]]] = {}
    """Hits and trials with disputed labels counted as errors."""

    @field_validator("counts")
    @classmethod
    def _hits_among_trials(cls, counts: _Counts) -> _Counts:
        for kind, shares in counts.items():
            for share, patients in shares.items():
                if not all(0 <= hits <= trials for hits, trials in patients.values()):
                    raise ValueError(f"{kind}.{share}: hits must lie between 0 and the trials")
        return counts


class Calibration(BaseModel, frozen=True):
    """The file that a project commits."""

    format: int = FORMAT
    judge: str
    """The judge's name; with two judges both."""
    identity: str
    """Hash of judges, settings and prompts."""
    specs: tuple[str, ...] = ()
    """The judges as they were named, with their address; empty in files from before this was kept."""
    proven: bool
    prompt_version: str
    prompts: str
    labelled: str
    """Hash of the labelled set."""
    patients: int
    labelled_by: str = "models"
    """Who labelled the set: not clinicians, unless it says so."""
    attempts: tuple[Attempt, ...]
    kinds: dict[str, KindLimits] = {}
    """All attempts pooled."""
    external: tuple[ExternalTable, ...] = ()

    @property
    def made(self) -> datetime.date:
        return self.attempts[-1].made

    def after(self, earlier: Self | None) -> Self:
        """The same judge with its earlier attempts, all pooled."""
        if earlier is None:
            return self
        attempts = (*earlier.attempts, *self.attempts)
        external = self.external or earlier.external
        return self.model_copy(update={"attempts": attempts, "kinds": pooled(attempts), "external": external})

    def not_following(self) -> str:
        """The first kind whose limits do not follow from the attempts; empty where all of them do."""
        computed = pooled(self.attempts)
        for kind in sorted(self.kinds.keys() | computed.keys()):
            stated = self.kinds.get(kind)
            counted = computed.get(kind)
            if stated is None or counted is None or not stated.agrees_with(counted):
                return kind
        return ""

    def deciding(self, floors: Mapping[str, float]) -> frozenset[str]:
        """Groups of kinds whose lower limits reach the floors: the others are shown and decide nothing."""
        return frozenset(group for group in GROUPS if group in self.kinds and not self.below(group, floors))

    def below(self, group: str, floors: Mapping[str, float]) -> dict[str, float]:
        """The lower limits of a group that miss their floor; all of them at 0 where the group was stopped early."""
        limits = self.kinds.get(group)
        if limits is None:
            return dict.fromkeys(floors, 0.0)
        shares: dict[str, Share] = {name: getattr(limits, name) for name in floors}
        return {
            name: share.low
            for name, share in shares.items()
            if limits.stopped or share.low < floors[name] or not share.of
        }


def attempt_of(measurement: Measurement, disputed: Measurement, count: Count, today: datetime.date) -> Attempt:
    """What one measurement adds to the file; `disputed` is that of the disputed labels alone, each an error."""
    errors: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for kind, share in product(dict.fromkeys((*measurement.kinds, *disputed.kinds)), ("faults", "clean")):
        hits, trials = measurement.kinds[kind][share].counts
        errors[kind][share] = hits, trials + disputed.kinds[kind][share].counts[1]
    return Attempt(
        made=today,
        texts=measurement.texts,
        requests=count.sent,
        tokens=(count.tokens["prompt"], count.tokens["answer"]) if count.tokens["answers"] else None,
        counts=measurement.kinds,
        stopped=measurement.stopped,
        unsure=measurement.unsure,
        disputed_as_errors=errors,
    )


def pooled(attempts: Iterable[Attempt]) -> dict[str, KindLimits]:
    """Limits over all attempts: retrying until it passes does not help."""
    found = Measurement()
    for attempt in attempts:
        found.stopped |= attempt.stopped
        for kind, shares in attempt.counts.items():
            for name, patients in shares.items():
                for patient, counts in patients.items():
                    found.kinds[kind][name].add(patient, *counts)
    return {
        kind: KindLimits(
            **{name: Share.of_tally(tallies[part]) for name, part in SHARES.items()},
            stopped=found.stopped.get(kind, ""),
        )
        for kind, tallies in found.kinds.items()
    }


# ---- the file


def fingerprint(identities: Sequence[Identity]) -> str:
    """Of all judges of a run together with the prompts."""
    return "+".join(identity.fingerprint(prompt_hash()) for identity in identities)


def file_name(name: str, identities: Sequence[Identity]) -> str:
    """Named by judge, prompt version and a fingerprint of both."""
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:80]
    return f"{slug}-prompts-{prompt_version()}-{fingerprint(identities)[:10]}.json"


def read_calibration(path: Path) -> Calibration:
    """A calibration file; InputError in one sentence when it is not one, or says other than its attempts."""
    try:
        calibration = Calibration.model_validate_json(read_text(path))
    except ValidationError as error:
        raise InputError(f"{path}: not a calibration file of this version ({first_fault(error)})") from None
    kind = calibration.not_following()
    if kind:
        raise InputError(
            f"{path}: the limits of kind {shortened(kind)} do not follow from the attempts in the file; "
            "it was changed; calibrate again with clinical-drift calibrate"
        )
    return calibration


def write_calibration(calibration: Calibration, path: Path) -> Path:
    return write_atomically(path, calibration.model_dump_json(indent=1) + "\n")


def invalid_because(
    calibration: Calibration, identities: Sequence[Identity], today: datetime.date | None = None
) -> str:
    """Why a calibration says nothing about this judge today (of whatever age without a day); empty where it does."""
    if calibration.prompts != prompt_hash():
        return f"it was made with other prompts (version {calibration.prompt_version}; now {prompt_version()})"
    if calibration.identity != fingerprint(identities):
        now = tuple(identity.spec for identity in identities)
        if calibration.specs and calibration.specs != now:
            then = " + ".join(calibration.specs)
            return f"it was made with {then}, not with {' + '.join(now)}; if that is the same judge, name it as then"
        return f"it is of another judge or of other settings ({calibration.judge})"
    if today is not None and not calibration.proven and (today - calibration.made).days > VALID_DAYS:
        return f"it was made on {calibration.made}, over {VALID_DAYS} days ago, and the judge's identity is not proven"
    return ""


def find_calibration(
    folder: Path, identities: Sequence[Identity], today: datetime.date | None = None
) -> Calibration | None:
    """All attempts with a judge that a folder holds, if the newest is valid today; of whatever age without a day.

    Pooled over all files: a retry kept under another name does not replace the first, and a copy adds nothing.
    """
    known: Calibration | None = None
    for _, calibration in _calibrations(folder):
        if not invalid_because(calibration, identities):
            others = tuple(a for a in known.attempts if a not in calibration.attempts) if known else ()
            known = calibration.after(known.model_copy(update={"attempts": others}) if known and others else None)
    return None if known is None or invalid_because(known, identities, today) else known


def why_none_counts(folder: Path, judge: str, identities: Sequence[Identity], today: datetime.date) -> str:
    """Why the newest file in a folder on a judge of this name does not count, in brackets; empty without a file."""
    named = [(path, calibration) for path, calibration in _calibrations(folder) if calibration.judge == judge]
    return f" ({named[-1][0].name} does not count: {invalid_because(named[-1][1], identities, today)})" if named else ""


def _calibrations(folder: Path) -> list[tuple[Path, Calibration]]:
    """The calibration files of a folder, the newest last; other JSON files there are not ours to judge."""
    found = []
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(InputError, ValueError, RecursionError):
            data = json.loads(read_text(path))
            if isinstance(data, dict) and "attempts" in data:
                found.append(path)
    return sorted(((path, read_calibration(path)) for path in found), key=lambda pair: pair[1].made)
