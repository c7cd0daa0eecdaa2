"""Compares two records: figures, states, verdicts and exit codes first, words apart."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

MISSING = "<missing>"
_SENTENCES = frozenset(
    {
        "headline",
        "diagnosis",
        "what_this_means",
        "why",
        "title",
        "reason",
        "notes",
        "note",
        "alignment_reason",
        "continuity_not_evaluated",
        "around",
        "incomplete",
        "out",
        "err",
        "message",
        "texts",
    }
)
"""Keys whose values are sentences for people."""
_TEXT_OF = frozenset({"reasons", "diagnosed", "doubts", "tests"})
"""Where the key `text` holds a sentence; elsewhere it holds words of a fact or a quotation."""
_SENTENCES_OF_A_RUN = frozenset({"hard_stops", "hard_stop_slips", "stale_facts", "contradicted_facts"})
_KEYS = (
    ("test",),
    ("case_id", "repeat"),
    ("case_id",),
    ("metric",),
    ("fact_id",),
    ("question",),
    ("attribute", "wording"),
    ("attribute",),
    ("turn", "wording"),
    ("turn", "kind", "fact", "what", "earlier_turn", "source"),
    ("repeat",),
    ("turn",),
    ("group",),
    ("first", "last"),
    ("code",),
    ("by",),
    ("name",),
)
"""What tells the items of a list apart: the first set of keys that is different in each of them."""
_RANKS: dict[str, Sequence[Any]] = {
    "verdict": ("FAIL", "INCOMPLETE", "UNSETTLED", "PARTIAL", "CAUTION", "PASS"),
    "exit": (1, 6, 7, 0),
    "outcome": ("failure", "error", "passed"),
    "state": ("confirmed", "open", "dismissed"),
}


@dataclass(frozen=True)
class Difference:
    path: str
    key: str
    before: Any
    after: Any
    sentence: bool
    """Words for people, which may change; anything else may not."""

    @property
    def better(self) -> bool:
        """Whether the later tree judges more mildly: a verdict, an exit code, an outcome or an alarm's state."""
        if self.key == "exit" and self.after == 0:
            return True
        ranks = _RANKS.get(self.key, ())
        if self.before not in ranks or self.after not in ranks:
            return False
        return ranks.index(self.after) > ranks.index(self.before)

    def __str__(self) -> str:
        return f"{self.path}: {_short(self.before)} → {_short(self.after)}"


def _short(value: Any, most: int = 110) -> str:
    written = value if value == MISSING else json.dumps(value, ensure_ascii=False)
    return written if len(written) <= most else f"{written[: most - 1]}…"


@dataclass(frozen=True)
class Expected:
    """Differences that are meant, and why."""

    scenario: str
    path: str
    reason: str

    def covers(self, scenario: str, difference: Difference) -> bool:
        return fnmatchcase(scenario, self.scenario) and fnmatchcase(difference.path, self.path.replace("[", "[[]"))


