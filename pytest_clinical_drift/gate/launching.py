"""`clinical-drift launch`: all shards of a run on the GPUs of this machine or on a Ray cluster, then their merge."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.sharding import Shard, cases_of_shard
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.merging import merge
from pytest_clinical_drift.gate.reporting import shown
from pytest_clinical_drift.gate.shard_jobs import DIED, LocalWorkers, ShardJob, Workers
from pytest_clinical_drift.results.files import RESULTS_FILE, read_results
from pytest_clinical_drift.results.inputs import read_inputs

PLACE = Path(".clinical-drift")
_OURS = ("--drift-shard", "--drift-results", "--drift-store", "--junitxml", "--junit-xml")
_JUDGED = (0, 1, 6, 7)
"""Exit codes of a shard that came to its end."""
_BAD_INPUT, _INTERRUPTED = 4, 2
_POLL_SECONDS, _LINE_EVERY = 0.2, 10.0
_DONE = "merged"
_HEADER = re.compile(r"shard \d+ of \d+: (\d+) of (\d+) cases")
Say = Callable[[str], object]


def launch(
    options: Sequence[str],
    *,
    workers: int,
    shards: int | None,
    on: str,
    retries: int,
    out: Path | None,
    junit: Path | None,
    say: Say,
) -> int:
    """Run the shards, merge them, and end as one run would; 2 after Ctrl-C."""
    jobs = _jobs(options, _count(workers, shards, on))
    staff = _workers(on, workers)
    launched = _Launch(jobs, staff, workers, retries, say)
    try:
        with _terminated_like_ctrl_c():
            launched.run()
    except KeyboardInterrupt:
        say("stopping all shards …")
        staff.stop()
        say(f"interrupted: {launched.state()}; run the same command to resume")
        return _INTERRUPTED
    except BaseException:
        staff.stop()
        raise
    folders = [folder for job in jobs if (folder := published(job)) is not None]
    if not folders:
        raise InputError(f"launch: no shard came to its end; see {shown(jobs[0].log)}")
    slug = folders[-1].parent.parent.name
    code = merge(folders, out or Path("results") / slug, junit, say)
    if all(is_whole(job) for job in jobs):
        (jobs[0].work / _DONE).touch()
    else:
        say("run the same command to resume what is not finished")
    return code


def _count(workers: int, shards: int | None, on: str) -> int:
    if workers < 1 or (shards is not None and shards < 1):
        raise InputError("launch: --workers and --shards must be at least 1")
    # on a cluster, smaller parts: what dies with a node is less, and no worker waits long for the last one
    return shards or (2 * workers if on.startswith("ray") else workers)


def _workers(on: str, workers: int) -> Workers:
    if on == "local":
        return LocalWorkers(workers)
    if on == "ray" or on.startswith("ray:"):
        from pytest_clinical_drift.gate.ray_workers import RayWorkers, cluster_from

        return RayWorkers(workers, cluster_from(on))
    raise InputError(f"launch --on {on}: expected local, ray or ray:ADDRESS")


def _jobs(options: Sequence[str], count: int) -> list[ShardJob]:
    """The jobs of this launch; its folder is found again by the same options."""
    for option in options:
        if option.partition("=")[0] in _OURS:
            better = "--junitxml before the --" if "junit" in option else "--out" if "results" in option else ""
            advice = f"; give launch {better}" if better else ""
            raise InputError(f"launch: {option.partition('=')[0]} is set by launch itself{advice}")
    if not any(option.partition("=")[0] in ("--model", "--drift-model") for option in options):
        raise InputError("launch: pytest's options after -- name no model; add --model SPEC")
    key = hashlib.sha256(json.dumps([list(options), count]).encode()).hexdigest()[:10]
    work = PLACE.absolute() / f"launch-{key}"
    if not PLACE.exists():
        PLACE.mkdir(parents=True)
        (PLACE / ".gitignore").write_text("*\n", encoding="utf-8")
    work.mkdir(exist_ok=True)
    jobs = [ShardJob(Shard(index, count), work, tuple(options)) for index in range(1, count + 1)]
    if (work / _DONE).exists():  # that run is over: this one begins anew, and reuses what a proven model said
        (work / _DONE).unlink()
        for job in jobs:
            _clear(job)
    return jobs


def _clear(job: ShardJob) -> None:
    shutil.rmtree(job.results, ignore_errors=True)
    job.log.unlink(missing_ok=True)


def published(job: ShardJob) -> Path | None:
    """The folder of the shard's newest run."""
    folders = [file.parent for file in job.results.glob(f"*/runs/*/{RESULTS_FILE}") if file.parent.name[0] != "."]
    return max(folders, key=lambda folder: folder.name, default=None)


