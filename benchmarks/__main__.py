"""Runs benchmarks one after the other: `python -m benchmarks [NAME …] [--long] [--list] [--gold FOLDER]`.

Prints a table of figure, goal, whether it holds, and seconds, and puts the rows into docs/benchmarks.md, which keeps
the last row of every benchmark. Exits 0 only where every goal holds.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import ROOT
from benchmarks.listed import GOLD, LISTED, Benchmark

PAGE = ROOT / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

The last row of every benchmark that was run, written by `python -m benchmarks [NAME …]` (`--list` names them, those
marked long run only where they are named or with `--long`). Figures of speed are those of the machine that ran them.

| benchmark | figure | goal | holds | seconds | date |
| --- | --- | --- | --- | --- | --- |
"""
COLUMNS = 6


def measure(benchmark: Benchmark, gold: Path) -> list[str]:
    """Cells of its row; its output is passed on as it comes."""
    arguments = [argument.replace(GOLD, f"{gold}/") for argument in benchmark.arguments]
    command = [sys.executable, "-m", f"benchmarks.{benchmark.name}", *arguments]
    print(f"== {benchmark.name}", flush=True)
    started, last = time.monotonic(), ""
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                last = line.strip() or last
        errors.seek(0)
        told = errors.read()
    sys.stderr.write(told)
    holds = "yes" if process.returncode == 0 else "no"
    # the last line is a figure only where the benchmark came to its end
    broke = process.returncode not in (0, 1) or "\nTraceback (most recent call last)" in f"\n{told}"
    figure = f"none: stopped with exit code {process.returncode}" if broke else last
    seconds = f"{time.monotonic() - started:.0f}"
    return [benchmark.name, figure, benchmark.goal, holds, seconds, datetime.date.today().isoformat()]


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def keep(rows: list[list[str]], page: Path = PAGE) -> None:
    """Put rows into the page in the place of earlier ones of the same name; the rest stays."""
    before = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in before if line.startswith("| ")]
    names = {benchmark.name for benchmark in LISTED}
    known = {found[0]: found for found in (*cells, *rows) if len(found) == COLUMNS and found[0] in names}
    page.write_text(HEAD + "\n".join(row(known[name]) for name in sorted(known)) + "\n", encoding="utf-8")


def chosen(names: list[str], *, long: bool, gold: Path) -> list[Benchmark]:
    """Those named, or all but the long ones; without their labelled set none that needs one."""
    known = {benchmark.name: benchmark for benchmark in LISTED}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no benchmark {unknown[0]!r}; there are: {', '.join(known)}")
    found = [known[name] for name in names] or [b for b in LISTED if long or not b.long]
    absent = [b.name for b in found if b.needs_gold and not gold.is_dir()]
    if absent:
        print(f"left out, because {gold} is not there (--gold FOLDER): {', '.join(absent)}")
    return [benchmark for benchmark in found if benchmark.name not in absent]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--long", action="store_true", help="the long ones too")
    parser.add_argument("--list", action="store_true", help="names and goals")
    gold = ROOT.parent / "shared" / "gold"
    parser.add_argument("--gold", type=Path, default=gold, help="folder of labelled sets that are not in the project")
    options = parser.parse_args(arguments)
    if options.list:
        for benchmark in LISTED:
            print(f"{benchmark.name:<18} {benchmark.goal}{' (long)' if benchmark.long else ''}")
        return 0
    rows: list[list[str]] = []
    for benchmark in chosen(options.names, long=options.long, gold=options.gold.resolve()):
        rows.append(measure(benchmark, options.gold.resolve()))
        keep(rows[-1:])
    print()
    for name, figure, goal, holds, seconds, _ in rows:
        print(f"{name:<18} {'holds' if holds == 'yes' else 'MISSED':<7}{seconds:>5} s  {figure} (goal: {goal})")
    return 0 if rows and all(cells[3] == "yes" for cells in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
