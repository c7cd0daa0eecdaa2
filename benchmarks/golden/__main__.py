"""The golden record of a tree, and the comparison of two.

python -m benchmarks.golden record --tree PATH --out DIR [--only GLOB …] [--jobs 2] [--quick] [--shared FOLDER]
python -m benchmarks.golden compare BEFORE AFTER [--expected FILE] [--most N]
python -m benchmarks.golden list
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from benchmarks.golden.comparing import compare, load, read_expected, report
from benchmarks.golden.listed import scenarios
from benchmarks.golden.recording import record
from benchmarks.golden.scenario import HERE, Scenario, unpack


def chosen(every: Sequence[Scenario], only: Sequence[str], *, quick: bool, shared: bool) -> list[Scenario]:
    """Those whose name fits one of the patterns; of the quick record; and that need nothing that is not at hand."""
    found = [one for one in every if not only or any(fnmatchcase(one.name, pattern) for pattern in only)]
    if quick:
        found = [one for one in found if one.quick]
    absent = [one.name for one in found if one.shared and not shared]
    if absent:
        print(
            f"left out, {len(absent)} scenarios need the shared material (--shared FOLDER): {', '.join(absent[:3])} …"
        )
    return [one for one in found if one.name not in absent]


def check_tree(tree: Path) -> None:
    """Stop where the commands would import another package than that of the tree."""
    code = "import pytest_clinical_drift as p; print(p.__file__)"
    around = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=around, cwd="/", capture_output=True, text=True, check=False
    )
    if not done.stdout.startswith(f"{tree}{os.sep}"):
        sys.exit(f"{tree} holds no package pytest_clinical_drift that can be imported: {done.stdout or done.stderr}")


def commit_of(tree: Path) -> str:
    """The commit of a checkout, with a plus where something was changed since."""
    told = subprocess.run(
        ["git", "-C", str(tree), "describe", "--always", "--dirty=+", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip()


def write(folder: Path, found: dict[str, Any]) -> None:
    """The record of a scenario, packed; the same bytes for the same record."""
    text = json.dumps(found, separators=(",", ":"))
    file_of(folder, found["name"]).write_bytes(gzip.compress(text.encode(), mtime=0))


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{name.replace('/', '__')}.json.gz"


def record_all(options: argparse.Namespace) -> int:
    tree = options.tree.resolve()
    check_tree(tree)
    shared = options.shared.resolve() if options.shared.is_dir() else None
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="golden_material_") as name:
        material = unpack(Path(name) / "frozen", shared)
        caches = Path(tempfile.gettempdir()) / "golden_caches"  # compiled modules, apart from those of the tree
        wanted = chosen(scenarios(), options.only, quick=options.quick, shared=shared is not None)
        if options.resume:
            wanted = [one for one in wanted if not file_of(out, one.name).exists()]
        if not wanted:
            sys.exit("nothing to record (python -m benchmarks.golden list)")
        seconds: dict[str, float] = {}
        broken: list[str] = []
        with ThreadPoolExecutor(options.jobs) as pool:
            jobs = {pool.submit(record, one, tree, material, caches): one for one in wanted}
            for job in as_completed(jobs):
                if job.exception() is not None:
                    broken.append(jobs[job].name)
                    print(f"BROKEN   {broken[-1]}: {job.exception()!r}", flush=True)
                    continue
                found = job.result()
                seconds[found["name"]] = found.pop("seconds")
                write(out, found)
                codes = " ".join(str(command["exit"]) for command in found["commands"][:12])
                print(f"{seconds[found['name']]:7.1f} s  {found['name']}: exit {codes}", flush=True)
    about = {
        "tree": commit_of(tree),
        "date": datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "seconds": round(time.monotonic() - started),
        "processor seconds": round(sum(os.times()[2:4])),
        "seconds_of": dict(sorted({**seconds_before(out), **seconds}.items())),
    }
    (out / "index.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    told = f"{about['seconds']} s ({about['processor seconds']} s of processors)"
    print(f"{len(wanted) - len(broken)} scenarios in {told}: {out}")
    if broken:
        print(f"not recorded: {', '.join(broken)}")
    return 1 if broken else 0


def seconds_before(folder: Path) -> dict[str, float]:
    """What scenarios of an earlier recording in the same folder took."""
    file = folder / "index.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))["seconds_of"]) if file.exists() else {}


def compare_all(options: argparse.Namespace) -> int:
    before = load(options.before)
    after = load(options.after)
    if not before or not after:
        sys.exit(f"no record in {options.before if not before else options.after}")
    names = [name for name in before.keys() | after.keys() if matches(name, options.only)]
    before = {name: found for name, found in before.items() if name in names}
    after = {name: found for name, found in after.items() if name in names}
    absent = sorted(before.keys() ^ after.keys())
    expected = read_expected(options.expected) if options.expected.exists() else []
    rows, unmet = compare(before, after, expected)
    print("\n".join(report(rows, unmet, absent, options.most)))
    return 1 if not rows or absent or any(row.structural for row in rows) else 0


def matches(name: str, only: Sequence[str]) -> bool:
    return not only or any(fnmatchcase(name, pattern) for pattern in only)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.golden", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run the scenarios on a tree and keep what they do")
    recording.add_argument("--tree", type=Path, required=True, help="a checkout of the project")
    recording.add_argument("--out", type=Path, required=True, help="the folder of the record")
    recording.add_argument("--only", nargs="+", default=[], metavar="GLOB", help="names of scenarios")
    recording.add_argument("--jobs", type=int, default=2)
    recording.add_argument("--quick", action="store_true", help="a part that touches every area")
    recording.add_argument("--resume", action="store_true", help="leave out what DIR already has")
    place = Path(os.environ.get("GOLDEN_SHARED", HERE.parents[2] / "shared"))
    recording.add_argument("--shared", type=Path, default=place, help="folder of real/, subtle/ and attacks/")
    comparing = commands.add_parser("compare", help="exit 0 only where nothing but words differs")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--only", nargs="+", default=[], metavar="GLOB")
    comparing.add_argument("--expected", type=Path, default=HERE / "expected.yaml")
    comparing.add_argument("--most", type=int, default=6, help="differences shown per scenario")
    commands.add_parser("list", help="the scenarios; q: quick, s: needs the shared material")
    options = parser.parse_args(arguments)
    if options.command == "record":
        return record_all(options)
    if options.command == "compare":
        return compare_all(options)
    for one in scenarios():
        print(f"{'q' if one.quick else ' '}{'s' if one.shared else ' '} {one.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