def is_whole(job: ShardJob) -> bool:
    """Whether the shard has run all of its cases to their end."""
    if (folder := published(job)) is None:
        return False
    try:
        result, inputs = read_results(folder), read_inputs(folder)
    except InputError:
        return False
    return result.cases_complete == len(cases_of_shard(inputs.cases, job.shard))


class _Launch:
    """Jobs, the slots they run in, and how often each was begun."""

    def __init__(self, jobs: Sequence[ShardJob], staff: Workers, workers: int, retries: int, say: Say) -> None:
        self._jobs, self._staff, self._retries, self._say = jobs, staff, retries, say
        self._done = {job.shard for job in jobs if is_whole(job)}
        self._waiting = deque(job for job in jobs if job.shard not in self._done)
        self._slots: dict[int, ShardJob] = {}
        self._free = deque(range(workers))
        self._begun: dict[Shard, int] = {}
        self._told = ("", 0.0)

    def run(self) -> None:
        """Until every shard has come to its end, or has died too often."""
        for shard in sorted(self._done, key=lambda shard: shard.index):
            self._say(f"{shard}: finished earlier")
        while self._waiting or self._slots:
            while self._waiting and self._free:
                self._begin(self._waiting.popleft(), self._free.popleft())
            for slot, code in self._staff.ended():
                self._end(slot, code)
            self._tell()
            time.sleep(_POLL_SECONDS)
        self._tell(at_once=True)

    def _begin(self, job: ShardJob, slot: int) -> None:
        if job.shard not in self._begun:
            _clear(job)  # a run that was broken off; its replies are in the store
        self._begun[job.shard] = self._begun.get(job.shard, 0) + 1
        self._slots[slot] = job
        self._staff.start(job, slot)

    def _end(self, slot: int, code: int) -> None:
        job = self._slots.pop(slot)
        self._free.append(slot)
        if code == _BAD_INPUT:
            raise InputError(f"{job.shard}: {_last_error(job.log)}")
        if code in _JUDGED and published(job) is not None:
            self._done.add(job.shard)
            self._say(f"{job.shard}: finished (exit code {code})")
        elif self._begun[job.shard] <= self._retries:
            self._say(f"{job.shard}: {_ending(code)}, run again")
            self._waiting.append(job)
        else:
            self._say(f"{job.shard}: {_ending(code)}, {self._begun[job.shard]} times; see {shown(job.log)}")

    def state(self) -> str:
        """Such as "23 conversations finished (60 cases); shards: 1 finished, 2 running, 1 waiting"."""
        had = sum(1 for job in self._jobs for _ in _conversations(job))
        total = next((cases for job in self._jobs if (cases := _total(job.log)) is not None), None)
        shards = {"finished": len(self._done), "running": len(self._slots), "waiting": len(self._waiting)}
        counts = ", ".join(f"{count} {what}" for what, count in shards.items() if count)
        return f"{had} conversations finished{f' ({total} cases)' if total else ''}; shards: {counts or 'none'}"

    def _tell(self, *, at_once: bool = False) -> None:
        """A line from time to time, where something has changed."""
        text, when = self._told
        if not at_once and time.monotonic() - when < _LINE_EVERY:
            return
        if (now := self.state()) != text:
            self._say(now)
        self._told = (now, time.monotonic())


def _conversations(job: ShardJob) -> Iterator[Path]:
    """The finished conversations of a shard's newest run, published or under way."""
    runs = sorted(job.results.glob("*/runs/*"), key=lambda folder: folder.name.lstrip("."))
    yield from runs[-1].glob("transcripts/*.jsonl") if runs else ()


def _total(log: Path) -> int | None:
    """Cases of the whole set, as a shard's header names them."""
    try:
        match = _HEADER.search(log.read_text(encoding="utf-8", errors="replace")[:20_000])
    except OSError:
        return None
    return int(match[2]) if match else None


def _ending(code: int) -> str:
    return "its worker died" if code == DIED else f"broke off (exit code {code})"


def _last_error(log: Path) -> str:
    """The sentence in which pytest refused the shard."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    errors = [line for line in lines if line.startswith("ERROR: ")] or [line for line in lines if line.strip()]
    return errors[-1].removeprefix("ERROR: ") if errors else f"bad input; see {shown(log)}"


@contextmanager
def _terminated_like_ctrl_c() -> Iterator[None]:
    """A scheduler that ends the job ends its shards too, and the run can be resumed."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
