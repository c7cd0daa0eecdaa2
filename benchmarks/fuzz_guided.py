"""Coverage-guided fuzzing of the parsers: `python -m benchmarks.fuzz_guided PARSER [libFuzzer options]`.

Needs atheris (`pip install atheris`) beside the test environment. PARSER is one of cases, thresholds, recordings,
labelled, calibration, judge; options are libFuzzer's, such as `-runs=20000` or `-max_total_time=600`. What is neither
a result nor one of our errors stops it with the input.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import atheris

with atheris.instrument_imports(include=["pytest_clinical_drift", "yaml"]):
    import fuzz_targets as targets

PARSERS: dict[str, Callable[[bytes], object]] = {
    "cases": lambda data: targets.feed_cases((".yaml", data)),
    "thresholds": targets.feed_thresholds,
    "recordings": lambda data: targets.feed_recording((".jsonl", data)),
    "labelled": targets.feed_labelled,
    "calibration": targets.feed_calibration,
    "judge": lambda data: targets.feed_judge((data[0] % 3 if data else 0, data[1:].decode("utf-8", "replace"))),
}


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in PARSERS:
        sys.exit(f"name a parser: {', '.join(PARSERS)}")
    feed = PARSERS[sys.argv.pop(1)]

    def once(data: bytes) -> None:
        feed(data)

    atheris.Setup(sys.argv, once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