def read_expected(file: Path) -> list[Expected]:
    """Raises ValueError where an entry lacks a part; a reason may not be empty."""
    rows = yaml.safe_load(file.read_text(encoding="utf-8")) or []
    found = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or set(row) != {"scenario", "path", "reason"} or not all(row.values()):
            raise ValueError(f"{file}: entry {number} needs scenario, path and reason")
        found.append(Expected(**row))
    return found


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """The records of a folder by the names of their scenarios."""
    found = {}
    for file in sorted(folder.glob("*.json.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            record = json.load(opened)
        found[record["name"]] = record
    return found


@dataclass(frozen=True)
class Place:
    """Where in a record something stands."""

    path: str = ""
    key: str = ""
    """The last key on the way, whatever the place in a list."""
    sentence: bool = False

    def below(self, key: str) -> Place:
        path = f"{self.path}.{key}" if self.path else key
        return Place(path, key, self.sentence or is_sentence(self.key, key))

    def item(self, name: str | int) -> Place:
        return Place(f"{self.path}[{name}]", self.key, self.sentence)

    def differs(self, before: Any, after: Any) -> Difference:
        return Difference(self.path, self.key, before, after, self.sentence)


def is_sentence(parent: str, key: str) -> bool:
    """Whether what stands under a key is meant for people."""
    if key == "text":
        return parent in _TEXT_OF
    if key in _SENTENCES_OF_A_RUN:
        return parent == "repeats"
    return key in _SENTENCES


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[Difference]:
    """All of two records of one scenario."""
    return list(_compared(before, after, Place()))


def _compared(before: Any, after: Any, place: Place) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from _compared(before.get(key, MISSING), after.get(key, MISSING), place.below(key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compared_lists(before, after, place)
    elif isinstance(before, str) and isinstance(after, str) and place.sentence:
        yield from _compared_words(before, after, place)
    elif before != after or type(before) is not type(after):
        yield place.differs(before, after)


def _compared_lists(before: list[Any], after: list[Any], place: Place) -> Iterator[Difference]:
    if place.path == "files":
        yield from _compared_names(before, after, place)
        return
    keys = _keys_of(before, after)
    if keys is None:
        for number in range(max(len(before), len(after))):
            old = before[number] if number < len(before) else MISSING
            new = after[number] if number < len(after) else MISSING
            yield from _compared(old, new, place.item(number))
        return
    old_items = {_named(item, keys): item for item in before}
    new_items = {_named(item, keys): item for item in after}
    for name in {**old_items, **new_items}:
        yield from _compared(old_items.get(name, MISSING), new_items.get(name, MISSING), place.item(name))
    common = old_items.keys() & new_items.keys()
    old_order = [name for name in old_items if name in common]
    new_order = [name for name in new_items if name in common]
    if old_order != new_order:
        yield place.below("order").differs(old_order, new_order)


def _compared_names(before: list[str], after: list[str], place: Place) -> Iterator[Difference]:
    """Names of files, of which several may be equal once run ids are replaced."""
    old_counts = Counter(before)
    new_counts = Counter(after)
    for name in sorted(old_counts.keys() | new_counts.keys()):
        if old_counts[name] != new_counts[name]:
            yield place.item(name).differs(old_counts[name], new_counts[name])


def _keys_of(before: list[Any], after: list[Any]) -> tuple[str, ...] | None:
    """Keys by which the items of both lists can be told apart; None where there are none."""
    items = [*before, *after]
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    for keys in _KEYS:
        complete = all(item.keys() >= set(keys) for item in items)
        if complete and _distinct(before, keys) and _distinct(after, keys):
            return keys
    return None


def _distinct(items: list[dict[str, Any]], keys: tuple[str, ...]) -> bool:
    return len({_named(item, keys) for item in items}) == len(items)


def _named(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    return "/".join(str(item[key]) for key in keys)


def _compared_words(before: str, after: str, place: Place) -> Iterator[Difference]:
    """The first line in which two texts differ."""
    if before == after:
        return
    old_lines = before.splitlines()
    new_lines = after.splitlines()
    for number in range(max(len(old_lines), len(new_lines))):
        old = old_lines[number] if number < len(old_lines) else MISSING
        new = new_lines[number] if number < len(new_lines) else MISSING
        if old != new:
            yield Difference(f"{place.path}:{number + 1}", place.key, old, new, sentence=True)
            return


@dataclass(frozen=True)
class Compared:
    """One scenario, compared."""

    name: str
    structural: list[Difference]
    sentences: list[Difference]
    expected: list[tuple[Difference, str]]


def compare(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]], expected: Sequence[Expected]
) -> tuple[list[Compared], list[Expected]]:
    """Every scenario of both records, and the expectations that nothing met."""
    met: set[Expected] = set()
    rows = []
    for name in sorted(before.keys() & after.keys()):
        structural: list[Difference] = []
        sentences: list[Difference] = []
        meant: list[tuple[Difference, str]] = []
        for found in differences(before[name], after[name]):
            entry = next((one for one in expected if one.covers(name, found)), None)
            if entry is not None:
                met.add(entry)
                meant.append((found, entry.reason))
            elif found.sentence:
                sentences.append(found)
            else:
                structural.append(found)
        rows.append(Compared(name, structural, sentences, meant))
    return rows, [entry for entry in expected if entry not in met]


def report(rows: Sequence[Compared], unmet: Sequence[Expected], absent: Sequence[str], most: int) -> list[str]:
    """The comparison in lines: milder verdicts first, then each scenario, then counts."""
    lines = []
    milder = [(row.name, found, "no reason given") for row in rows for found in row.structural if found.better]
    for row in rows:
        milder += [(row.name, found, f"expected: {reason}") for found, reason in row.expected if found.better]
    for name, found, reason in milder:
        lines.append(f"!!! MILDER {name}: {found} ({reason})")
    for row in rows:
        lines += _of_scenario(row, most)
    for name in absent:
        lines.append(f"only in one record: {name}")
    for entry in unmet:
        lines.append(f"expected and not found: {entry.scenario} {entry.path} ({entry.reason})")
    structural = sum(len(row.structural) for row in rows)
    sentences = sum(len(row.sentences) for row in rows)
    meant = sum(len(row.expected) for row in rows)
    unreasoned = sum(reason == "no reason given" for _, _, reason in milder)
    lines.append(
        f"{len(rows)} scenarios compared: {structural} structural differences ({unreasoned} milder), "
        f"{sentences} in words, {meant} expected; {len(absent)} scenarios in one record only"
    )
    return lines


def _of_scenario(row: Compared, most: int) -> list[str]:
    if not row.structural and not row.sentences and not row.expected:
        return []
    counts = f"{len(row.structural)} structural, {len(row.sentences)} in words, {len(row.expected)} expected"
    lines = [f"== {row.name}: {counts}"]
    lines += [f"  {found}" for found in row.structural[:most]]
    if len(row.structural) > most:
        lines.append(f"  … and {len(row.structural) - most} more")
    fewer = max(1, most // 3)
    lines += [f"  (words) {found}" for found in row.sentences[:fewer]]
    reasons: dict[str, int] = {}
    for _, reason in row.expected:
        reasons[reason] = reasons.get(reason, 0) + 1
    lines += [f"  (expected) {count} × {reason}" for reason, count in reasons.items()]
    return lines
