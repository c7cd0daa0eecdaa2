"""`study_c_results.json`: written in one step, read by the models that wrote it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.core.files import write_atomically
from pytest_clinical_drift.core.packaged import data_file
from pytest_clinical_drift.core.parsing import JSONFault, parse_json
from pytest_clinical_drift.core.text import shortened
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.results.folders import RUNS
from pytest_clinical_drift.results.models import SCHEMA_VERSION, RunResult

T = TypeVar("T")
RESULTS_FILE = "study_c_results.json"
SCREENED = "SCREENED"
"""The word of a screening, which never stands for a verdict."""
SCHEMA_FILE = data_file("study_c_results.schema.json")
"""Made from the models by `docs/make_reference.py`."""


def to_plain(result: RunResult) -> dict[str, Any]:
    """The record as JSON; what was not evaluated and need not be named is left out."""
    plain: dict[str, Any] = result.model_dump(mode="json", by_alias=True)
    for name in ("continuity_score", "continuity_not_evaluated", "reviewed"):
        if plain[name] is None:
            del plain[name]
    for case, kept in zip(plain["cases"], result.cases, strict=True):
        for run, scored in zip(case["repeats"], kept.repeats, strict=True):
            # wall time differs between two equal runs; everything else in the file must not
            del run["generation_seconds"]
            run["recall_curve"] = list(scored.recall_curve)
            run["strict_recall_curve"] = list(scored.strict_curve)
            run["worst_recall_curve"] = list(scored.worst_curve)
    return plain


def write_json(plain: dict[str, Any], file: Path) -> Path:
    return write_atomically(file, json.dumps(plain, indent=1, ensure_ascii=True, allow_nan=False) + "\n")


def read_results(path: Path, option: str = "") -> RunResult:
    """Read a results file, or the one in a folder; InputError in one sentence where it cannot be used.

    `option` is the option that named it, for that sentence.
    """
    file = path / RESULTS_FILE if path.is_dir() else path
    return read_record(file, _check_result, f"{option} {file}".strip(), RESULTS_FILE)


def _check_result(content: Any) -> RunResult:
    """A record whose parts fit each other: reports look turns up on the curve."""
    if isinstance(content, dict) and content.get("verdict") == SCREENED:
        raise JSONFault(f"{SCREENED} is a screening: no verdict on a release, and no baseline")
    result = RunResult.model_validate(content)
    turns = len(result.average_recall_curve_critical)
    for probe in result.memory.probes if result.memory else ():
        if not 1 <= probe.turn <= turns:
            raise JSONFault(f"memory.probes: turn {shortened(probe.turn)}, but the curve of recall has {turns} turns")
    return result


def read_record(file: Path, check: Callable[[Any], T], named: str, what: str, version: int = SCHEMA_VERSION) -> T:
    """The content of a file of this version, as `check` takes it; InputError in one sentence where it is not one."""
    try:
        content = parse_json(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and (written := content.get("schema_version")) != version:
            by, advice = "an older", "run again with --model replay:TRANSCRIPTS to write it anew"
            if isinstance(written, int) and written > version:
                by, advice = "a newer", "install a newer pytest-clinical-drift"
            found = f"schema version {written}" if isinstance(written, int) else "no schema_version"
            raise InputError(
                f"{named}: written by {by} version of this package ({found}, this one reads {version}); {advice}"
            )
        return check(content)
    except (OSError, UnicodeDecodeError) as error:
        why = f"cannot be read ({getattr(error, 'strerror', None) or type(error).__name__})"
        if isinstance(error, FileNotFoundError) and (runs := sorted((file.parent / RUNS).glob(f"*/{file.name}"))):
            why = f"no run over the full set is there; name a run, such as {runs[-1].parent}"
        raise InputError(f"{named}: {why}") from None
    except ValidationError as error:
        raise InputError(f"{named}: not a {what} ({first_fault(error)})") from None
    except (ValueError, RecursionError) as error:
        fault = error.msg if isinstance(error, JSONFault) else "not JSON"
        raise InputError(f"{named}: not a {what} ({fault})") from None
