"""What runs the shards of a launch: processes of this machine, or tasks of a Ray cluster (imported when used)."""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.sharding import Shard
from pytest_clinical_drift.errors import InputError, MissingDependency

DIED = -1
"""Stands for the exit code of a shard whose worker is gone."""
_STOP_SECONDS, _CANCEL_SECONDS = 20.0, 25.0
_SEEN = "launched-here"
"""A file of the launch's folder: a node that sees it shares the folder."""


@dataclass(frozen=True, slots=True)
class ShardJob:
    """One shard of a launch."""

    shard: Shard
    work: Path
    """The launch's own folder."""
    options: tuple[str, ...]
    """Of pytest, as the user gave them."""

    @property
    def results(self) -> Path:
        return self.work / f"shard-{self.shard.index}-of-{self.shard.count}"

    @property
    def log(self) -> Path:
        return self.results.with_suffix(".log")

    @property
    def command(self) -> list[str]:
        """Pytest's arguments."""
        places = ("--drift-results", str(self.results), "--drift-store", str(self.results.with_suffix(".sqlite")))
        shard = ("--drift-shard", f"{self.shard.index}/{self.shard.count}")
        return ["-m", "pytest", *self.options, *shard, *places, "-p", "no:cacheprovider"]

    def start(self, **given: Any) -> subprocess.Popen[bytes]:
        """Run it in a process of this machine, in a session of its own: Ctrl-C reaches it once, by `stop_processes`."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *self.command],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                **given,
            )


class Workers(ABC):
    """Carries out jobs, each in a slot of its own; called by a thread per slot."""

    def __init__(self) -> None:
        self.stopping = False
        self._lock = threading.Lock()
        self._running: set[Any] = set()

    def run(self, job: ShardJob, slot: int) -> int:
        """Carry out a job; pytest's exit code, or DIED."""
        with self._lock:
            if self.stopping:
                return DIED
            work = self._start(job, slot)
            self._running.add(work)
        try:
            return self._wait(work, job)
        finally:
            self._running.discard(work)

    def stop(self) -> None:
        """End what is running, so that it can be resumed; nothing more is started."""
        with self._lock:
            self.stopping = True
            running = list(self._running)
        self._stop(running)

    @abstractmethod
    def _start(self, job: ShardJob, slot: int) -> Any: ...

    @abstractmethod
    def _wait(self, work: Any, job: ShardJob) -> int: ...

    @abstractmethod
    def _stop(self, running: list[Any]) -> None: ...


class LocalWorkers(Workers):
    """A process per job; with GPUs, each slot has its own."""

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._workers, self._gpus = workers, visible_gpus(os.environ)

    def _start(self, job: ShardJob, slot: int) -> subprocess.Popen[bytes]:
        return job.start(env={**os.environ, **devices_of(slot, self._workers, self._gpus)})

    def _wait(self, work: subprocess.Popen[bytes], job: ShardJob) -> int:
        return max(work.wait(), DIED)

    def _stop(self, running: list[subprocess.Popen[bytes]]) -> None:
        stop_processes(running)


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


# -- on a Ray cluster


class RayWorkers(Workers):
    """One task per job, with a share of the cluster's GPUs where it has any."""

    def __init__(self, workers: int, address: str) -> None:
        """Without an address, the cluster that runs here or that RAY_ADDRESS names; else one is started here."""
        super().__init__()
        try:
            import ray
        except ImportError:
            raise MissingDependency(
                "--on ray: ray is not installed; pip install 'pytest-clinical-drift[ray]'"
            ) from None
        self._ray: Any = ray
        place = address or os.environ.get("RAY_ADDRESS") or None
        try:
            ray.init(address=place, log_to_driver=False, ignore_reinit_error=True)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(f"--on ray:{place}: no cluster answers there ({error})") from None
        gpus = float(ray.cluster_resources().get("GPU", 0.0))
        share = gpus / workers if gpus < workers else gpus // workers
        # a fresh process for every shard: nothing of the one before is left on the GPU
        self._task = ray.remote(max_retries=0, max_calls=1, num_cpus=1, num_gpus=share)(run_job)

    def _start(self, job: ShardJob, slot: int) -> Any:
        (job.work / _SEEN).touch()
        return self._task.remote(job, str(Path.cwd()))

    def _wait(self, work: Any, job: ShardJob) -> int:
        try:
            code, packed = self._ray.get(work)
        except self._ray.exceptions.RayError as error:
            with job.log.open("a", encoding="utf-8") as log:
                log.write(f"{type(error).__name__}: {error}\n")
            return DIED
        if packed:
            unpack(packed, job.work)
        return int(code)

    def _stop(self, running: list[Any]) -> None:
        for ref in running:
            self._ray.cancel(ref, force=False)
        late = self._ray.wait(running, num_returns=len(running), timeout=_CANCEL_SECONDS)[1] if running else []
        for ref in late:
            self._ray.cancel(ref, force=True)


def run_job(job: ShardJob, folder: str) -> tuple[int, bytes]:
    """On a node: run the shard; its files travel back where the node does not share the launch's folder."""
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"{folder}: not on this node; run on a shared folder or in the same image")
    shared = (job.work / _SEEN).exists()
    job.work.mkdir(parents=True, exist_ok=True)
    process = job.start(cwd=folder, preexec_fn=_die_with_parent if sys.platform == "linux" else None)
    try:
        code = max(process.wait(), DIED)
    except BaseException:  # the task was cancelled
        stop_processes([process])
        raise
    return code, b"" if shared else pack(job)


def _die_with_parent() -> None:
    """A killed Ray worker leaves no model behind on the GPU."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def pack(job: ShardJob) -> bytes:
    """Results and log of a shard, as they lie below the launch's folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path in (job.results, job.log):
            if path.exists():
                archive.add(path, arcname=str(path.relative_to(job.work)))
    return buffer.getvalue()


def unpack(packed: bytes, work: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        archive.extractall(work, filter="data")
