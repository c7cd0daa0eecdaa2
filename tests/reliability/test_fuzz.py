"""A small, fixed share of the fuzzing: every input gives a result or one of our errors in one sentence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fuzz_targets import TARGETS, discard_finished_run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLES = 40


@pytest.fixture(scope="module", autouse=True)
def tidy() -> Iterator[None]:
    yield
    discard_finished_run()


@pytest.mark.parametrize("name", TARGETS)
def test_a_result_or_one_sentence(name: str) -> None:
    """Files, answers and texts of strangers, damaged in every way: never a traceback."""
    target = TARGETS[name]

    @settings(max_examples=max(8, int(EXAMPLES * target.share)), suppress_health_check=list(HealthCheck))
    @given(st.data())
    def attempt(data: st.DataObject) -> None:
        outcome = target.feed(data.draw(target.values))
        assert outcome  # it has a name

    attempt()
