"""Runs benchmarks one after the other: `python -m benchmarks [NAME …] [--long] [--list] [--smoke] [--gold FOLDER]`.

Prints a table of figure, goal, whether it holds, and seconds, and puts the rows into docs/benchmarks.md, which keeps
the last row of every benchmark. Exits 0 only where every goal holds. With `--smoke` every benchmark runs at its
smallest size, two at a time: goals are not judged and no row is kept; exits 0 only where none broke.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import ROOT, SHARED
from benchmarks.listed import LISTED, Benchmark, missing
from benchmarks.smoke import smoke

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
    command = benchmark.command(benchmark.arguments, gold)
    print(f"== {benchmark.name}", flush=True)
    started = time.monotonic()
    last = ""
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                last = line.strip() or last
        errors.seek(0)
        told = errors.read()
    sys.stderr.write(told)
    broke = benchmark.broke(process.returncode, last, told)
    holds = "yes" if process.returncode == 0 and not broke else "no"
    figure = f"none: {broke}" if broke else last
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


def named(names: list[str], *, long: bool) -> list[Benchmark]:
    """Those named, or all, the long ones where they are wanted."""
    known = {benchmark.name: benchmark for benchmark in LISTED}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no benchmark {unknown[0]!r}; there are: {', '.join(known)}")
    return [known[name] for name in names] or [b for b in LISTED if long or not b.long]


def chosen(names: list[str], *, long: bool, gold: Path) -> list[Benchmark]:
    """Those named, or all but the long ones; none that lacks what it needs."""
    found = named(names, long=long)
    absent = {benchmark.name: missing(benchmark, gold) for benchmark in found}
    for name, why in absent.items():
        if why:
            print(f"left out: {name}: {why}")
    return [benchmark for benchmark in found if not absent[benchmark.name]]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--long", action="store_true", help="the long ones too")
    parser.add_argument("--list", action="store_true", help="names and goals")
    parser.add_argument("--smoke", action="store_true", help="every one at its smallest size")
    told = "folder of labelled sets that are not in the project"
    parser.add_argument("--gold", type=Path, default=SHARED / "gold", help=told)
    options = parser.parse_args(arguments)
    if options.list:
        for benchmark in LISTED:
            print(f"{benchmark.name:<18} {benchmark.goal}{' (long)' if benchmark.long else ''}")
        return 0
    gold = options.gold.resolve()
    if options.smoke:
        return smoke(named(options.names, long=True), gold)
    rows: list[list[str]] = []
    for benchmark in chosen(options.names, long=options.long, gold=gold):
        rows.append(measure(benchmark, gold))
        keep(rows[-1:])
    print()
    for name, figure, goal, holds, seconds, _ in rows:
        print(f"{name:<18} {'holds' if holds == 'yes' else 'MISSED':<7}{seconds:>5} s  {figure} (goal: {goal})")
    return 0 if rows and all(cells[3] == "yes" for cells in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
