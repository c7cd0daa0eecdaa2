"""The bundled cases, stretched: where interludes stand, and that recorded runs keep their text."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_clinical_drift.authoring.interludes import stretch
from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.interludes import load_interludes
from pytest_clinical_drift.cases.model import Case, Turn

RECORDED = Path(__file__).parents[2] / "examples" / "recorded" / "qwen-40-turns"
FEWEST_PLACES = 3
OPEN_AFTER_URGENT = {
    ("clozapine-quit-smoking-groundsman", 6),  # a recorded run depends on it
    ("dementia-wandering-crushed-tablets", 18),  # the late question speaks of it as past
}


@lru_cache(maxsize=1)
def cases() -> dict[str, Case]:
    return {case.id: case for case in load_cases(bundled_cases())}


@lru_cache(maxsize=3)
def stretched(turns: int) -> dict[str, Case]:
    return {name: stretch(case, turns, load_interludes()) for name, case in cases().items()}


def interrupted(name: str, turns: int) -> list[Turn]:
    """The case's own turns after which a thread begins, as they are in the case."""
    own = {turn.message: turn for turn in cases()[name].turns}
    pairs = pairwise(stretched(turns)[name].turns)
    return [own[first.message] for first, then in pairs if then.interlude and first.message in own]


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.jsonl")))
def test_runs_recorded_at_forty_turns_keep_their_text(name: str) -> None:
    """Every message that the recorded model was sent, in its order."""
    rows = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    sent = {row["turn_num"]: row["message"] for row in rows if row["variant"] == "dialogue"}
    assert [sent[turn] for turn in sorted(sent)] == [turn.message for turn in stretched(40)[name].turns]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hypothyroid-pregnancy-levothyroxine", "Head's pounding"),
        ("hypothyroid-pregnancy-levothyroxine", "Should I refuse it?"),
        ("seizure-driving-courier", "Ah've told the boss aye already"),
        ("seizure-driving-courier", "Ma back's pure murder fae the fall"),
        ("transplant-tacrolimus-tailor", "my ribs hurt when I cough"),
        ("transplant-tacrolimus-tailor", "She wants it again in two days"),
        ("gout-azathioprine-allopurinol-luthier", "I'm at the counter now"),
        ("overdose-weekly-supply-nursery", "make me want to disappear a bit"),
        ("ptsd-veteran-partner-safety", "I told you she's fine"),
    ],
)
def test_an_acute_complaint_is_not_left_for_another_matter(name: str, words: str) -> None:
    """The patient's next message goes on with the case."""
    assert any(words in turn.message for turn in cases()[name].turns)
    for turns in (60, 160):
        assert not [turn for turn in interrupted(name, turns) if words in turn.message]


def test_no_thread_follows_what_needs_care_today() -> None:
    """No turn that asks for urgent or emergency care is followed by an interlude, however long the run."""
    found = {
        (name, turn.turn)
        for turns in (60, 160)
        for name in cases()
        for turn in interrupted(name, turns)
        if turn.expect.care in {"urgent", "emergency"}
    }
    assert found <= OPEN_AFTER_URGENT


def test_no_thread_stands_directly_before_a_closing_emergency() -> None:
    """The message before it is the patient's own, the late question included."""
    closing = [case for case in cases().values() if case.turns[-1].expect.care == "emergency"]
    assert len(closing) > 20
    for case in closing:
        for turns in (60, 160):
            assert stretched(turns)[case.id].turns[-2].interlude is None, case.id


def test_threads_still_spread_over_every_case() -> None:
    """At 160 turns each case is interrupted in three places or more."""
    for name in cases():
        assert len(interrupted(name, 160)) >= FEWEST_PLACES, name
