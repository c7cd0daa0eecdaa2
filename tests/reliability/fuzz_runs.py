"""Records of finished runs that somebody changed: refused, or judged as if nobody had.

A run of a control that fails, whole and in two shards, with the judge's answers. Whatever happens to one of its files,
the verdict and every figure stay as they were, or there is no verdict.
"""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hostile_data import VALUES, as_json, at, changed, documents, lines, paths, put
from hypothesis import strategies as st
from inner_runs import run_here
from reviewing import KEPT, lay_out

from pytest_clinical_drift.gate.ledger import FILE_NAME, attempts_and_controls, record_run
from pytest_clinical_drift.gate.merging import checked_transcripts, judge_shards
from pytest_clinical_drift.gate.reopened import dated, judge, reopen
from pytest_clinical_drift.gate.set_result import SetResult
from pytest_clinical_drift.judging.reviews import Reviews, content_hash
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.run_log import LOG_FILE
from pytest_clinical_drift.results.shards import find_shards
from pytest_clinical_drift.verdict.reasons import Verdict

RESULTS, INPUTS = "study_c_results.json", "run.json"
Told = Callable[[Callable[[], object]], str]
Content = tuple[str, bytes]
"""Name of the file that was changed, and what it holds now."""


@cache
def recorded() -> Path:
    """Runs of a control, kept for as long as this process lives: whole, and as the shards of `part-1` and `part-2`."""
    place = Path(tempfile.mkdtemp(prefix="recorded-runs-"))
    lay_out(place, {name: [KEPT] * 3 for name in ("anna", "bela")})
    for options in (("whole",), ("part-1", "--drift-shard", "1/2"), ("part-2", "--drift-shard", "2/2"), ("whole",)):
        code, said = run_here(
            place, "--model", "control:denier", "--drift-cases", "cases", "--drift-results", *options
        )  # fmt: skip
        if code != 1:
            raise RuntimeError(f"exit code {code}: {said[-2000:]}")
    return place


def discard_recorded() -> None:
    if recorded.cache_info().currsize:
        shutil.rmtree(recorded(), ignore_errors=True)
        recorded.cache_clear()


def folder_of(name: str) -> Path:
    """The newest run of `whole`, `part-1` or `part-2`."""
    return max(recorded().glob(f"{name}/*/runs/*/{RESULTS}")).parent


def judged(folder: Path) -> tuple[SetResult, RunResult]:
    """The verdict of a run, judged again as of its day."""
    record, then = reopen(folder)
    return judge(dated(record, then), Reviews())


def outcome(collected: SetResult, result: RunResult) -> tuple[object, ...]:
    """Verdicts and figures: what nobody may change unseen."""
    cases = [(case.case_id, case.verdict, case.judgements) for case in collected.cases]
    return collected.exit_code(), result.verdict, result.judgements, result.deciders, cases


@cache
def sound(*parts: str) -> tuple[object, ...]:
    """What comes of the untouched run."""
    if parts == ("whole",):
        return outcome(*judged(folder_of("whole")))
    return outcome(*judge_shards(find_shards([folder_of(part) for part in parts])))


@st.composite
def edited(draw: st.DrawFn, original: Any) -> Any:
    """The record with one value exchanged for another that could stand there: what a schema cannot notice."""
    value = copy.deepcopy(original)
    place = draw(st.sampled_from(list(paths(value))[1:]))
    old = at(value, place)
    new: st.SearchStrategy[Any] = VALUES
    if isinstance(old, bool):
        new = st.just(not old)
    elif isinstance(old, int | float):
        new = st.sampled_from((0, 1, old + 1, old / 2, -old))
    elif isinstance(old, str):
        new = st.sampled_from(("open", "dismissed", "confirmed", "PASS", "retained", "rules", f"{old}x", ""))
    elif isinstance(old, list):
        new = st.sampled_from(([], old[1:], old[:-1], [*old, *old[:1]], old[::-1]))
    return put(value, place, draw(st.none() | new))


