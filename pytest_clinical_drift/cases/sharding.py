"""Which cases belong to which shard of a run: decided by their ids and turns alone, the same on every machine.

Nothing but the standard library is imported here: options are read in every run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_clinical_drift.errors import InputError

if TYPE_CHECKING:
    from pytest_clinical_drift.cases.model import Case


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run that is split."""

    index: int
    """From 1."""
    count: int

    def __str__(self) -> str:
        """As reports name it."""
        return f"shard {self.index} of {self.count}"


def parse_shard(text: str) -> Shard:
    """Read `I/N`."""
    match = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
    if match is None:
        raise InputError(f"--drift-shard: expected I/N such as 2/4, found {text!r}")
    shard = Shard(int(match[1]), int(match[2]))
    if not 1 <= shard.index <= shard.count:
        raise InputError(f"--drift-shard: expected 1/N to N/N, found {text!r}")
    return shard


def deal_cases(cases: Iterable[Case], count: int) -> list[tuple[str, ...]]:
    """Ids of the cases of each shard: the longest cases first, each to the shard with the fewest turns so far.

    Cases of one length are dealt in the order of a hash of their ids; the order of the set does not matter.
    """
    shards: list[list[str]] = [[] for _ in range(count)]
    turns = [0] * count

    def rank(case: Case) -> tuple[int, bytes]:
        return -len(case.turns), hashlib.sha256(case.id.encode("utf-8", "surrogatepass")).digest()

    for case in sorted(cases, key=rank):
        lightest = min(range(count), key=lambda number: (turns[number], len(shards[number]), number))
        shards[lightest].append(case.id)
        turns[lightest] += len(case.turns)
    return [tuple(shard) for shard in shards]


def cases_of_shard(cases: Sequence[Case], shard: Shard) -> list[str]:
    """Ids of the shard's cases, in the set's order; all repeats of a case are in one shard."""
    if shard.count > len(cases):
        raise InputError(f"--drift-shard {shard.index}/{shard.count}: the set has {len(cases)} cases; use fewer shards")
    own = set(deal_cases(cases, shard.count)[shard.index - 1])
    return [case.id for case in cases if case.id in own]
