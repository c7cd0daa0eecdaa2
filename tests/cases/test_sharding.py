"""Shards: every case in exactly one, the same on every machine, about as many turns in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.sharding import Shard, cases_of_shard, deal_cases, parse_shard
from pytest_clinical_drift.errors import InputError


@dataclass(frozen=True)
class Stub:
    """As much of a case as the deal looks at."""

    id: str
    turns: tuple[int, ...]


SETS = st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 200), min_size=1, max_size=40)


def stubs(lengths: dict[str, int]) -> list[Any]:
    return [Stub(case_id, tuple(range(length))) for case_id, length in lengths.items()]


@given(SETS, st.integers(1, 8))
def test_every_case_is_in_one_shard(lengths: dict[str, int], count: int) -> None:
    """None is left out, none is run twice."""
    dealt = [case_id for shard in deal_cases(stubs(lengths), count) for case_id in shard]
    assert sorted(dealt) == sorted(lengths)


@given(SETS, st.integers(1, 8), st.randoms())
def test_the_order_of_the_set_does_not_matter(lengths: dict[str, int], count: int, chance: Any) -> None:
    """A folder that another system lists in another order gives the same shards."""
    cases = stubs(lengths)
    dealt = deal_cases(cases, count)
    chance.shuffle(cases)
    assert deal_cases(cases, count) == dealt


@given(SETS, st.integers(1, 8))
def test_shards_differ_by_one_case_at_most(lengths: dict[str, int], count: int) -> None:
    """In turns: the heaviest shard without its last case is no heavier than the lightest."""
    loads = [[lengths[case_id] for case_id in shard] for shard in deal_cases(stubs(lengths), count)]
    heaviest = max(loads, key=sum)
    assert sum(heaviest[:-1]) <= min(map(sum, loads))


def test_the_deal_stays_as_it_is() -> None:
    """A frozen example: shards that were run by an earlier release can still be merged."""
    dealt = deal_cases(stubs({"anna": 10, "bela": 10, "cleo": 20, "dora": 10}), 2)
    assert dealt == [("cleo", "bela"), ("anna", "dora")]


def test_bundled_cases_in_four_shards() -> None:
    """Turns of the four shards differ by less than a tenth."""
    cases = load_cases(bundled_cases())
    turns = {case.id: len(case.turns) for case in cases}
    loads = [sum(turns[i] for i in cases_of_shard(cases, Shard(index, 4))) for index in range(1, 5)]
    assert max(loads) - min(loads) < 0.1 * max(loads)


@pytest.mark.parametrize("text", ["", "2", "0/4", "5/4", "1/0", "a/b", "-1/4", "1/4/2"])
def test_what_is_no_shard(text: str) -> None:
    """One sentence that names the option."""
    with pytest.raises(InputError, match="--drift-shard"):
        parse_shard(text)


def test_more_shards_than_cases() -> None:
    """An empty shard would be a job that does nothing."""
    with pytest.raises(InputError, match="the set has 1 cases; use fewer shards"):
        cases_of_shard(stubs({"anna": 3}), Shard(1, 2))
