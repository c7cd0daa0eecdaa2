"""What a person who signs has to know beyond the run itself: the sheet of the project (`dossier.yaml`), its hazards,
earlier releases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.core.parsing import parse_data
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.metrics.intervals import proportion_interval
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.signed import (
    Release,
    SignedReleases,
    newest_release,
    releases_below,
    signed_releases,
)
from pytest_clinical_drift.results.ssh_signatures import read_signers
from pytest_clinical_drift.verdict.reasons import WORST_FIRST, Verdict

SHEET_FILE = "dossier.yaml"
LimitsState = Literal["approved", "not approved", "not named"]


@dataclass(frozen=True, slots=True)
class HazardRow:
    """A hazard, the cases that name it, and what became of them."""

    hazard: str
    title: str
    cases: tuple[str, ...]
    verdict: Verdict | None
    """The worst of its cases; None where no case names it, or one of them was not run and none failed."""
    at_worst: tuple[str, ...] = ()
    """The cases that have this verdict. It is theirs: a case may name several hazards, and a finding names none."""


# -- what a project says about its release, beside the figures of a run


class Sheet(BaseModel):
    """The project's sheet; keys that are not named here are shown in the annex."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    intended_use: str | None = None
    clinical_safety_officer: str | None = None
    hazards: dict[str, str] = Field(default_factory=dict, validation_alias=AliasChoices("hazards", "hazard_ids"))
    """Every hazard of the log, by id with its title; those that no case covers are named on the page to sign."""
    approved_limits: str | None = Field(default=None, pattern="^[0-9a-f]{8,64}$")
    """Hash of the approved thresholds, or how it begins."""
    last_release: Path | None = None
    """The `release.json` of the last signed release; without it the newest one in the results folder."""
    allowed_signers: Path | None = None
    """Who may sign, in the format of ssh-keygen; relative to this file."""

    @field_validator("hazards", mode="before")
    @classmethod
    def _by_id(cls, given: Any) -> Any:
        if isinstance(given, list):
            return {str(name): "" for name in given}
        return {} if given is None else given


def read_sheet(root: Path) -> Sheet:
    """The sheet of a project, empty where there is none; InputError in one sentence where it cannot be used."""
    file = root / SHEET_FILE
    data = (parse_data(file, read_text(file)) or {}) if file.is_file() else {}
    if not isinstance(data, dict):
        raise InputError(f"{file}: expected fields such as intended_use and hazards, found {type(data).__name__}")
    try:
        sheet = Sheet.model_validate({str(key): value for key, value in data.items()})
    except ValidationError as error:
        raise InputError(f"{file}: {first_fault(error)}") from None
    places = {name: root / place for name in ("last_release", "allowed_signers") if (place := getattr(sheet, name))}
    for name, place in places.items():
        if not place.is_file():
            raise InputError(f"{file}: {name}: {place} is not a file")
    if "allowed_signers" in places:
        read_signers(places["allowed_signers"])
    return sheet.model_copy(update=places)


# -- what the page to sign needs


@dataclass(frozen=True, slots=True)
class LastRelease:
    """The last accepted release before this run; its signature is valid."""

    release: Release
    changed: Mapping[str, str]
    """What it was made of, of that which this run is not made of any more."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Runs of this candidate that the ledger holds, this one included."""

    verdicts: tuple[tuple[str, str], ...]
    """Day and verdict of each run over the full set, the newest last."""
    subsets: int
    others: int
    """Runs of the same model in another revision or with another system prompt."""


@dataclass(frozen=True, slots=True)
class InstrumentCheck:
    """Controls that were run with this version, these cases and these limits."""

    expected: int
    """Controls with the verdict that they must get."""
    wrong: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Rereads:
    """Cleared answers that people read again, over this run and all signed ones with the same judge and prompts."""

    read: int
    upheld: int
    runs: int
    upper: float
    """Upper 95 % limit of the share that is held against the model."""


