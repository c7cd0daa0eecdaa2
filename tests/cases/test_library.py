"""The bundled cases: what a clinical-safety officer may rely on when they gate a release."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
import yaml

from pytest_clinical_drift.authoring.lint import lint_case, lint_cases
from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.model import Case

PRESSURES = {
    "you-said-it-was-fine",
    "false-premise",
    "authority",
    "urgency",
    "cost",
    "repeated-asking",
    "carer-speaking",
    "topic-change",
    "buried-red-flag",
}


@lru_cache(maxsize=1)
def library() -> tuple[Case, ...]:
    return tuple(load_cases(bundled_cases()))


def share(condition: Callable[[Case], bool]) -> int:
    """How many cases a predicate holds for."""
    return sum(condition(case) for case in library())


def test_sixty_cases_of_sixty_people() -> None:
    """20 from psychiatry and 40 from general medicine; the id is the file's name."""
    assert len(library()) == 60
    assert len({case.persona_id for case in library()}) == 60
    assert Counter(case.tags[0] for case in library()) == {"psychiatry": 20, "general-medicine": 40}
    assert {file.stem for file in bundled_cases().glob("*.yaml")} == {case.id for case in library()}


def test_length_of_the_conversations() -> None:
    """Twelve turns, twenty in ten cases."""
    assert Counter(len(case.turns) for case in library()) == {12: 50, 20: 10}
    assert all(("long" in case.tags) == (len(case.turns) == 20) for case in library())


def test_facts_are_mixed() -> None:
    """Four to six facts of at least three kinds in every case, and most kinds all over the set."""
    for case in library():
        assert 4 <= len(case.critical_entities) <= 6, case.id
        assert len({fact.kind for fact in case.critical_entities}) >= 3, case.id
    kinds = Counter(fact.kind for case in library() for fact in case.critical_entities)
    for kind in ("diagnosis", "medication", "allergy", "negative", "measurement", "social", "safety", "history"):
        assert kinds[kind] >= 15, kind


def test_hard_stops() -> None:
    """One or two deadly facts; only negative controls may have none, and they have at most one."""
    for case in library():
        count = sum(fact.hard_stop for fact in case.critical_entities)
        low, high = (0, 1) if "negative-control" in case.tags else (1, 2)
        assert low <= count <= high, case.id


def test_facts_that_change() -> None:
    """At least 20 cases change a fact or learn a new one, and tags say which."""
    assert share(lambda case: any(bool(turn.updates or turn.introduces) for turn in case.turns)) >= 20
    for case in library():
        assert ("update" in case.tags) == any(turn.updates for turn in case.turns), case.id
        assert ("introduced-fact" in case.tags) == any(turn.introduces for turn in case.turns), case.id


def test_negative_controls() -> None:
    """At least 8 cases in which refusing is wrong."""
    controls = [case for case in library() if "negative-control" in case.tags]
    assert len(controls) >= 8
    for case in controls:
        refusals = ("avoid ", "refuse ", "cancel ", "skip ", "stop ")
        acts = [act.text for turn in case.turns for act in turn.expect.must_not]
        assert any(act.startswith(refusals) for act in acts), case.id


def test_pressures_are_spread() -> None:
    """Every pressure stands in at least five cases, and every case has one."""
    found = Counter(tag.partition(":")[2] for case in library() for tag in case.tags if tag.startswith("pressure:"))
    assert set(found) == PRESSURES
    assert min(found.values()) >= 5
    assert share(lambda case: any(tag.startswith("pressure:") for tag in case.tags)) == 60


def test_replies_are_held_to_something() -> None:
    """At least two ruled turns per case, in most cases one of them after turn 10."""
    for case in library():
        assert sum(bool(turn.expect.must or turn.expect.must_not) for turn in case.turns) >= 2, case.id
    assert share(lambda case: any(turn.turn > 10 and bool(turn.expect.must) for turn in case.turns)) >= 30


def test_provenance_is_honest() -> None:
    """The cases were not written by clinicians, and none calls itself reviewed."""
    for case in library():
        assert case.provenance is not None, case.id
        assert case.provenance.status == "draft", case.id


def test_worked_example_of_the_guide() -> None:
    """The example in the guide is a valid case that the linter accepts, apart from the turns left out."""
    guide = (Path(__file__).parents[2] / "docs" / "cases.md").read_text(encoding="utf-8")
    block = guide[guide.index("    id: ulcer-ibuprofen-joiner") : guide.index("Why it works")]
    data = yaml.safe_load(textwrap.dedent(block))
    for number, turn in enumerate(data["turns"], start=1):
        turn["turn"] = number
    remarks = lint_case(Case.model_validate(data))
    assert {remark.place for remark in remarks} == {"turns"}, remarks


@pytest.fixture(scope="module")
def checked() -> tuple[list[str], list[str], dict[str, float]]:
    """Errors, warnings and the largest similarities of the linter."""
    remarks, nearest = lint_cases(library())
    lines = [(remark.level, f"{remark.case_id} {remark.place}: {remark.text}") for remark in remarks]
    errors = [line for level, line in lines if level == "error"]
    warnings = [line for level, line in lines if level == "warning"]
    return errors, warnings, {what: similarity for what, (similarity, _, _) in nearest.items()}


def test_the_linter_finds_no_error(checked: tuple[list[str], list[str], dict[str, float]]) -> None:
    """`clinical-drift validate cases/` is clean; a few warnings may stay where the matcher is unsure."""
    errors, warnings, _ = checked
    assert errors == []
    assert len(warnings) <= 12, warnings


def test_cases_are_independent(checked: tuple[list[str], list[str], dict[str, float]]) -> None:
    """No two cases, summaries or messages are alike."""
    _, _, nearest = checked
    assert nearest["cases"] < 0.25
    assert nearest["patient summaries"] < 0.3
    assert nearest["messages"] < 0.35
