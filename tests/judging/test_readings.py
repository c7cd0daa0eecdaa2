"""Readings: which texts of a conversation are read, with which messages, and how they are kept."""

from __future__ import annotations

from typing import Any

import pytest
from asked import SUMMARY, conversation, reply, summary
from found import entry, key

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.core.words import Why
from pytest_clinical_drift.errors import FailureCode, failure
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.due import raised_by_reading
from pytest_clinical_drift.judging.readings import Reading, reply_reading, single_reading, summary_reading, windows_of
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript


def case(turns: int = 4, *interludes: int) -> Case:
    """Messages of five characters; some turns are interludes."""
    told: list[dict[str, Any]] = [{"turn": n, "message": f"ask {n}"} for n in range(1, turns + 1)]
    for turn in interludes:
        told[turn - 1]["interlude"] = "cabbage"
    return Case.model_validate({"id": "ann", "patient_summary": "s", "critical_entities": ["gout"], "turns": told})


def talk(turns: int, single: Reply | None = None) -> Transcript:
    """Replies of thirty characters, no summaries."""
    silent = Reply("", asked=False)
    spoken = (Exchange(n, f"ask {n}", Reply(str(n % 10) * 30), silent) for n in range(1, turns + 1))
    return Transcript("ann", tuple(spoken), single=single)


@pytest.mark.parametrize("reading", [summary(), reply(), conversation("Rest.", "Run.")], ids=lambda r: r.kind)
def test_a_reading_comes_back_from_its_mapping(reading: Reading) -> None:
    """Its id is made anew from what is shown; wording is no part of it."""
    kept = reading.as_mapping(2)
    assert (kept["id"], kept["wording"]) == (reading.id, 2)
    assert Reading.from_mapping(kept) == reading
    with pytest.raises(ValueError, match="unknown kind 'letter'"):
        Reading.from_mapping({**kept, "kind": "letter"})


def test_a_judge_gets_what_there_is_and_the_lists_of_the_kind() -> None:
    """Texts are there; what is empty is left out, unless the kind always has it."""
    assert summary().as_mapping()["text"] == SUMMARY
    assert "text" not in conversation("Rest.").as_mapping()
    assert conversation("Rest.").as_mapping()["standing"] == []
    assert "summary" not in conversation("Rest.", summary="").as_mapping()


def test_the_reply_of_a_turn() -> None:
    """By number; empty for a turn of another window."""
    reading = conversation("Rest.", "Run.")
    assert (reading.reply_of(1), reading.reply_of(2), reading.reply_of(3)) == ("Rest.", "Run.", "")


def test_the_summary_of_the_transcript_in_one_message() -> None:
    """Read as one of the last turn; nothing to read where it failed or nothing was said."""
    found = single_reading(case(), talk(4, Reply("<think>hm</think>Gout.")))
    assert found is not None
    assert (found.kind, found.turn, found.source, found.text.strip()) == ("summary", 4, "single", "Gout.")
    failed = Reply("", error=failure(FailureCode.RECORDED, error="x"))
    assert single_reading(case(), talk(4, failed)) is None
    assert single_reading(case(), talk(0, Reply("Gout."))) is None
    assert single_reading(case(), talk(4)) is None


def test_a_reading_shows_what_the_patient_said_by_then() -> None:
    """A summary all messages up to its turn; a reply those since the reply that it is compared with."""
    told = summary_reading(case(), 3, "x").patient
    assert [f"ask {n}" in told for n in (1, 2, 3, 4)] == [True, True, True, False]
    told = reply_reading(case(), 3, "x", (1, "earlier")).patient
    assert [f"ask {n}" in told for n in (1, 2, 3, 4)] == [False, True, True, False]
    told = reply_reading(case(), 3, "x", None).patient
    assert [f"ask {n}" in told for n in (1, 2, 3, 4)] == [False, False, True, False]


def test_a_conversation_has_at_least_two_replies() -> None:
    """One reply contradicts nothing."""
    assert windows_of(case(), talk(1)) == []
    assert [line.turn for line in windows_of(case(), talk(2))[0].turns] == [1, 2]


def test_neighbours_of_an_interlude_are_named() -> None:
    """Turn 2 is an interlude: no other reading compares 1 with 2, or 2 with 3; 3 and 4 are compared."""
    (window,) = windows_of(case(4, 2), talk(4))
    assert window.uncompared == (2, 3)
    (window,) = windows_of(case(4), talk(4))
    assert window.uncompared == ()


def test_windows_overlap_by_two_turns() -> None:
    """A turn has 35 characters, and 40 tokens are 140: four turns fit, the next window begins two turns before."""
    windows = windows_of(case(6), talk(6), tokens=40)
    assert [[line.turn for line in window.turns] for window in windows] == [[1, 2, 3, 4], [3, 4, 5, 6]]
    assert [window.turn for window in windows] == [4, 6]


def test_what_a_reading_raises_and_leaves_unsure() -> None:
    """A loss and an unsure entry are points, a kept fact is none."""
    answers = {"penicillin": "absent", "lithium": UNSURE, "ramipril": "retained"}
    entries = [entry(key("fact", 2, name), answer) for name, answer in answers.items()]
    due = raised_by_reading(summary(), entries)
    assert [(one.key.subject, one.finding.why) for one in due] == [("penicillin", Why.READING), ("lithium", Why.UNSURE)]
    assert not any(one.finding.rule_confirms for one in due)
