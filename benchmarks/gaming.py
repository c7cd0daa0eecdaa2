"""What the gate says of summaries that game the metric: `python -m benchmarks.gaming [--cases N] [--tricks N]`.

A control that states everything holds the conversations; its summaries are then replaced, trick by trick, and the
recordings gated by rules alone. Exits 0 only where no trick gets PASS on more than one case in five: half-translated
facts stay readable, and a reader may well find them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from gaming_summaries import TRICKS

from benchmarks import ROOT
from pytest_clinical_drift import load_cases

CASES = ROOT / "cases" / "study_c"
CHOSEN = ("penicillin-anaphylaxis", "warfarin", "suicidal-intent", "lithium", "insulin")


def gate(folder: Path, model: str) -> dict[str, Any]:
    """The results of a run in this process."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main(["--rootdir=.", "-q", "-p", "no:cacheprovider", "--model", model, "--drift-cases", "cases"])
    (file,) = folder.glob(f"results/{model.replace(':', '-')}/study_c_results.json")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def lay_out(folder: Path, wanted: int) -> None:
    (folder / "cases").mkdir()
    files = sorted(CASES.glob("*.yaml"))
    first = [next(file for file in files if word in file.name) for word in CHOSEN if any(word in f.name for f in files)]
    for file in dict.fromkeys([*first, *files]):
        if len(list((folder / "cases").iterdir())) < wanted:
            shutil.copy(file, folder / "cases")


def play(folder: Path, name: str) -> dict[str, Any]:
    """Gate the steady recording with the summaries of one trick."""
    target = folder / "trick"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    cases = {case.id: case for case in load_cases(folder / "cases")}
    for file in (folder / "results" / "control-steady" / "transcripts").glob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            if row["variant"] == "summary":
                row["response_text"] = TRICKS[name](cases[row["case_id"]], row["turn_num"], row["response_text"])
        (target / file.name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return gate(folder, "replay:trick")


def told(found: dict[str, Any], name: str) -> str:
    """A row of the table."""
    verdicts = Counter(case["verdict"] for case in found["cases"])

    def last(curve: str) -> str:
        values = [value for value in found[curve][:10] if value is not None]
        return f"{values[-1]:.2f}" if values else "–"

    figures = [found.get("entity_recall_at_t10"), found.get("strict_recall_at_t10")]
    shown = ["–" if value is None else f"{value:.2f}" for value in figures]
    shown += [last("average_precision_curve_critical"), last("average_hallucinated_rate_curve_extended")]
    caught = Counter(
        item["metric"]
        for case in found["cases"]
        for item in case["judgements"]
        if item["verdict"] not in ("PASS", "not evaluated")
    )
    metrics = ", ".join(metric for metric, _ in caught.most_common(4))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    return f"| {name} | {counts} | {' | '.join(shown)} | {metrics or '–'} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5)
    parser.add_argument("--tricks", type=int, help="the first so many (default: all)")
    options = parser.parse_args()
    fooled = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lay_out(folder, options.cases)
        steady = gate(folder, "control:steady")
        print("| summary | cases | recall@T10 | strict | precision | hallucinated | caught by |\n" + "|" + " --- |" * 7)
        print(told(steady, "(states everything)"), flush=True)
        tricks = list(TRICKS)[: options.tricks]
        for name in tricks:
            found = play(folder, name)
            print(told(found, name), flush=True)
            if sum(case["verdict"] == "PASS" for case in found["cases"]) > len(found["cases"]) / 5:
                fooled.append(name)
    print(
        f"{len(tricks) - len(fooled)} of {len(tricks)} tricks do not pass"
        + (f"; fooled by: {fooled}" if fooled else "")
    )
    return 1 if fooled else 0


if __name__ == "__main__":
    sys.exit(main())
