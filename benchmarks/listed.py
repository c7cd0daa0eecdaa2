"""The benchmarks that have a goal, what it is, how each is called in full and at its smallest size."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

GOLD = "{gold}/"
"""Stands for the folder of labelled sets that are not part of the project."""
PYTHON = "{python}"
"""Stands for the interpreter that runs the benchmarks."""


class Need(StrEnum):
    """What a benchmark needs besides the packages of `[test]`."""

    MODELS = "torch and transformers"
    WEIGHTS = "the weights of a small chat model, and llama.cpp"
    INDEX = "a package index"


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    name: str
    """Module of this package."""
    goal: str
    figure: str
    """Regular expression that its last line matches where it printed a figure; of nothing tried there is none."""
    smoke: tuple[str, ...]
    """Arguments of the smallest size; the same as in full where that takes a few seconds."""
    arguments: tuple[str, ...] = ()
    """Arguments of the full size."""
    needs: tuple[Need, ...] = ()
    long: bool = False
    """Runs only where it is named, or with --long."""

    @property
    def needs_gold(self) -> bool:
        return any(argument.startswith(GOLD) for argument in self.arguments)

    def command(self, arguments: tuple[str, ...], gold: Path) -> list[str]:
        """What runs it, in the folder of the project."""
        given = [argument.replace(GOLD, f"{gold}/").replace(PYTHON, sys.executable) for argument in arguments]
        return [sys.executable, "-m", f"benchmarks.{self.name}", *given]

    def broke(self, code: int, last: str, errors: str) -> str:
        """Why its last line is no figure: it did not come to its end. Empty where it is one."""
        if "\nTraceback (most recent call last)" in f"\n{errors}":
            return f"stopped with exit code {code}: {errors.strip().splitlines()[-1]}"
        if code not in (0, 1):
            return f"stopped with exit code {code}"
        return "" if re.search(self.figure, last) else f"no figure in its last line: {last or 'nothing was printed'}"


def missing(benchmark: Benchmark, gold: Path) -> str:
    """Why a benchmark cannot run here; empty where it can."""
    if benchmark.needs_gold and not gold.is_dir():
        return f"no labelled sets in {gold} (--gold FOLDER)"
    for need in benchmark.needs:
        why = _MISSING[need]()
        if why:
            return why
    return ""


def _models() -> str:
    absent = [name for name in ("torch", "transformers") if find_spec(name) is None]
    return f"{' and '.join(absent)} not installed (pip install -e '.[dev]')" if absent else ""


def _weights() -> str:
    if find_spec("xllamacpp") is None:
        return "xllamacpp not installed (pip install -e '.[dev]')"
    import pytest
    from real_models import smollm2

    try:
        smollm2()
    except pytest.skip.Exception as reason:
        return str(reason)
    return ""


def _index() -> str:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "iniconfig"]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    return "no package index can be reached" if done.returncode else ""


_MISSING = {Need.MODELS: _models, Need.WEIGHTS: _weights, Need.INDEX: _index}

LISTED = (
    Benchmark(
        name="alarms",
        goal="the confirming rules are those that data/confirming_rules.yaml lists",
        figure=r"^rules that may confirm: \w",
        smoke=("--every", "20"),
    ),
    Benchmark(
        name="conflict",
        goal="precision at least 0.92 on pairs",
        figure=r"n=[1-9]\d* .* F1 \d",
        smoke=(f"{GOLD}conflict_dev.jsonl",),
        arguments=(f"{GOLD}conflict_dev.jsonl",),
    ),
    Benchmark(
        name="decisions",
        goal="no error rate beyond its limit, coverage and power as README gives them",
        figure=r"^\d+ s; goals missed: \w",
        smoke=("2", "--cases", "2"),
    ),
    Benchmark(
        name="engine",
        goal="5 times faster than one by one, the same replies",
        figure=r"^engine: \d.* times faster",
        smoke=("2", "2", "8"),
        needs=(Need.MODELS,),
    ),
    Benchmark(
        name="scheduler",
        goal="at most 1.3 times the critical path, 1.25 with a limit of 16",
        figure=r"^scheduler: \d of [1-9] goals held",
        smoke=("4", "2"),
    ),
    Benchmark(
        name="fuzz",
        goal="20,000 examples, no target with a fault",
        figure=r"^[1-9][\d,]* examples, \d+ of [1-9]\d* targets with a fault",
        smoke=("40",),
        long=True,
    ),
    Benchmark(
        name="gaming",
        goal="no trick passes on more than one case in five",
        figure=r"^\d+ of [1-9]\d* tricks do not pass",
        smoke=("--cases", "1", "--tricks", "2"),
    ),
    Benchmark(
        name="grades",
        goal="one severe breach fails, lesser ones are a rate, each essential part is missed",
        figure=r"^\d+ goals missed",
        smoke=("1", "--cases", "2"),
        long=True,
    ),
    Benchmark(
        name="idle",
        goal="at most 1.05 times the start-up without the plugin",
        figure=r"^ratio \d",
        smoke=("1",),
    ),
    Benchmark(
        name="judge_small_model",
        goal="every kind below its floor, nothing decided",
        figure=r"^[1-9]\d* labelled texts, [1-9]\d* requests",
        smoke=("1", "--scripted"),
        needs=(Need.WEIGHTS,),
        long=True,
    ),
    Benchmark(
        name="judge_speed",
        goal="at most 1.5 times the critical path, nothing asked with a warm store",
        figure=r"^all in \d.* the critical path",
        smoke=("--cases", "2", "--rounds", "1"),
    ),
    Benchmark(
        name="large_sets",
        goal="first page of report, compare and review of 1,000 cases from 8 shards at most 3 MB",
        figure=r"^[1-9]\d* cases of [1-9]\d* shards: merged",
        smoke=("2", "2"),
        long=True,
    ),
    Benchmark(
        name="launching",
        goal="two workers at least 1.7 times as fast as one",
        figure=r"^two workers \d.* times as fast as one",
        smoke=("--control",),
        needs=(Need.MODELS,),
        long=True,
    ),
    Benchmark(
        name="long_conversations",
        goal="at most a third of the probes, linear, 93 % of the horizons inside their interval",
        figure=r"true horizon \d.* of [1-9]\d* sets",
        smoke=("1", "--seeds", "4"),
    ),
    Benchmark(
        name="matrix",
        goal="every Python and pytest holds",
        figure=r"^\d+ of [1-9]\d* combinations",
        smoke=("--python", PYTHON, "--pytest", "9.*", "--check", "imports", "--check", "scispacy"),
        needs=(Need.INDEX,),
        long=True,
    ),
    Benchmark(
        name="mutation",
        goal="at least 90 % of mutants killed",
        figure=r"^\d+ of [1-9]\d* mutants killed",
        smoke=("--each", "2", "metrics/recall"),
        long=True,
    ),
    Benchmark(
        name="negation",
        goal="F1 at least 0.965",
        figure=r"^ours .* F1 \d.* rows [1-9]",
        smoke=(f"{GOLD}negation_dev.tsv",),
        arguments=(f"{GOLD}negation_dev.tsv",),
    ),
    Benchmark(
        name="natural_errors",
        goal="none: readings against labels of errors that nobody planted",
        figure=r"^[1-9]\d* entries, \d+ disputed",
        smoke=(),
    ),
    Benchmark(
        name="one_line_changes",
        goal="every change that would let something wrong pass is noticed by the fast tests",
        figure=r"^\d+ of [1-9]\d* one-line changes noticed",
        smoke=("--only", "a limit is reversed"),
    ),
    Benchmark(
        name="ranking",
        goal="5 times faster than scikit-learn and pandas, within 8 GB",
        figure=r"^\d.* times faster",
        smoke=("30", "110"),
    ),
    Benchmark(
        name="real_engine",
        goal="hf: 3 times, server: 2 times faster than one by one",
        figure=r"^hf: \d.* times faster .*; server: \d.* times faster",
        smoke=("1", "1", "4"),
        needs=(Need.MODELS, Need.WEIGHTS),
        long=True,
    ),
    Benchmark(
        name="rent",
        goal="none: lists what is worth nothing",
        figure=r"\d+ of [1-9]\d* rules, lists and vocabularies change a figure",
        smoke=("--only", "list orders.praise", "--every", "30", "--jobs", "1"),
        long=True,
    ),
    Benchmark(
        name="retention",
        goal="balanced accuracy at least 0.93, four-class 0.80",
        figure=r"^balanced accuracy \d",
        smoke=(f"{GOLD}retention_dev.jsonl",),
        arguments=(f"{GOLD}retention_dev.jsonl",),
    ),
    Benchmark(
        name="scoring",
        goal="30 times the tiered matcher; 1,200 summaries/s, 1,000 whole turns/s; linear",
        figure=r"^goal (met|missed): facts alone [1-9]",
        smoke=("1",),
    ),
    Benchmark(
        name="soak",
        goal="memory grows by less than 10 %, no thread or file left",
        figure=r"^[1-9][\d,]* cases .* memory \d+ → \d+ MiB",
        smoke=("--cases", "10", "--turns", "2", "--block", "2"),
        long=True,
    ),
    Benchmark(
        name="statistics_speed",
        goal="below 10 s",
        figure=r"resamples: \d",
        smoke=(),
    ),
)
