"""Shards on a Ray cluster: a task each, run again elsewhere when its node dies. Ray is imported only when used."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.gate.shard_jobs import DIED, ShardJob, stop_processes

_SEEN = "launched-here"
"""A file of the launch's folder: a node that sees it shares the folder."""
_STOP_SECONDS = 25.0


class RayWorkers:
    """One task per job, with a share of the cluster's GPUs where it has any."""

    def __init__(self, workers: int, address: str | None) -> None:
        try:
            import ray
        except ImportError:
            raise MissingDependency(
                "--on ray: ray is not installed; pip install 'pytest-clinical-drift[ray]'"
            ) from None
        self._ray: Any = ray
        try:
            ray.init(address=address, log_to_driver=False, ignore_reinit_error=True)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(f"--on ray:{address}: no cluster answers there ({error})") from None
        gpus = float(ray.cluster_resources().get("GPU", 0.0))
        share = gpus / workers if gpus < workers else gpus // workers
        # a fresh process for every shard: nothing of the one before is left on the GPU
        self._task = ray.remote(max_retries=0, max_calls=1, num_cpus=1, num_gpus=share)(run_job)
        self._running: dict[int, tuple[Any, ShardJob]] = {}

    def start(self, job: ShardJob, slot: int) -> None:
        (job.work / _SEEN).touch()
        self._running[slot] = (self._task.remote(job, str(Path.cwd())), job)

    def ended(self) -> list[tuple[int, int]]:
        refs = {ref: slot for slot, (ref, _) in self._running.items()}
        ready, _ = self._ray.wait(list(refs), num_returns=len(refs), timeout=0) if refs else ((), ())
        return [(refs[ref], self._take(refs[ref])) for ref in ready]

    def _take(self, slot: int) -> int:
        ref, job = self._running.pop(slot)
        try:
            code, packed = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            with job.log.open("a", encoding="utf-8") as log:
                log.write(f"{type(error).__name__}: {error}\n")
            return DIED
        if packed:
            unpack(packed, job.work)
        return int(code)

    def stop(self) -> None:
        refs = [ref for ref, _ in self._running.values()]
        for ref in refs:
            self._ray.cancel(ref, force=False)
        late = self._ray.wait(refs, num_returns=len(refs), timeout=_STOP_SECONDS)[1] if refs else []
        for ref in late:
            self._ray.cancel(ref, force=True)
        self._running.clear()


def run_job(job: ShardJob, folder: str) -> tuple[int, bytes]:
    """On a node: run the shard; its files travel back where the node does not share the launch's folder."""
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"{folder}: not on this node; run on a shared folder or in the same image")
    shared = (job.work / _SEEN).exists()
    job.work.mkdir(parents=True, exist_ok=True)
    with job.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *job.command[1:]], cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )  # fmt: skip
        try:
            code = process.wait()
        except BaseException:  # the task was cancelled
            stop_processes([process])
            raise
    return (code if code >= 0 else DIED), b"" if shared else pack(job)


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


def cluster_from(on: str) -> str | None:
    """The address in `ray:ADDRESS`; None for `ray`, which finds a running cluster or starts one here."""
    address = on.partition(":")[2]
    return address or os.environ.get("RAY_ADDRESS") or None
