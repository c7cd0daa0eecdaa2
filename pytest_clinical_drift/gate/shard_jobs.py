"""What runs one shard: the pytest command of a job, and the processes of this machine that carry out several."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_clinical_drift.cases.sharding import Shard

DIED = -1
"""Stands for the exit code of a shard whose worker is gone."""
_STOP_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ShardJob:
    """One shard of a launch."""

    shard: Shard
    work: Path
    """The launch's own folder."""
    options: tuple[str, ...]
    """Of pytest, as the user gave them."""

    @property
    def name(self) -> str:
        return f"shard-{self.shard.index}-of-{self.shard.count}"

    @property
    def results(self) -> Path:
        return self.work / self.name

    @property
    def log(self) -> Path:
        return self.work / f"{self.name}.log"

    @property
    def command(self) -> list[str]:
        store = self.work / f"{self.name}.sqlite"
        places = ("--drift-results", str(self.results), "--drift-store", str(store))
        shard = ("--drift-shard", f"{self.shard.index}/{self.shard.count}")
        return [sys.executable, "-m", "pytest", *self.options, *shard, *places, "-p", "no:cacheprovider"]


class Workers(Protocol):
    """Carries out jobs, each in a slot of its own."""

    def start(self, job: ShardJob, slot: int) -> None:
        """Begin; returns at once."""

    def ended(self) -> list[tuple[int, int]]:
        """Slots whose job has ended since the last call, with pytest's exit code or DIED."""

    def stop(self) -> None:
        """End what is running, so that it can be resumed."""


class LocalWorkers:
    """A process per job; with GPUs, each slot has its own."""

    def __init__(self, workers: int) -> None:
        self._workers, self._gpus = workers, visible_gpus(os.environ)
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, job: ShardJob, slot: int) -> None:
        environment = {**os.environ, **devices_of(slot, self._workers, self._gpus)}
        with job.log.open("ab") as log:
            # in a session of its own: Ctrl-C reaches it through `stop` alone, and once
            self._running[slot] = subprocess.Popen(
                job.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
            )

    def ended(self) -> list[tuple[int, int]]:
        codes = [(slot, code) for slot, process in self._running.items() if (code := process.poll()) is not None]
        for slot, _ in codes:
            del self._running[slot]
        return [(slot, code if code >= 0 else DIED) for slot, code in codes]

    def stop(self) -> None:
        stop_processes(list(self._running.values()))
        self._running.clear()


def stop_processes(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Interrupt them all, so that each closes its store; what is still there after a while is killed."""
    for process in processes:
        with contextlib.suppress(OSError):
            process.send_signal(signal.SIGINT)
    until = time.monotonic() + _STOP_SECONDS
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
            continue
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()


def visible_gpus(environment: Mapping[str, str]) -> list[str]:
    """Names of the GPUs that may be used; asked of the driver, not of torch."""
    given = environment.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return [name.strip() for name in given.split(",") if name.strip() not in ("", "-1")]
    if shutil.which("nvidia-smi") is None:
        return []
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = ["nvidia-smi", "-L"]
        listed = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
        return [str(number) for number, line in enumerate(filter(None, listed.splitlines())) if line.startswith("GPU")]
    return []


def devices_of(slot: int, workers: int, gpus: Sequence[str]) -> dict[str, str]:
    """The environment variable that gives a slot its GPUs; slots share them only where there are fewer than slots."""
    if not gpus:
        return {}
    own = list(gpus[slot::workers]) or [gpus[slot % len(gpus)]]
    return {"CUDA_VISIBLE_DEVICES": ",".join(own)}
