"""Pages of a large set: size of the first one and seconds to write all, for copies of recorded conversations."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_clinical_drift.gate.finished import FinishedRun
from pytest_clinical_drift.gate.reopened import reopen
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.transcript import Transcript

RECORDED = Path(__file__).parent.parent / "examples" / "recorded" / "qwen2-5-coder-1-5b"
CASES = 1000
FIRST_PAGE_MB = 3.0


def copies(result: RunResult, transcripts: dict[str, list[Transcript]], count: int) -> tuple[RunResult, dict[str, Any]]:
    """The same conversations under other names, over and over."""
    cases, texts = [], {}
    for number in range(count):
        case = result.cases[number % len(result.cases)]
        name = f"{case.case_id}-{number:04}"
        repeats = tuple(replace(run, case_id=name) for run in case.repeats)
        cases.append(replace(case, case_id=name, repeats=repeats))
        texts[name] = [replace(run, case_id=name) for run in transcripts[case.case_id]]
    sizes = {"cases_total": count, "cases_selected": count, "cases_complete": count}
    return result.model_copy(update={"cases": tuple(cases), **sizes}), texts


def recorded_run(folder: Path) -> Path:
    """The results of one real run on twelve patients."""
    names = " or ".join(file.stem for file in sorted(RECORDED.glob("*.jsonl")))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--model", f"replay:{RECORDED}"]
    subprocess.run([*command, "-k", names], cwd=folder, capture_output=True, check=False)
    return next(folder.glob("results/*/runs/*"))


def measure(count: int = CASES) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = reopen(recorded_run(folder))
        result, transcripts = copies(run.result, run.transcripts, count)
        out = folder / "large"
        out.mkdir()
        started = time.perf_counter()
        FinishedRun(result, run.inputs).write(out, transcripts, {})
        seconds = time.perf_counter() - started
        pages = [file.stat().st_size for file in (out / "cases").glob("*.html")]
        return {
            "cases": count,
            "first_page_mb": (out / "report.html").stat().st_size / 1e6,
            "largest_case_page_mb": max(pages) / 1e6,
            "all_pages_mb": sum(pages) / 1e6,
            "seconds": seconds,
        }


def main() -> int:
    found = measure()
    print(
        f"{found['cases']} cases: first page {found['first_page_mb']:.2f} MB, largest page of a case "
        f"{found['largest_case_page_mb']:.2f} MB, all {found['all_pages_mb']:.0f} MB, "
        f"written in {found['seconds']:.0f} s"
    )
    return 0 if found["first_page_mb"] <= FIRST_PAGE_MB else 1


if __name__ == "__main__":
    sys.exit(main())
