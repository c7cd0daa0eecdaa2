"""Two workers against one: `clinical-drift launch --on local` with a local model that keeps a core busy.

Both arms run the same two shards with one torch thread per worker, in the order one, two, two, one; the load of the
machine is printed, because a busy machine makes the ratio meaningless.

    python -m benchmarks.launching [--control]

`--control` launches two cases of the steady control, each arm once: the way of a launch, not its speed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine_models import build_model

from pytest_clinical_drift.cases.files import bundled_cases, load_cases

GOAL = 1.7
CASES, TOKENS = 8, 32
SIZES = {"hidden_size": 384, "intermediate_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 6}
ORDER = (1, 2, 2, 1)
CLI = "import sys; from pytest_clinical_drift.cli import main; sys.exit(main())"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def lay_out(folder: Path, cases: int, *, control: bool) -> list[str]:
    """Cases and a model on disk; the options that gate it."""
    (folder / "cases").mkdir()
    files = sorted(bundled_cases().glob("*.yaml"))[:cases]
    for file in files:
        shutil.copy(file, folder / "cases")
    given = ["--drift-cases", "cases", "-p", "no:cacheprovider"]
    if control:
        return ["--model", "control:steady", *given]
    texts = [case.patient_summary for case in load_cases(folder / "cases")]
    build_model(folder / "weights", texts, stops=0, max_position_embeddings=16384, **SIZES)
    settings = ("device=cpu", "dtype=float32", f"max_tokens={TOKENS}")
    given += [part for setting in settings for part in ("--drift-set", setting)]
    return ["--model", f"hf:{folder / 'weights'}", *given]


def launch(folder: Path, workers: int, options: list[str]) -> tuple[float, int]:
    """Seconds of a launch that begins with nothing, and the number of replies in its record."""
    shutil.rmtree(folder / ".clinical-drift", ignore_errors=True)
    command = [sys.executable, "-c", CLI, "launch", "--workers", str(workers), "--shards", "2", "--out", "merged"]
    started = time.perf_counter()
    done = subprocess.run(
        [*command, "--", *options], cwd=folder, env={**os.environ, **ONE_THREAD, "HF_HUB_OFFLINE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    # words without meaning never pass, and two cases are too few for a PASS
    if done.returncode not in (0, 1, 6, 7):
        raise RuntimeError(f"the launch ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    record = json.loads((folder / "merged" / "study_c_results.json").read_text(encoding="utf-8"))
    return seconds, int(record["manifest"]["replies"])


def measure(*, control: bool) -> dict[int, list[float]]:
    """Seconds by number of workers."""
    found: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        options = lay_out(Path(name), 2 if control else CASES, control=control)
        counts = set()
        for workers in ORDER[:2] if control else ORDER:
            seconds, replies = launch(Path(name), workers, options)
            found[workers].append(seconds)
            counts.add(replies)
            print(f"{workers} workers: {seconds:.1f} s, {replies} replies; load {os.getloadavg()[0]:.1f}", flush=True)
        if len(counts) != 1:
            raise RuntimeError(f"the arms gave different numbers of replies: {sorted(counts)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--control", action="store_true", help="two cases of the steady control")
    options = parser.parse_args()
    before = os.getloadavg()[0]
    found = measure(control=options.control)
    ratio = sum(found[1]) / sum(found[2])
    print(
        f"two workers {ratio:.2f} times as fast as one on {os.cpu_count()} cores "
        f"({sum(found[2]) / len(found[2]):.1f} s, {sum(found[1]) / len(found[1]):.1f} s); load before {before:.1f}"
    )
    return 0 if ratio >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
