"""A long run: `python -m benchmarks.soak [--cases 1000] [--turns 20] [--server]`.

Holds the conversations through `control:steady` (or through a loopback server) in one process, scores and judges each,
and watches memory, threads and open files. Exits 0 only where, after a warm-up of a fifth of the cases, resident memory
grows by less than 10 % beyond what the kept results need, and no thread or file handle is left over.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import gc
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from engine_cases import make_case
from engine_server import ChatServer

from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.conversation.store import Store
from pytest_clinical_drift.evidence.entities import load_extractor
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.spec import build_subject, parse_spec
from pytest_clinical_drift.transcript import Transcript

LEAST_GROWTH = 30.0
"""MiB that an allocator may keep without anything leaking."""


def resident() -> float:
    """MiB of this process that are in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def caches() -> list[functools._lru_cache_wrapper[object]]:
    """The package's own caches, all of them bounded."""
    found = [item for item in gc.get_objects() if isinstance(item, functools._lru_cache_wrapper)]
    return [item for item in found if str(item.__module__).startswith("pytest_clinical_drift")]


def without_caches() -> tuple[float, float]:
    """MiB in memory with freed pages given back to the system, and then with the caches emptied too."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)
    gc.collect()
    trim(0)
    trimmed = resident()
    for cache in caches():
        cache.cache_clear()
    gc.collect()
    trim(0)
    return trimmed, resident()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--server", action="store_true", help="through a loopback server and a store")
    parser.add_argument("--block", type=int, default=50, help="cases that run together")
    options = parser.parse_args()
    scorer = Scorer(1, load_extractor("lexicon"))
    rows: list[tuple[int, float, int, int]] = []
    done, started = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as place, ChatServer() as server:
        spec = f"server:m@{server.url}" if options.server else "control:steady"
        store = Store(Path(place) / "store.sqlite") if options.server else None
        while done < options.cases:
            cases = [make_case(n, options.turns) for n in range(done + 1, min(done + options.block, options.cases) + 1)]
            by_id = {case.id: case for case in cases}

            def keep(transcript: Transcript) -> None:
                if transcript.failure:
                    raise RuntimeError(str(transcript.failure))
                scorer.score(by_id[transcript.case_id], transcript)  # noqa: B023

            subject = build_subject(parse_spec(spec), {})
            subject.check(cases)
            run = store.begin(subject.identity()) if store else None
            run_conversations(cases, subject, Plan(), on_finished=keep, store=run)
            if run is not None:
                run.end(finished=True)
            subject.close()
            done += len(cases)
            server.requests.clear()
            server.answered.clear()
            server.headers.clear()
            rows.append((done, resident(), threading.active_count(), open_files()))
            print(f"{done:6,} cases  {rows[-1][1]:7.1f} MiB  {rows[-1][2]} threads  {rows[-1][3]} files", flush=True)
    warm = next(row for row in rows if row[0] >= options.cases / 5)
    last = rows[-1]
    growth, threads, files = last[1] - warm[1], last[2] - warm[2], last[3] - warm[3]
    for cache in sorted(caches(), key=lambda item: -item.cache_info().currsize)[:8]:
        info = cache.cache_info()
        print(f"  {cache.__module__.partition('.')[2]}.{cache.__name__}: {info.currsize:,} of {info.maxsize} entries")
    trimmed, emptied = without_caches()
    print(f"  freed pages given back: {trimmed:.1f} MiB; caches emptied: {emptied:.1f} MiB")
    print(
        f"{options.cases:,} cases × {options.turns} turns through {spec.partition('@')[0]} "
        f"in {time.monotonic() - started:.0f} s: "
        f"memory {warm[1]:.0f} → {last[1]:.0f} MiB after warm-up, {threads:+d} threads, {files:+d} file handles"
    )
    return 0 if growth < max(LEAST_GROWTH, 0.1 * warm[1]) and threads <= 0 and files <= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
