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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.sharding import Shard
from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.results.files import RESULTS_FILE
from pytest_clinical_drift.results.folders import RUNS

DIED = -1
"""Stands for the exit code of a shard whose worker is gone."""
_POLL_SECONDS, _STOP_SECONDS, _CANCEL_SECONDS = 0.2, 20.0, 25.0
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
    def published(self) -> Path | None:
        """The folder of the shard's newest run."""
        folders = [file.parent for file in self.results.glob(f"*/{RUNS}/*/{RESULTS_FILE}")]
        return max(folders, key=lambda folder: folder.name, default=None)

    def clear(self) -> None:
        shutil.rmtree(self.results, ignore_errors=True)
        self.log.unlink(missing_ok=True)

    def start(self, **given: Any) -> subprocess.Popen[bytes]:
        """Run it in a process of this machine, in a session of its own: Ctrl-C reaches it once, by `end_process`."""
        shard = ("--drift-shard", f"{self.shard.index}/{self.shard.count}", "-p", "no:cacheprovider")
        places = ("--drift-results", str(self.results), "--drift-store", str(self.results.with_suffix(".sqlite")))
        command = [sys.executable, "-m", "pytest", *self.options, *shard, *places]
        streams: Any = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
        with self.log.open("ab") as log:
            return subprocess.Popen(command, stdout=log, start_new_session=True, **streams, **given)


Run = Callable[[ShardJob, int, threading.Event], int]
"""Carries out a job in a slot and returns pytest's exit code, or DIED; once the event is set, it ends the job early."""


def local_workers(workers: int) -> Run:
    """A process per job; with GPUs, each slot has its own."""
    gpus = visible_gpus(os.environ)

    def run(job: ShardJob, slot: int, stop: threading.Event) -> int:
        process = job.start(env={**os.environ, **devices_of(slot, workers, gpus)})
        while process.poll() is None:
            if stop.wait(_POLL_SECONDS):
                end_process(process)
        return max(process.returncode, DIED)

    return run


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Interrupt it, so that it closes its store; it is killed if it is still there after a while."""
    with contextlib.suppress(OSError):
        process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()


def visible_gpus(environment: Mapping[str, str]) -> list[str]:
    """Names of the GPUs that may be used; asked of the driver, not of torch."""
    given = environment.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return [name.strip() for name in given.split(",") if name.strip() not in ("", "-1")]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=True).stdout
        return [str(number) for number, line in enumerate(filter(None, listed.splitlines())) if line.startswith("GPU")]
    return []


def devices_of(slot: int, workers: int, gpus: Sequence[str]) -> dict[str, str]:
    """The environment variable that gives a slot its GPUs; slots share them only where there are fewer than slots."""
    if not gpus:
        return {}
    own = list(gpus[slot::workers]) or [gpus[slot % len(gpus)]]
    return {"CUDA_VISIBLE_DEVICES": ",".join(own)}


# -- on a Ray cluster


def ray_workers(workers: int, address: str) -> Run:
    """One task per job, with a share of the cluster's GPUs where it has any.

    Without an address, the cluster that runs here or that RAY_ADDRESS names; else one is started here.
    """
    try:
        import ray
    except ImportError:
        raise MissingDependency("--on ray: ray is not installed; pip install 'pytest-clinical-drift[ray]'") from None
    place = address or os.environ.get("RAY_ADDRESS") or None
    try:
        ray.init(address=place, log_to_driver=False, ignore_reinit_error=True)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InputError(f"--on ray:{place}: no cluster answers there ({error})") from None
    gpus = float(ray.cluster_resources().get("GPU", 0.0))
    share = gpus / workers if gpus < workers else gpus // workers
    # a fresh process for every shard: nothing of the one before is left on the GPU
    task = ray.remote(max_retries=0, max_calls=1, num_cpus=1, num_gpus=share)(run_job)

    def run(job: ShardJob, slot: int, stop: threading.Event) -> int:
        (job.work / _SEEN).touch()
        ref = task.remote(job, str(Path.cwd()))
        while not ray.wait([ref], num_returns=1, timeout=_POLL_SECONDS)[0]:
            if stop.is_set():
                ray.cancel(ref, force=False)
                ray.wait([ref], num_returns=1, timeout=_CANCEL_SECONDS)
                ray.cancel(ref, force=True)
                return DIED
        try:
            code, packed = ray.get(ref)
        except ray.exceptions.RayError as error:
            with job.log.open("a", encoding="utf-8") as log:
                log.write(f"{type(error).__name__}: {error}\n")
            return DIED
        if packed:
            unpack(packed, job.work)
        return int(code)

    return run


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
        end_process(process)
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
