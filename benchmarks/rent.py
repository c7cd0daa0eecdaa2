"""What each rule, word list and vocabulary file is worth: switched off one at a time, on every labelled set.

    python -m benchmarks.rent [--only TEXT] [--every N] [--jobs N]

A rule is a function of `evidence` that answers yes or no (off: always no) or lists what it finds (off: nothing). A
word list is one list of a YAML file, a vocabulary one file of concepts; off: empty. Each is measured in a process of
its own, on every Nth turn of the recorded conversations (tests/data/real: strong, mixed) and, where they lie beside
the project or where DRIFT_SHARED says, ../shared/real and ../shared/gold. Printed: errors that come (+) or go (-)
without it, the recorded conversations first. What costs nothing anywhere is listed last: it is worth nothing on text it
was not written for.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from typing import Any

from benchmarks import ROOT, SHARED

SETS = ("strong", "mixed", "shared", "faults", "replies", "pairs", "retention", "negation", "conflict")
"""False alarms and misses: facts by voice, planted faults, demands of replies, pairs of replies, then the gold sets."""
VOCABULARIES = (
    "conditions",
    "drugs",
    "drug_classes",
    "findings",
    "life",
    "mind",
    "social",
    "spelling",
)
LISTS = ("word_sets", "fact_words", "phrases", "orders", "irregular", "generic_spans", "qualifiers")
PACKAGES = ("reading", "terms", "quantities", "mentions", "facts", "advice")


# ---- what can be switched off


def switches() -> list[str]:
    """Every rule ("rule facts.medications.ended"), list ("list orders.news") and vocabulary ("vocabulary life")."""
    from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary

    found = [f"vocabulary {name}" for name in VOCABULARIES]
    for name in LISTS:
        found += [f"list {name}.{'.'.join(path)}" for path in _lists(load_vocabulary(name), ())]
    found += [f"cues {number}" for number in range(len(load_vocabulary("cues")["cues"]))]
    found += [
        f"list cues.{'.'.join(p)}"
        for key in ("labels", "answers", "people")
        for p in _lists(load_vocabulary("cues")[key], (key,))
    ]
    return found + [f"rule {name}" for name in _rules()]


def _lists(data: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _lists(value, (*path, str(key)))
    elif isinstance(data, list) and path and all(isinstance(word, str) for word in data):
        yield path


def _rules() -> Iterator[str]:
    for package in PACKAGES:
        home = importlib.import_module(f"pytest_clinical_drift.evidence.{package}")
        for info in pkgutil.iter_modules(home.__path__):
            module = importlib.import_module(f"{home.__name__}.{info.name}")
            for owner, function in _functions(module):
                if _off(function) is not None:
                    yield f"{package}.{info.name}.{owner}{function.__name__}"


def _functions(module: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    for value in vars(module).values():
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            yield "", value
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            for method in vars(value).values():
                if inspect.isfunction(method) and not method.__name__.startswith("__"):
                    yield f"{value.__name__}.", method


def _off(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """What stands in for a function that is switched off; None where it is no rule."""
    answer = inspect.signature(function).return_annotation
    answer = answer if isinstance(answer, str) else inspect.formatannotation(answer)
    if answer == "bool":
        return lambda *_, **__: False
    listed = "Iterator[" in answer and answer.endswith("Statement]")
    return (lambda *_, **__: iter(())) if listed else None


def switch_off(name: str) -> None:
    """Take one rule, list or vocabulary out of this process."""
    kind, _, what = name.partition(" ")
    if kind == "rule":
        _replace(what)
        _forget()
        return
    vocabulary = importlib.import_module("pytest_clinical_drift.evidence.terms.vocabulary")
    loaded = vocabulary.load_vocabulary

    def without(file: str) -> Any:
        data = loaded(file)
        if kind == "vocabulary":
            return ([] if isinstance(data, list) else {}) if file == what else data
        if kind == "cues":
            return (
                {**data, "cues": [g for n, g in enumerate(data["cues"]) if str(n) != what]} if file == "cues" else data
            )
        home, *path = what.split(".")
        return _emptied(data, path) if file == home else data

    _swap(loaded, without)
    if kind == "list":
        home, *path = what.split(".")
        data = loaded(home)
        for key in path:
            data = data[key]
        words = frozenset(map(str, data))
        for module in _evidence():
            for key, value in list(vars(module).items()):
                if isinstance(value, frozenset) and value == words:
                    setattr(module, key, frozenset())
    _forget()


def _forget() -> None:
    """Empty the caches, which hold what was found before the switch."""
    for module in _evidence():
        for value in vars(module).values():
            if hasattr(value, "cache_clear") and value.__name__ not in _KEPT:
                value.cache_clear()


_KEPT = ("lexicon", "load_vocabulary")
"""Caches that outlast a switch: the index of names, which only a vocabulary changes, and the files as read."""


def _evidence() -> list[Any]:
    return [m for name, m in list(sys.modules.items()) if name.startswith("pytest_clinical_drift.")]


def _swap(function: Any, other: Any) -> None:
    """Put another function wherever the package has imported one."""
    for module in _evidence():
        for key, value in list(vars(module).items()):
            if value is function:
                setattr(module, key, other)


def _emptied(data: Any, path: list[str]) -> Any:
    if not path:
        return []
    return {key: _emptied(value, path[1:]) if str(key) == path[0] else value for key, value in data.items()}


def _replace(what: str) -> None:
    list(_rules())  # imports every module
    package, module, *owner, name = what.split(".")
    home = sys.modules[f"pytest_clinical_drift.evidence.{package}.{module}"]
    if owner:
        holder = getattr(home, owner[0])
        setattr(holder, name, _off(getattr(holder, name)))
        return
    function = getattr(home, name)
    _swap(function, _off(inspect.unwrap(function)))


# ---- what it costs


def errors(every: int) -> dict[str, int]:
    """Errors of the rules as they are in this process, by labelled set."""
    from recorded import recorded, shared_talks

    talks = {
        "strong": list(recorded("strong")),
        "mixed": list(recorded("mixed")),
        "shared": list(shared_talks(SHARED / "real")),
    }
    found = dict.fromkeys(SETS, 0)
    for voice, several in talks.items():
        for talk in several:
            found[voice] += _fact_errors(talk, every)
            found["faults"] += _missed_faults(talk)
            replies, pairs = _reply_errors(talk, every)
            found["replies"] += replies
            found["pairs"] += pairs
    return found | _gold_errors()


def _alarmed(summary: str, states: Any) -> set[str]:
    from pytest_clinical_drift.evidence.findings import find_facts

    return {f.fact_id for f in find_facts(summary, states) if not (f.certain and f.status in ("retained", "partial"))}


def _fact_errors(talk: Any, every: int) -> int:
    from recorded import WRONG

    wrong = 0
    for turn in list(talk.summaries)[::every]:
        states = talk.states(turn)
        alarmed = _alarmed(talk.summaries[turn], states)
        wrong += sum((s.fact.id in alarmed) != (talk.label(turn, s.fact.id) in WRONG) for s in states if not s.ended)
    return wrong


def _missed_faults(talk: Any) -> int:
    missed = 0
    for fault in talk.faults:
        edited = talk.planted(fault, "summary") if fault.get("fact") else {}
        for turn, summary in list(edited.items())[:1]:
            missed += fault["fact"] not in _alarmed(summary, talk.states(turn))
    return missed


def _reply_errors(talk: Any, every: int) -> tuple[int, int]:
    from pytest_clinical_drift.evidence.advice.breach import find_breaches, oppositions

    bad, contradicting = talk.bad_replies(), talk.conflicts()
    replies = pairs = 0

    def breaks(turn: int, reply: str) -> bool:
        facts = [s.fact for s in talk.states(turn) if not s.ended]
        return bool(find_breaches(reply, facts, talk.case.turns[turn - 1].expect))

    def clashes(turn: int, reply: str) -> bool:
        return any(True for _ in oppositions(talk.replies[turn - 1], reply, talk.case.turns[turn - 1].message))

    for turn in list(talk.replies)[1 :: 2 * every]:
        replies += breaks(turn, talk.replies[turn]) != (turn in bad)
        pairs += turn - 1 in talk.replies and clashes(turn, talk.replies[turn]) != (turn in contradicting)
    for fault in talk.faults[::every]:
        for turn, reply in talk.planted(fault, "dialogue").items():
            replies += fault["kind"] in ("recommends", "omits") and not breaks(turn, reply)
            pairs += fault["kind"] == "flips" and turn - 1 in talk.replies and not clashes(turn, reply)
    return replies, pairs


def _gold_errors() -> dict[str, int]:
    gold = SHARED / "gold"
    if not gold.exists():
        return {}
    from benchmarks.negation import read_rows
    from pytest_clinical_drift.evidence.advice.breach import rules_conflict
    from pytest_clinical_drift.evidence.facts.retention import assess_retention
    from pytest_clinical_drift.evidence.mentions.context import mention_context

    stated = ("retained", "partial")
    wrong = 0
    for row in map(json.loads, (gold / "retention_dev.jsonl").read_text(encoding="utf-8").splitlines()):
        found = assess_retention(row["summary"], row["entities"])
        wrong += sum((a in stated) != (b.status in stated) for a, b in zip(row["labels"], found, strict=True))
    rows = read_rows(gold / "negation_dev.tsv")
    negation = sum(mention_context(text, a, b).negated != negated for text, a, b, negated in rows)
    pairs = map(json.loads, (gold / "conflict_dev.jsonl").read_text(encoding="utf-8").splitlines())
    conflict = sum(
        rules_conflict(r["earlier"], r["later"]).contradiction != (r["label"] == "contradiction") for r in pairs
    )
    return {"retention": wrong, "negation": negation, "conflict": conflict}


# ---- the table


def _measure(name: str, every: int) -> dict[str, int]:
    """Errors with one thing switched off (all of them on: ""); none where nothing works without it."""
    if name.startswith(_REBUILT):
        command = [sys.executable, "-m", "benchmarks.rent", "--off", name, "--every", str(every)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return dict(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else {}
    try:
        if name:
            switch_off(name)
        return errors(every)
    except Exception:  # whatever breaks without it: it is no rule that could go
        return {}


def _task(task: tuple[str, int]) -> dict[str, int]:
    return _measure(*task)


_REBUILT = ("vocabulary", "list", "cues")
"""Words from files, of which modules and the index of names are made: a new process makes them anew."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only what has this text in its name")
    parser.add_argument("--every", type=int, default=6, help="every Nth turn of the recorded conversations")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--off", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.off is not None:
        if options.off:
            switch_off(options.off)
        print(json.dumps(errors(options.every)))
        return 0
    chosen = [name for name in switches() if options.only in name]
    if not chosen:
        parser.error(f"--only: no rule, list or vocabulary has {options.only!r} in its name")
    base = errors(options.every)  # reads the vocabularies, which every forked process then has
    print("errors as they are: " + ", ".join(f"{name} {base[name]}" for name in SETS) + "\n")
    print(f"{'without':<52}" + "".join(f"{name:>10}" for name in SETS))
    needed, idle = [], []
    tasks = [(name, options.every) for name in chosen]
    with get_context("fork").Pool(options.jobs, maxtasksperchild=1) as pool:
        for (name, _), found in zip(tasks, pool.imap(_task, tasks), strict=True):
            change = {key: found[key] - base[key] for key in SETS} if found else {}
            if any(change.values()):
                print(f"{name[:51]:<52}" + "".join(f"{change[key] or '':>10}" for key in SETS), flush=True)
            else:
                (idle if found else needed).append(name)
    print("\nnothing works without: " + ", ".join(needed))
    print("\nworth nothing: " + ", ".join(idle))
    print(f"{len(chosen) - len(idle)} of {len(chosen)} rules, lists and vocabularies change a figure without them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
