"""Runs one scenario in a folder of its own and returns what it did, as plain data."""

from __future__ import annotations

import contextlib
import hashlib
import html
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks.golden.normal import Normaliser
from benchmarks.golden.scenario import Material, Scenario, expanded, make_writable

BIN = Path(sys.executable).parent
LONGEST = 900.0
"""Seconds after which a command is killed."""
_NOT_LISTED = re.compile(r"(^|/)(\.pytest_cache|__pycache__|\.clinical-drift|tmp|home)(/|$)|\.pyc$|^port\.txt$")
_NOT_READ = frozenset({"run.json", "log.jsonl", "canaries.jsonl"})
"""Files whose form is nobody's business but the tree's; that they are there is on record."""
_RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
_LONGEST_TEXT = 400_000
_TEXTS = frozenset({".md", ".txt", ".yaml", ".yml", ".csv", ".ini", ".toml"})


def record(scenario: Scenario, tree: Path, material: Material, caches: Path) -> dict[str, Any]:
    """The scenario's record: commands with exit codes and output, files, data, junit, texts."""
    with tempfile.TemporaryDirectory(prefix="golden_", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        for file in scenario.files:
            file.write(folder, material)
        given = digests(folder)
        normal = Normaliser({str(folder): "<here>", str(tree): "<tree>", str(BIN): "<bin>"})
        started = time.monotonic()
        environment = surroundings(folder, tree, caches) | scenario.environment
        commands = [run(words, folder, environment, normal) for words in scenario.commands]
        seconds = time.monotonic() - started
        produced = [path for path in listed(folder) if given.get(path) != digest(folder / path)]
        kept = {
            "name": scenario.name,
            "commands": commands,
            "files": sorted(normal.text(path) for path in produced),
            **contents(folder, produced, normal, pages=scenario.pages),
            "seconds": round(seconds, 1),
        }
        make_writable(folder)
        return kept


def surroundings(folder: Path, tree: Path, caches: Path) -> dict[str, str]:
    """The environment of every command: nothing of the caller's but the path to programs."""
    (folder / "home").mkdir(exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    return {
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": f"{tree}{os.pathsep}{folder}",
        "PYTHONPYCACHEPREFIX": str(caches),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "COLUMNS": "100",
        "LINES": "40",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def run(words: tuple[str, ...], folder: Path, environment: dict[str, str], normal: Normaliser) -> dict[str, Any]:
    """One command: its words, exit code and output."""
    programs = {
        "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        "pytest-cached": [sys.executable, "-m", "pytest"],
        "clinical-drift": [str(BIN / "clinical-drift")],
        "python": [sys.executable],
    }
    first, *rest = expanded(words, folder)
    with subprocess.Popen(
        [*programs.get(first, [first]), *rest],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=LONGEST)
            code: int | str = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = f"killed after {LONGEST:.0f} seconds"
    printed = {name: normal.terminal(text.decode("utf-8", "replace")) for name, text in (("out", out), ("err", err))}
    return {"words": list(words), "exit": code, **printed}


def listed(folder: Path) -> Iterable[str]:
    """The files below a folder, by their path in it."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not _NOT_LISTED.search(name) and (path.is_file() or path.is_symlink()):
            yield name


def digests(folder: Path) -> dict[str, str]:
    return {path: digest(folder / path) for path in listed(folder)}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "gone"


def contents(folder: Path, produced: Iterable[str], normal: Normaliser, *, pages: bool) -> dict[str, Any]:
    """What stands in the files that the commands wrote."""
    data: dict[str, Any] = {}
    junit: dict[str, Any] = {}
    texts: dict[str, str] = {}
    seen: dict[str, str] = {}
    shards = shards_of_runs(folder, produced)
    for name in sorted(produced, key=lambda name: (named_by_shard(name, shards), name)):
        path = folder / name
        key = free_name(normal.text(named_by_shard(name, shards)), {*data, *junit, *texts})
        if path.name in _NOT_READ or not path.is_file():
            continue
        same = seen.setdefault(digest(path), key) if path.stat().st_size else key
        if same != key:
            data[key] = f"the same as {same}"
        elif path.suffix in (".json", ".jsonl"):
            data[key] = read_json(path, normal)
        elif path.suffix == ".xml":
            junit[key] = read_junit(path, normal)
        elif path.suffix in _TEXTS:
            texts[key] = normal.terminal(path.read_text(encoding="utf-8", errors="replace"))[:_LONGEST_TEXT]
        elif path.suffix == ".html" and pages:
            texts[key] = normal.terminal(words_of(path.read_text(encoding="utf-8", errors="replace")))[:_LONGEST_TEXT]
    return {"data": data, "junit": junit, "texts": texts}


def shards_of_runs(folder: Path, produced: Iterable[str]) -> dict[str, str]:
    """Which shard each run is, by the run's id: shards of one second would come in any order."""
    found = {}
    for name in produced:
        run_id = _RUN_ID.search(name)
        if run_id is None or not name.endswith("study_c_results.json"):
            continue
        with contextlib.suppress(ValueError, KeyError, TypeError):
            shard = json.loads((folder / name).read_text(encoding="utf-8"))["manifest"]["shard"]
            found[run_id[0]] = f"<run of shard {shard['index']}>"
    return found


def named_by_shard(name: str, shards: dict[str, str]) -> str:
    """A path with the number of the shard in the place of a run's id."""
    for run_id, shard in shards.items():
        name = name.replace(run_id, shard)
    return _RUN_ID.sub("<run>", name)


def free_name(name: str, taken: set[str]) -> str:
    """Runs have one name once their ids are replaced: they are numbered."""
    if name not in taken:
        return name
    return next(f"{name} ({number})" for number in range(2, 10_000) if f"{name} ({number})" not in taken)


def read_json(path: Path, normal: Normaliser) -> Any:
    """The value of a JSON file; of transcripts a hash per conversation; text where it is not JSON."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        if path.suffix == ".json":
            return normal.data(json.loads(text))
        rows = [normal.data(json.loads(line)) for line in text.splitlines() if line.strip()]
    except ValueError:
        return {"not JSON": normal.terminal(text)[:2000]}
    if path.parent.name == "transcripts":
        written = json.dumps(rows, sort_keys=True)
        return {"rows": len(rows), "sha256 of all": f"={hashlib.sha256(written.encode()).hexdigest()[:16]}"}
    return rows


def read_junit(path: Path, normal: Normaliser) -> dict[str, Any]:
    """Counts of the suites, and per test its outcome, properties, messages and texts."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        return {"broken": str(error)}
    suites = []
    for suite in root.iter("testsuite"):
        counts = {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
        counts["properties"] = properties_of(suite, normal)
        suites.append(counts)
    tests = [read_test(test, normal) for test in root.iter("testcase")]
    return {"suites": suites, "tests": tests}


def read_test(test: ElementTree.Element, normal: Normaliser) -> dict[str, Any]:
    outcomes = [child.tag for child in test if child.tag in ("failure", "error", "skipped")]
    told = [normal.terminal(child.get("message") or "") for child in test if child.tag in ("failure", "error")]
    words = [normal.terminal(child.text or "") for child in test if child.tag != "properties"]
    return {
        "test": normal.text(f"{test.get('classname')}::{test.get('name')}"),
        "outcome": "+".join(outcomes) or "passed",
        "properties": properties_of(test, normal),
        "message": "\n".join(told),
        "text": "\n".join(words),
    }


def properties_of(element: ElementTree.Element, normal: Normaliser) -> dict[str, str]:
    """Properties by name, of this element alone."""
    found = element.find("properties")
    rows = [] if found is None else found.findall("property")
    return {str(row.get("name")): normal.text(str(row.get("value"))) for row in rows}


def words_of(page: str) -> str:
    """The visible words of an HTML page, a line per block."""
    page = re.sub(r"(?s)<(style|script|svg)\b.*?</\1>", "", page)
    page = re.sub(
        r"(?i)</?(p|div|tr|li|h[1-6]|table|section|details|summary|dt|dd|br|header|footer)\b[^>]*>", "\n", page
    )
    lines = (" ".join(html.unescape(line).split()) for line in re.sub(r"<[^>]+>", " ", page).splitlines())
    return "\n".join(line for line in lines if line)
