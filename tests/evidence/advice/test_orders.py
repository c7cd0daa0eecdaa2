"""Orders in a reply: what is to be had or done, what is not, and what is no order at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clinical_drift import find_advice


@pytest.mark.parametrize(
    ("text", "polarity", "medicine"),
    [
        ("Take ibuprofen with food.", "do", "drug:ibuprofen"),
        ("You can take Nurofen.", "do", "drug:ibuprofen"),
        ("Keep taking clopidogrel every day.", "do", "drug:clopidogrel"),
        ("Keep taking clopidogrel, stay away from ibuprofen.", "do", "drug:clopidogrel"),
        ("Naproxen is fine.", "do", "drug:naproxen"),
        ("There's no need to avoid paracetamol.", "do", "drug:paracetamol"),
        ("Instead of ibuprofen, take paracetamol.", "do", "drug:paracetamol"),
        ("| Problem | What to do |\n|---|---|\n| Pain | take naproxen 250 mg |", "do", "drug:naproxen"),
        ("Don't take ibuprofen.", "don't", "drug:ibuprofen"),
        ("Please stop the warfarin today.", "don't", "drug:warfarin"),
        ("Ibuprofen is not safe for you.", "don't", "drug:ibuprofen"),
        ("No ibuprofen, naproxen or aspirin.", "don't", "drug:ibuprofen"),
        ("The warfarin makes you bleed. Please stop it tonight.", "don't", "drug:warfarin"),
    ],
)
def test_orders_about_a_medicine(text: str, polarity: str, medicine: str) -> None:
    """Imperatives, permissions, judgements, denials and "it" say whether the medicine is to be had."""
    assert (polarity, medicine) in {(order.polarity, order.object) for order in find_advice(text)}


@pytest.mark.parametrize(
    "text",
    [
        "Have you taken ibuprofen?",
        "Your sister takes naproxen.",
        'He said "take ibuprofen".',
        "Aspirin and ibuprofen are anti-inflammatory medicines.",
        "<think>Take ibuprofen.</think>",
        "I understand. That sounds hard.",
        "",
    ],
)
def test_questions_reports_and_hidden_reasoning_order_nothing(text: str) -> None:
    """Only what is plainly an order, a permission or a warning counts."""
    assert find_advice(text) == []


def test_conditions_are_marked() -> None:
    """An order under "if" is conditional; one that only grants the patient's wish is not."""
    assert [order.conditional for order in find_advice("If the rash spreads, call 999.")] == [True]
    assert [order.conditional for order in find_advice("Call 999.")] == [False]


def test_kinds_of_action() -> None:
    """Going somewhere for help, waiting, and having something are told apart."""
    kinds = [order.kind for order in find_advice("Go to A&E now. Wait until the morning. Take paracetamol.")]
    assert kinds == ["care", "wait", "toward"]


def test_the_quotation_is_the_sentence_in_the_raw_text() -> None:
    """Offsets index the reply, behind hidden reasoning and markup too."""
    text = "<think>No.</think>\n**Please** stop the\u202fwarfarin today. Rest."
    for order in find_advice(text):
        assert text[order.start : order.end] == order.quote
    assert any("stop the\u202fwarfarin" in order.quote for order in find_advice(text))


_PIECES = st.sampled_from(
    ["take ", "don't ", "stop ", "ibuprofen ", "warfarin ", "if ", "it ", "you can ", "is fine", "no ", "go to A&E",
     ". ", "? ", "\n", "- ", "**", "| ", '"', "“", "not safe", ", ", "; ", "should be taken ", "leave ", "off ",
     "\u202f", "\x00", "<think>", "</think>", "500 mg ", "twice daily "]
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=150))
def test_any_text_can_be_searched(text: str) -> None:
    """Hostile text raises nothing, and every quotation stands where it says."""
    for order in find_advice(text):
        assert text[order.start : order.end] == order.quote
        assert order.polarity in ("do", "don't")


def test_double_vision_doubles_no_dose() -> None:
    """A symptom that begins like an order is none."""
    said = find_advice("Contact the clinic today; double vision can mean too much lamotrigine.")
    assert all(advice.object != "drug:lamotrigine" for advice in said)


def test_no_need_for_a_medicine_is_an_order_against_it() -> None:
    """ "There is no need for warfarin now" takes it away as "stop warfarin" does."""
    found = find_advice("There is no need for warfarin now.")
    assert [(order.polarity, order.object) for order in found] == [("don't", "drug:warfarin")]
