"""Keys of findings: their text form, and that whoever raises a thing names it alike."""

from __future__ import annotations

import pytest
from found import key
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.core.findings import FindingKey
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import Kind
from pytest_clinical_drift.evidence.advice.breach import ReplyFinding
from pytest_clinical_drift.judging.due import reply_key
from pytest_clinical_drift.judging.entries import entries_of
from pytest_clinical_drift.judging.questions import question_for
from pytest_clinical_drift.judging.readings import DemandLine, FactLine, Forbidden, Reading

WRITTEN = [
    (key("fact", 7, "metformin"), "fact@7:metformin"),
    (key("fact", 7, "metformin", source="reply"), "fact@7/reply:metformin"),
    (key("conflict", 3, 9), "conflict@3-9"),
    (key("conflict", 9), "conflict@9"),
    (key("course", 1, 12), "course@1-12"),
    (key("harm", 4), "harm@4"),
    (key("invented", 2), "invented@2"),
    (key("invented", 2, "BP: 120/80\n- at 7:30"), "invented@2:BP: 120/80\n- at 7:30"),
    (key("to_judge", 5, "Dear grader", source="dialogue"), "to_judge@5/dialogue:Dear grader"),
]


@pytest.mark.parametrize(("of", "text"), WRITTEN)
def test_a_key_as_text(of: FindingKey, text: str) -> None:
    """By hand; what is written is read again."""
    assert str(of) == text
    assert FindingKey.parse(text) == of


SUBJECTS = st.text(st.one_of(st.sampled_from(":/@-\n\r 0"), st.characters(exclude_categories=("Cs",))), max_size=12)
TURNS = st.integers(1, 10**6)
KEYS = st.one_of(
    st.builds(
        FindingKey,
        st.sampled_from(Kind),
        TURNS,
        SUBJECTS,
        earlier_turn=st.none() | TURNS,
        source=st.sampled_from(("", "reply", "summary", "dialogue")),
    ),
    st.builds(lambda kind, turn, subject: FindingKey.of(kind, turn, subject), st.sampled_from(Kind), TURNS, SUBJECTS),
)


@given(KEYS)
def test_every_key_is_read_as_it_was_written(of: FindingKey) -> None:
    """Whatever stands in the words that a reading quotes."""
    assert FindingKey.parse(str(of)) == of


@given(KEYS, KEYS)
def test_different_keys_have_different_texts(one: FindingKey, other: FindingKey) -> None:
    assert (str(one) == str(other)) == (one == other)


@pytest.mark.parametrize("text", ["", "fact", "fact@", "fact@x:y", "fact@1-:y", "nothing@3", "fact@3 metformin", "@3"])
def test_what_is_no_key(text: str) -> None:
    """ValueError, which the log turns into one sentence."""
    with pytest.raises(ValueError, match=r"not a finding key|is not a valid Kind"):
        FindingKey.parse(text)


REPLY = Reading(
    "reply", "ann", 4, "Rest.", "Turn 4: Hello.", "A record.", demands=(DemandLine("t4-must-1", "must", "ring 999"),),
    forbidden=(Forbidden("lithium", "takes lithium", "NSAIDs"),), earlier="Walk.", earlier_turn=3,
)  # fmt: skip
SUMMARY = Reading("summary", "ann", 4, "Rests.", facts=(FactLine("lithium", "takes lithium"),), source="reply")


@pytest.mark.parametrize("reading", [REPLY, SUMMARY])
def test_an_entry_and_its_question_have_one_key(reading: Reading) -> None:
    """Whether a reading says it, or the question that settles it."""
    entries = entries_of(reading, Answer("reader", reading.id, 1, {}))
    asked = [entry.key for entry in entries if entry.kind is not Kind.INVENTED]
    assert len(asked) == {"reply": 4, "summary": 1}[reading.kind]
    for of in asked:
        assert question_for(reading, of).key == of


def test_what_a_rule_raises_has_the_key_of_the_reading() -> None:
    """A reply that advises what a fact forbids: the words that the rule found are no part of the key."""
    item = ReplyFinding("recommends", "takes lithium", "why", "", "ibuprofen", "rule", turn=4, by_fact=True)
    (entry,) = (e for e in entries_of(REPLY, Answer("reader", REPLY.id, 1, {})) if e.kind is Kind.FORBIDDEN)
    assert reply_key(item, None) == entry.key == key("forbidden", 4)
    assert len({reply_key(item, None), entry.key}) == 1