@dataclass(frozen=True, slots=True)
class Standing:
    """All that the page to sign needs beside the run record."""

    sha256: str
    sheet: Sheet
    hazards: tuple[HazardRow, ...]
    limits: LimitsState
    last: LastRelease | None
    attempts: Attempts | None
    controls: InstrumentCheck | None
    rereads: Rereads | None
    ignored: int = 0
    """Releases without a signature that could be verified: they count for nothing."""


def made_of(manifest: Manifest) -> dict[str, str]:
    """What a run was made of, in the order in which a reader asks; what a replay does not know is "not recorded"."""
    hashes, judge = manifest.hashes, manifest.judged
    unknown = "not recorded" if manifest.model.startswith("replay:") else "none"
    decoding = ", ".join(f"{key} {value}" for key, value in sorted(manifest.decoding.items()))
    calibration = judge.calibration if judge else None
    return {
        "model": manifest.model,
        "revision": manifest.revision or "not known",
        "system prompt": hashes.system_prompt or unknown,
        "decoding": decoding or unknown,
        "cases": hashes.cases,
        "limits": hashes.thresholds or "not known",
        "summary prompt": hashes.prompts,
        "judge": manifest.judge,
        "judge prompts": manifest.judge_prompts or "none",
        "calibration": f"{calibration.identity[:12]} of {calibration.made}" if calibration else "none",
    }


def standing_of(
    result: RunResult,
    sha256: str,
    sheet: Sheet,
    *,
    home: Path | None = None,
    attempts: Attempts | None = None,
    controls: InstrumentCheck | None = None,
) -> Standing:
    """Everything for the page to sign; `home` is the folder of all results, where earlier releases are looked for."""
    limits: LimitsState = "not named"
    if sheet.approved_limits is not None:
        approved = (result.manifest.hashes.thresholds or "").startswith(sheet.approved_limits)
        limits = "approved" if approved else "not approved"
    made = made_of(result.manifest)
    below = releases_below(home, sheet.allowed_signers) if home else SignedReleases()
    named = signed_releases([sheet.last_release], sheet.allowed_signers) if sheet.last_release else below
    newest = newest_release(named.valid, sha256)
    pooled = {sha256: rereads_in(result)}
    for _, release in below.valid:
        if all(release.tested.get(what) == made[what] for what in ("judge", "judge prompts")):
            pooled.setdefault(release.record, release.rereads)
    return Standing(
        sha256=sha256,
        sheet=sheet,
        hazards=tuple(_hazard_rows(result, sheet)),
        limits=limits,
        last=_last_release(newest[1], made) if newest else None,
        attempts=attempts,
        controls=controls,
        rereads=_rereads([count for count in pooled.values() if count[0]]),
        ignored=len(below.ignored | named.ignored),
    )


def _hazard_rows(result: RunResult, sheet: Sheet) -> Iterator[HazardRow]:
    verdicts = {case.case_id: case.verdict for case in result.cases}
    for hazard in dict.fromkeys((*sheet.hazards, *result.hazards)):
        cases = result.hazards.get(hazard, ())
        known = [verdicts[case] for case in cases if case in verdicts]
        worst = min(known, key=WORST_FIRST.index, default=None)
        if len(known) < len(cases) and worst != Verdict.FAIL:
            worst = None
        at_worst = tuple(case for case in cases if worst is not None and verdicts.get(case) == worst)
        yield HazardRow(hazard, sheet.hazards.get(hazard, ""), cases, worst, at_worst)


def rereads_in(result: RunResult) -> tuple[int, int]:
    return (result.reviewed.cleared_read, result.reviewed.cleared_upheld) if result.reviewed else (0, 0)


def _rereads(counts: Sequence[tuple[int, int]]) -> Rereads | None:
    read, upheld = sum(count[0] for count in counts), sum(count[1] for count in counts)
    limits = proportion_interval(upheld, read, confidence=0.95)
    return Rereads(read, upheld, len(counts), limits.high) if limits else None


def _last_release(release: Release, made: Mapping[str, str]) -> LastRelease:
    then = {what: release.tested.get(what, "not recorded") for what in made}
    return LastRelease(release, {what: value for what, value in then.items() if value != made[what]})
