"""The five long cases, a set of their own: `--drift-cases long`."""

from __future__ import annotations

from functools import lru_cache

import pytest

from pytest_clinical_drift.authoring.lint import lint_cases
from pytest_clinical_drift.cases.entries import demands_in
from pytest_clinical_drift.cases.files import LONG, bundled_cases, load_cases
from pytest_clinical_drift.cases.model import Case, facts_at, facts_of


@lru_cache(maxsize=1)
def long_cases() -> tuple[Case, ...]:
    return tuple(load_cases(bundled_cases(LONG)))


@pytest.mark.slow
def test_five_cases_that_the_linter_accepts() -> None:
    """Five people, none of them in the bundled set, and nothing that a second look should mend."""
    bundled = {case.persona_id for case in load_cases(bundled_cases())}
    assert len(long_cases()) == 5
    assert bundled.isdisjoint(case.persona_id for case in long_cases())
    assert lint_cases(long_cases())[0] == []


@pytest.mark.parametrize("case", long_cases(), ids=lambda case: case.id)
def test_each_is_long_changes_often_and_is_graded(case: Case) -> None:
    """40 turns of its own, 15 to 25 facts at every turn, five changes, and every mark that the set is about."""
    assert len(case.turns) >= 40
    assert sum(len(turn.updates) for turn in case.turns) >= 5
    for turn in range(1, len(case.turns) + 1):
        assert 15 <= sum(not state.ended for state in facts_at(case, turn)) <= 25, turn
    demands = [wish for turn in case.turns for _, wish, _ in demands_in(turn.expect)]
    assert all(wish.severity and wish.why for wish in demands)
    assert all(fact.severity for fact, _ in facts_of(case))
    assert any(wish.ask or wish.admit_unknown for wish in demands)
    assert any(wish.until for wish in demands)
    assert any(fact.essential for fact, _ in facts_of(case))
    assert case.turns[-1].handover
    assert case.late is not None
    assert case.tight
    assert case.hazards
    assert case.reviewed is None
