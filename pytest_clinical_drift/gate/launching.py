"""`clinical-drift launch`: all shards of a run on the GPUs of this machine or on a Ray cluster, then their merge."""

import hashlib
import json
import signal
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from pytest_clinical_drift.cases.sharding import Shard, cases_of_shard
from pytest_clinical_drift.conversation.store import make_folder
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.merging import merge
from pytest_clinical_drift.gate.options import RESULTS, STORE
from pytest_clinical_drift.gate.pytest_reports import Say, shown
from pytest_clinical_drift.gate.shard_workers import DIED, Run, ShardJob, local_workers, ray_workers
from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.inputs import read_inputs

_OURS = ("--drift-shard", "--drift-results", "--drift-store", "--junitxml", "--junit-xml")
_JUDGED, _BAD_INPUT, _INTERRUPTED = (0, 1, 6, 7), 4, 2
"""Exit codes of a shard that came to its end, of one that pytest refused, and of this command after Ctrl-C."""
_DONE = "merged"
_LINE_EVERY = 10.0
"""Seconds between two lines of progress."""


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
    if workers < 1 or (shards is not None and shards < 1):
        raise InputError("launch: --workers and --shards must be at least 1")
    if retries < 0:
        raise InputError(f"launch: --retries must be at least 0, found {retries}")
    place, _, address = on.partition(":")
    if on != "local" and place != "ray":
        raise InputError(f"launch --on {on}: expected local, ray or ray:ADDRESS")
    # on a cluster, smaller parts: what dies with a node is less, and no worker waits long for the last one
    jobs = _jobs(options, shards or (2 * workers if place == "ray" else workers))
    run = ray_workers(workers, address) if place == "ray" else local_workers(workers)
    launched = _Launch(jobs, run, retries, say)
    # a scheduler that ends the job by SIGTERM ends its shards too, as Ctrl-C does, and the run can be resumed
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        launched.run(workers)
    except KeyboardInterrupt:
        say(f"interrupted: {launched.progress()}; run the same command to resume")
        return _INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    folders = [job.published for job in jobs if job.published is not None]
    if not folders:
        raise InputError(f"launch: no shard finished; see {shown(jobs[0].log)}")
    code = merge(folders, out or Path(RESULTS) / folders[-1].parent.parent.name, junit, say)
    if all(_is_whole(job) for job in jobs):
        (jobs[0].work / _DONE).touch()
    else:
        say("run the same command to resume what is not finished")
    return code


def _jobs(options: Sequence[str], count: int) -> list[ShardJob]:
    """The jobs of this launch; its folder is found again by the same options."""
    names = [option.partition("=")[0] for option in options]
    if taken := [name for name in names if name in _OURS]:
        better = "--junitxml before the --" if "junit" in taken[0] else "--out" if "results" in taken[0] else ""
        advice = f"; give launch {better}" if better else ""
        raise InputError(f"launch: {taken[0]} is set by launch itself{advice}")
    if not {"--model", "--drift-model"} & set(names):
        raise InputError("launch: pytest's options after -- name no model; add --model SPEC")
    key = hashlib.sha256(json.dumps([list(options), count]).encode()).hexdigest()[:10]
    place = Path(STORE).parent
    work = place.absolute() / f"launch-{key}"
    make_folder(place)
    work.mkdir(exist_ok=True)
    jobs = [ShardJob(Shard(index, count), work, tuple(options)) for index in range(1, count + 1)]
    if (work / _DONE).exists():  # that run is over: this one begins anew, and reuses what a proven model said
        (work / _DONE).unlink()
        for job in jobs:
            job.clear()
    return jobs


def _is_whole(job: ShardJob) -> bool:
    """Whether the shard has run all of its cases to their end."""
    if (folder := job.published) is None:
        return False
    try:
        return read_results(folder).cases_complete == len(cases_of_shard(read_inputs(folder).cases, job.shard))
    except InputError:
        return False


class _Launch:
    """The shards of a launch, each in a thread that waits for it, and how far they are."""

    def __init__(self, jobs: Sequence[ShardJob], run: Run, retries: int, say: Say) -> None:
        self._run, self._retries, self._say = run, retries, say
        self._states = dict.fromkeys(jobs, "waiting")
        self._waiting = iter(jobs)
        """Shared by the threads: each job is taken by one of them."""
        self._stop = threading.Event()

    def run(self, workers: int) -> None:
        """Until every shard has come to its end, or has died too often; a line from time to time says how far."""
        told = ""
        with ThreadPoolExecutor(workers) as pool:
            try:
                pending = {pool.submit(self._work, slot) for slot in range(workers)}
                while pending:
                    ended, pending = wait(pending, _LINE_EVERY, FIRST_EXCEPTION)
                    for worker in ended:
                        worker.result()
                    if (now := self.progress()) != told:
                        self._say(now)
                    told = now
            except BaseException:
                self._say("stopping all shards …")
                self._stop.set()
                raise

    def _work(self, slot: int) -> None:
        for job in self._waiting:
            if _is_whole(job):
                self._states[job] = "finished"
                self._say(f"{job.shard}: finished earlier")
                continue
            job.clear()  # a run that was broken off; its replies are in the store
            self._states[job] = "running"
            self._states[job] = self._attempt(job, slot)
            if self._stop.is_set():
                return

    def _attempt(self, job: ShardJob, slot: int) -> str:
        """Run it, again where its worker dies; returns how it ended."""
        for attempt in range(1, self._retries + 2):
            code = self._run(job, slot, self._stop)
            if self._stop.is_set():
                return "stopped"
            if code == _BAD_INPUT:
                text = job.log.read_text(encoding="utf-8", errors="replace") if job.log.exists() else ""
                lines = [line for line in text.splitlines() if line.strip()]
                said = [line for line in lines if line.startswith("ERROR: ")] or lines
                why = said[-1].removeprefix("ERROR: ") if said else f"bad input; see {shown(job.log)}"
                raise InputError(f"{job.shard}: {why}")
            if code in _JUDGED and job.published is not None:
                self._say(f"{job.shard}: finished (exit code {code})")
                return "finished"
            why = "its worker died" if code == DIED else f"broke off (exit code {code})"
            again = "retrying" if attempt <= self._retries else f"{counted(attempt, 'time')}; see {shown(job.log)}"
            self._say(f"{job.shard}: {why}, {again}")
        return "broken off"

    def progress(self) -> str:
        """Such as "shards: 1 finished, 2 running, 1 waiting"."""
        states = Counter(self._states.values())
        return f"shards: {', '.join(f'{states[state]} {state}' for state in sorted(states))}"
