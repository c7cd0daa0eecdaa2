"""What an installed but idle plugin costs a pytest run: start-up with it against `-p no:clinical_drift`.

Many alternating runs of `pytest --collect-only` in an empty folder; the figure is the ratio of the fastest quarter's
means, which leaves out the moments when the machine was busy with something else. Goal: at most 1.05.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

RUNS = 60
GOAL = 1.05


def start_up(arguments: list[str], folder: str) -> float:
    started = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - started


def fast_mean(times: list[float]) -> float:
    fastest = sorted(times)[: max(1, len(times) // 4)]
    return sum(fastest) / len(fastest)


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with_plugin: list[float] = []
    without: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        start_up([], folder)
        for _ in range(runs):
            with_plugin.append(start_up([], folder))
            without.append(start_up(["-p", "no:clinical_drift"], folder))
    loaded, bare = fast_mean(with_plugin) * 1000, fast_mean(without) * 1000
    print(f"with the plugin {loaded:.1f} ms, without {bare:.1f} ms, {runs} runs each")
    ratio = fast_mean(with_plugin) / fast_mean(without)
    print(f"ratio {ratio:.3f} (goal: at most {GOAL})")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