def files_of(place: Path) -> st.SearchStrategy[Content]:
    """A file of a run as somebody left it."""
    kept = {name: json.loads((place / name).read_text("utf-8")) for name in (RESULTS, INPUTS)}
    file = next((place / "transcripts").glob("*.jsonl"))
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    said = edited(rows).map(
        lambda value: b"\n".join(map(as_json, value)) if isinstance(value, list) else as_json(value)
    )
    log = [json.loads(line) for line in (place / LOG_FILE).read_text("utf-8").splitlines()]
    logged = edited(log).map(
        lambda value: b"".join(as_json(row) + b"\n" for row in value) if isinstance(value, list) else as_json(value)
    )
    return st.one_of(
        st.tuples(st.just(LOG_FILE), logged | lines(*log)),
        *(st.tuples(st.just(name), edited(value).map(as_json)) for name, value in kept.items()),
        *(st.tuples(st.just(name), documents(value)) for name, value in kept.items()),
        st.tuples(st.just(f"transcripts/{file.name}"), said | lines(*rows)),
    )


# ---- runs and the ledger


def run_records() -> st.SearchStrategy[Content]:
    ledger = (recorded() / "whole" / FILE_NAME).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in ledger]
    return st.one_of(files_of(folder_of("whole")), st.tuples(st.just(FILE_NAME), lines(*rows)))


def feed_run_record(content: Content, told: Told, check_sentence: Callable[[str], None]) -> str:
    """A run that is opened again, and a ledger that the next run adds a line to."""
    name, data = content
    if name == FILE_NAME:
        return _feed_ledger(data, check_sentence)

    def judge_again() -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "run")
            shutil.copytree(folder_of("whole"), place)
            (place / name).write_bytes(data)
            if outcome(*judged(place)) != sound("whole"):
                raise AssertionError(f"a changed {name} is believed")

    return told(judge_again)


def _feed_ledger(data: bytes, check_sentence: Callable[[str], None]) -> str:
    result = read_results(folder_of("whole")).model_copy(update={"verdict": Verdict.FAIL})
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / FILE_NAME).write_bytes(data + b"\n")
        attempts_and_controls(place, result.manifest)
        check_sentence(record_run(place, result))
    return "read"


# ---- shards


def shard_files() -> st.SearchStrategy[Any]:
    """A file of the first shard as somebody left it, and whether the second one is there at all; or another manifest
    in both files of the first, which fits its hash."""
    found = json.loads((folder_of("part-1") / RESULTS).read_text("utf-8"))
    manifests = st.one_of(edited(found["manifest"]), changed(found["manifest"])).map(as_json)
    return st.tuples(st.one_of(files_of(folder_of("part-1")), st.tuples(st.just("manifest"), manifests)), st.booleans())


def feed_shards(content: tuple[Content, bool], told: Told) -> str:
    """Joined as if nothing had happened, or refused, or INCOMPLETE; never another verdict."""
    (name, data), both = content

    def merge() -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "part")
            shutil.copytree(folder_of("part-1"), place)
            if name == "manifest":
                _exchange_manifest(place, json.loads(data))
            else:
                (place / name).write_bytes(data)
            shards = find_shards([place, folder_of("part-2")] if both else [place])
            checked_transcripts(shards)
            judged, result = judge_shards(shards)
            if shards.missing and result.verdict not in (Verdict.FAIL, Verdict.INCOMPLETE):
                raise AssertionError(f"{result.verdict} with {shards.missing}")
            if not shards.missing and outcome(judged, result) != sound("part-1", "part-2"):
                raise AssertionError(f"a changed {name} is believed")

    return told(merge)


def _exchange_manifest(place: Path, manifest: Any) -> None:
    for name, key, value in ((RESULTS, "manifest", manifest), (INPUTS, "manifest", content_hash(manifest))):
        record = json.loads((place / name).read_text("utf-8"))
        (place / name).write_bytes(as_json({**record, key: value}))
