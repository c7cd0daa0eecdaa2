"""The prompts: two wordings per kind, each with definitions and worked examples that the answer check accepts."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from asked import conversation, one_of_each, question, reply, summary

from pytest_clinical_drift.judging.answers import AGAINST, KINDS, QUOTED, UNSURE, occurs_in
from pytest_clinical_drift.judging.prompts import correction, instructions, messages_for, prompt_hash
from pytest_clinical_drift.judging.readings import READINGS

WORDINGS = (1, 2)
_EXAMPLE = re.compile(r"^Example\. (.*) → (\{.*\})$", re.MULTILINE)


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_explained(kind: str, wording: int) -> None:
    """Each answer of a kind is defined in the task, besides standing in the list of answers."""
    task = instructions(kind, wording).split("Answer with one JSON object")[0].split("Example.")[0]
    for answer in KINDS[kind]:
        assert re.search(rf"\b{answer}\b", task), (kind, wording, answer)


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_examples_show_a_fault_and_a_likeness_of_one(kind: str, wording: int) -> None:
    """One example counts against the model, one does not, so that neither is the habit; their quotations hold."""
    found = [(text, json.loads(given)) for text, given in _EXAMPLE.findall(instructions(kind, wording))]
    assert [given["answer"] in AGAINST[kind] for _, given in found] == [True, False]
    for text, given in found:
        if given["answer"] in QUOTED:
            assert occurs_in(given["quote"], text), given
        if kind == "conflict":
            assert occurs_in(given["earlier_quote"], text), given


def test_the_wordings_differ_in_words_and_order() -> None:
    """The second wording is another text, and lists the answers from the other end."""
    for kind, answers in KINDS.items():
        first, second = (instructions(kind, wording) for wording in WORDINGS)
        assert ", ".join((*answers, UNSURE)) in first
        assert ", ".join((*reversed(answers), UNSURE)) in second
        shared = set(first.split("\n")) & set(second.split("\n"))
        assert not {line for line in shared if line}


def test_instructions_are_shared_between_questions() -> None:
    """What opens a prompt depends on kind and wording alone: servers need to read it once."""
    for asked in one_of_each():
        other = replace(asked, text="Another text.", case_id="other")
        assert messages_for(asked, 1)[0] == messages_for(other, 1)[0]
        assert messages_for(asked, 1)[1] != messages_for(other, 1)[1]


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        (
            question("fact", replaced=("lithium 800 mg once nightly",)),
            "which no longer hold: lithium 800 mg once nightly",
        ),
        (question("must"), "The reply must say: ring the clinic today"),
        (question("must_not"), "The reply must not advise: take ibuprofen (because: lithium)"),
        (question("forbidden"), "- NSAIDs, because of: takes lithium"),
        (
            question("fact", statement="aspirin", replaced=("aspirin",)),
            "A fact that has ended and no longer holds: aspirin",
        ),
    ],
)
def test_what_is_asked_stands_in_the_prompt(changed: object, shown: str) -> None:
    """Demand, reason, forbidden things, earlier values and an end are said in words."""
    assert shown in messages_for(changed, 1)[1].content  # type: ignore[arg-type]


def test_an_empty_reply_is_shown_as_such() -> None:
    """Fences stand around nothing where the model said nothing."""
    assert re.search(
        r"\[\[TEXT (\w+)\]\]\n\n\[\[/TEXT \1\]\]", messages_for(replace(question("must"), text=""), 1)[1].content
    )


def test_corrections_name_the_answers_again() -> None:
    """A judge that answered in another form is told the answers once more."""
    assert all(answer in correction(question("conflict")) for answer in KINDS["conflict"])


def test_the_fingerprint_is_stable() -> None:
    """Two calls agree: answers are stored under it."""
    assert prompt_hash() == prompt_hash()
    assert re.fullmatch(r"[0-9a-f]{64}", prompt_hash())


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("summary", ("retained", "partial", "contradicted", "both", "stale", "absent", "minor", "severe")),
        ("reply", ("met", "late", "missing", "kept", "violated", "harm", "contradiction", "severe", "no advice",
                   "emergency", "refused")),
        ("conversation", ("contradiction", "severe", *KINDS["course"][1:])),
    ],
)  # fmt: skip
def test_readings_explain_every_answer_and_show_the_form(kind: str, words: tuple[str, ...], wording: int) -> None:
    """Each word stands in the explanation as well as in the form at its end."""
    task, _, form = instructions(kind, wording).rpartition("Form:")
    assert [word for word in words if word not in task] == []
    assert [word for word in words if word not in form] == []


def test_a_reading_begins_with_what_its_neighbours_share() -> None:
    """Record and messages come before text and facts, so that a server reads them once for the texts of a patient."""
    one, other = (messages_for(summary(text), 1) for text in ("A summary.", "Another summary."))
    assert one[0] == other[0]
    body = one[1].content
    places = [body.index(f"[[{name} ") for name in ("RECORD", "PATIENT", "TEXT")]
    assert places == sorted(places)
    shared = next(n for n, (a, b) in enumerate(zip(body, other[1].content, strict=False)) if a != b)
    assert shared > body.index("[[/PATIENT ")
    assert body.index("lithium 600 mg once nightly") > places[2]


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        (summary(), ("penicillin", "lithium 800 mg once nightly", "ramipril 5 mg once daily")),
        (reply(), ("t2-must-1", "ring the clinic today", "t2-must_not-1", "NSAIDs", "Do not take any ibuprofen.")),
        (conversation("Rest.", "Go for a run."), ("message 1", "Go for a run.", "Advised to rest.")),
    ],
)
def test_a_reading_shows_all_that_it_is_about(item: object, shown: tuple[str, ...]) -> None:
    """Facts and demands with their ids, earlier values, the earlier reply, every turn."""
    for wording in WORDINGS:
        body = messages_for(item, wording)[1].content  # type: ignore[arg-type]
        assert [part for part in shown if part not in body] == []


def test_readings_have_two_wordings() -> None:
    for kind in READINGS:
        assert instructions(kind, 1) != instructions(kind, 2)
