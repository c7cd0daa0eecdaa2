"""An earlier run to be no worse than: reads its `study_c_results.json` and refuses what cannot be compared."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import InputError
from .judgement import HARD, INCOMPLETE


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class _Judgement(_Record):
    metric: str
    value: float | None = None


class _Case(_Record):
    case_id: str
    verdict: str
    judgements: tuple[_Judgement, ...] = ()


class _Hashes(_Record):
    cases: str
    prompts: str


class _Manifest(_Record):
    judge: str
    stride: int = 1
    tier: str = "none"
    hashes: _Hashes
    model: str = ""
    revision: str | None = None
    versions: Mapping[str, str] = Field(default_factory=dict)


class _Results(_Record):
    verdict: str
    cases: tuple[_Case, ...]
    manifest: _Manifest


@dataclass(frozen=True, slots=True)
class BaselineCase:
    """One case of the earlier run."""

    values: Mapping[str, float]
    """Its defined metrics."""
    hard: bool
    """Whether it had a hard stop or a breach."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier run, read from its results file."""

    path: Path
    model: str
    verdict: str
    version: str | None
    """Version of this package that scored it."""
    judge: str
    stride: int
    tier: str
    cases_hash: str
    prompts_hash: str
    cases: Mapping[str, BaselineCase]
    """The cases that were run to the end, by id."""


def load_baseline(path: Path) -> Baseline:
    """Read an earlier `study_c_results.json`; InputError in one sentence when it is none."""
    try:
        found = _Results.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--drift-baseline {path}: cannot be read ({type(error).__name__})") from None
    except (ValueError, RecursionError) as error:
        fault = _first_fault(error) if isinstance(error, ValidationError) else "not JSON"
        raise InputError(f"--drift-baseline {path}: is no study_c_results.json ({fault})") from None
    complete = [case for case in found.cases if case.verdict != INCOMPLETE]
    manifest = found.manifest
    return Baseline(
        path=path,
        model=manifest.model,
        verdict=found.verdict,
        version=manifest.versions.get("pytest-clinical-drift"),
        judge=manifest.judge,
        stride=manifest.stride,
        tier=manifest.tier,
        cases_hash=manifest.hashes.cases,
        prompts_hash=manifest.hashes.prompts,
        cases={case.case_id: _read_case(case) for case in complete},
    )


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"


def _read_case(case: _Case) -> BaselineCase:
    values = {item.metric: item.value for item in case.judgements if item.value is not None}
    return BaselineCase(values, any(values.get(name, 0.0) > 0 for name in HARD))


def recall_sd(baseline: Baseline) -> float | None:
    """Standard deviation of the cases' Recall@T10, for planning the next run; None below two cases."""
    values = [case.values["recall_at_t10"] for case in baseline.cases.values() if "recall_at_t10" in case.values]
    return statistics.stdev(values) if len(values) > 1 else None


def check_comparable(baseline: Baseline, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Refuse a baseline with other cases, prompts or judge, saying which; return remarks on what else differs.

    `manifest` is this run's, as written into the results file; what decides on its figures is read.
    """
    hashes = manifest["hashes"]
    different = []
    if baseline.cases_hash != hashes["cases"]:
        different.append("the cases")
    if baseline.prompts_hash != hashes["prompts"]:
        different.append("the prompts")
    if (baseline.judge, baseline.stride) != (manifest["judge"], manifest["stride"]):
        before, now = f"{baseline.judge}, stride {baseline.stride}", f"{manifest['judge']}, stride {manifest['stride']}"
        different.append(f"the judge ({before}; now {now})")
    if baseline.tier != manifest["tier"]:
        different.append(f"the second look at facts ({baseline.tier}; now {manifest['tier']})")
    if different:
        named = " and ".join(different)
        raise InputError(f"--drift-baseline {baseline.path}: cannot be compared with this run, because {named} differ")
    version = manifest.get("versions", {}).get("pytest-clinical-drift")
    if baseline.version and version and baseline.version != version:
        return (
            f"the baseline was scored by version {baseline.version}, this run by {version}: "
            "replay its transcripts with this version for a clean comparison",
        )
    return ()
