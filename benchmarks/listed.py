"""The benchmarks that have a goal, what it is, and how each is called."""

from __future__ import annotations

from dataclasses import dataclass

GOLD = "{gold}/"
"""Stands for the folder of labelled sets that are not part of the project."""


@dataclass(frozen=True)
class Benchmark:
    name: str
    """Module of this package."""
    goal: str
    arguments: tuple[str, ...] = ()
    long: bool = False
    """Runs only where it is named, or with --long."""

    @property
    def needs_gold(self) -> bool:
        return any(argument.startswith(GOLD) for argument in self.arguments)


LISTED = (
    Benchmark("alarms", "the confirming rules are those that data/confirming_rules.yaml lists"),
    Benchmark("conflict", "precision at least 0.92 on pairs", (f"{GOLD}conflict_dev.jsonl",)),
    Benchmark("decisions", "no error rate beyond its limit, coverage and power as README gives them"),
    Benchmark("engine", "5 times faster than one by one, the same replies"),
    Benchmark("scheduler", "at most 1.3 times the critical path, 1.25 with a limit of 16"),
    Benchmark("fuzz", "20,000 examples, no target with a fault", long=True),
    Benchmark("gaming", "no trick passes on more than one case in five"),
    Benchmark("grades", "one severe breach fails, lesser ones are a rate, each essential part is missed", long=True),
    Benchmark("idle", "at most 1.05 times the start-up without the plugin"),
    Benchmark("judge_small_model", "every kind below its floor, nothing decided", long=True),
    Benchmark("judge_speed", "at most 1.5 times the critical path, nothing asked with a warm store"),
    Benchmark(
        "large_sets", "first page of report, compare and review of 1,000 cases from 8 shards at most 3 MB", long=True
    ),
    Benchmark("launching", "two workers at least 1.7 times as fast as one", long=True),
    Benchmark(
        "long_conversations", "at most a third of the probes, linear, 93 % of the horizons inside their interval"
    ),
    Benchmark("matrix", "every Python and pytest holds", long=True),
    Benchmark("mutation", "at least 90 % of mutants killed", long=True),
    Benchmark("negation", "F1 at least 0.965", (f"{GOLD}negation_dev.tsv",)),
    Benchmark("natural_errors", "none: readings against labels of errors that nobody planted"),
    Benchmark("one_line_changes", "every change that would let something wrong pass is noticed by the fast tests"),
    Benchmark("ranking", "5 times faster than scikit-learn and pandas, within 8 GB"),
    Benchmark("real_engine", "hf: 3 times, server: 2 times faster than one by one", long=True),
    Benchmark("rent", "none: lists what is worth nothing", long=True),
    Benchmark("retention", "balanced accuracy at least 0.93, four-class 0.80", (f"{GOLD}retention_dev.jsonl",)),
    Benchmark("scoring", "30 times the tiered matcher; 1,200 summaries/s, 1,000 whole turns/s; linear"),
    Benchmark("soak", "memory grows by less than 10 %, no thread or file left", long=True),
    Benchmark("statistics_speed", "below 10 s"),
)
