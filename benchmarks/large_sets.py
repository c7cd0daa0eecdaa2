"""A large set in shards: seconds and memory of the merge, size of its pages, and how fast those to open first open.

The set is copies of recorded conversations of a real model, each under a name of its own, scored by rules.

    python -m benchmarks.large_sets [CASES SHARDS]
"""

from __future__ import annotations

import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from pytest_clinical_drift.cases.files import bundled_cases
from pytest_clinical_drift.results.files import RESULTS_FILE

RECORDED = Path(__file__).parent.parent / "examples" / "recorded" / "qwen2-5-coder-1-5b"
CASES, SHARDS, AT_ONCE = 1000, 8, 2
FIRST_PAGE_MB = 3.0
CHROMIUM = Path("/usr/bin/chromium")
CLI = "import sys; from pytest_clinical_drift.cli import main; sys.exit(main())"


def lay_out(folder: Path, count: int) -> None:
    """`cases/` and `recording/`: the recorded patients over and over."""
    for name in ("cases", "recording"):
        (folder / name).mkdir()
    recorded = sorted(RECORDED.glob("*.jsonl"))
    for number in range(count):
        source = recorded[number % len(recorded)]
        name = f"{source.stem}-{number:04}"
        case = yaml.safe_load((bundled_cases() / f"{source.stem}.yaml").read_text(encoding="utf-8"))
        (folder / "cases" / f"{name}.json").write_text(json.dumps({**case, "id": name}), encoding="utf-8")
        rows = (json.loads(line) for line in source.read_text(encoding="utf-8").splitlines())
        lines = (json.dumps({**row, "case_id": name}) for row in rows)
        (folder / "recording" / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_shard(folder: Path, shard: str) -> int:
    """Exit code of one shard."""
    given = (
        "--model",
        "replay:recording",
        "--drift-cases",
        "cases",
        "--drift-results",
        "parts",
        "--drift-shard",
        shard,
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *given]
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode


def timed(folder: Path, *arguments: str) -> tuple[int, float]:
    """Exit code and seconds of a `clinical-drift` command."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", CLI, *arguments], cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return done.returncode, time.perf_counter() - started


def seconds_to_open(page: Path) -> float | None:
    """Until Chromium has loaded a page from its file; None where Playwright or Chromium is not here."""
    with contextlib.suppress(ImportError):
        from playwright.sync_api import sync_playwright

        if not CHROMIUM.exists():
            return None
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            tab = browser.new_page()
            tab.goto(page.absolute().as_uri(), timeout=120_000)
            loaded = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
            browser.close()
        return float(loaded) / 1000
    return None


def measure(count: int = CASES, shards: int = SHARDS) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder, count)
        started = time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            codes = list(pool.map(lambda index: run_shard(folder, f"{index}/{shards}"), range(1, shards + 1)))
        ran = time.perf_counter() - started
        if not set(codes) <= {1, 6, 7}:
            raise RuntimeError(f"shards ended with {codes}")
        code, merged = timed(folder, "merge", "parts", "--out", "merged")
        if code not in (1, 6, 7):
            raise RuntimeError(f"the merge ended with {code}")
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # of the largest process: the merge
        compared = written(folder, folder / "compare.html", "compare", "merged", "merged", "--html", "compare.html")
        reviewed = written(folder, folder / "merged" / "review.html", "review", "merged")
        found = json.loads((folder / "merged" / RESULTS_FILE).read_text(encoding="utf-8"))
        pages = [file.stat().st_size / 1e6 for file in (folder / "merged" / "cases").glob("*.html")]
        first = folder / "merged" / "report.html"
        return {
            "cases": found["cases_selected"],
            "shards": len(found["manifest"]["merged_from"]),
            "shard_seconds": ran,
            "merge_seconds": merged,
            "memory_mb": memory,
            "first_page_mb": first.stat().st_size / 1e6,
            "largest_case_page_mb": max(pages, default=0.0),
            "all_pages_mb": sum(pages),
            "compare_page_mb": compared.stat().st_size / 1e6,
            "review_page_mb": reviewed.stat().st_size / 1e6,
            "review_files_mb": sum(file.stat().st_size for file in folder.glob("merged/review_texts/*.js")) / 1e6,
            "open_seconds": seconds_to_open(first),
            "compare_open_seconds": seconds_to_open(compared),
            "review_open_seconds": seconds_to_open(reviewed),
        }


def written(folder: Path, page: Path, *arguments: str) -> Path:
    """The page that a `clinical-drift` command writes."""
    code, _ = timed(folder, *arguments)
    if code or not page.exists():
        raise RuntimeError(f"{arguments[0]} ended with {code}")
    return page


def in_seconds(opened: float | None) -> str:
    return "not measured" if opened is None else f"{opened:.2f} s"


def main() -> int:
    count, shards = (int(number) for number in sys.argv[1:3] or (CASES, SHARDS))
    found = measure(count, shards)
    for name, value in found.items():
        print(f"{name}: {value if value is None or isinstance(value, int) else round(value, 2)}")
    print(
        f"{found['cases']} cases of {found['shards']} shards: merged in {found['merge_seconds']:.0f} s with at most "
        f"{found['memory_mb']:.0f} MB; first page {found['first_page_mb']:.2f} MB, opens in "
        f"{in_seconds(found['open_seconds'])}; compare {found['compare_page_mb']:.2f} MB, "
        f"{in_seconds(found['compare_open_seconds'])}; review {found['review_page_mb']:.2f} MB, "
        f"{in_seconds(found['review_open_seconds'])}"
    )
    return 0 if largest_first_page(found) <= FIRST_PAGE_MB else 1


def largest_first_page(found: dict[str, Any]) -> float:
    """Of what is opened first in report, comparison and review."""
    return max(float(found[name]) for name in ("first_page_mb", "compare_page_mb", "review_page_mb"))


if __name__ == "__main__":
    sys.exit(main())
