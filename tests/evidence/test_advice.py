"""Advice found in replies: action, polarity, object and the details that comparisons need."""

from __future__ import annotations

import pytest
from growth import cpu_seconds
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.evidence.advice import find_advice
from pytest_clinical_drift.evidence.guidance.amounts import read_amounts


def only(text: str):
    """The single directive of a text."""
    found = find_advice(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "action", "polarity", "thing"),
    [
        ("Take ibuprofen with food.", "take", "do", "drug:ibuprofen"),
        ("Please don't take the Augmentin.", "take", "don't", "drug:co-amoxiclav"),
        ("You should avoid alcohol.", "avoid", "do", "food:alcohol"),
        ("Stop the warfarin.", "stop", "do", "drug:warfarin"),
        ("Don't stop your lithium.", "stop", "don't", "drug:lithium"),
        ("Carry on with sertraline.", "continue", "do", "drug:sertraline"),
        ("Keep taking your metformin.", "continue", "do", "drug:metformin"),
        ("I'd skip the naproxen.", "avoid", "do", "drug:naproxen"),
        ("There's no need to take omeprazole.", "take", "no need", "drug:omeprazole"),
        ("You needn't stop the ramipril.", "stop", "no need", "drug:ramipril"),
        ("It's best to start amlodipine.", "start", "do", "drug:amlodipine"),
        ("Steer clear of grapefruit.", "avoid", "do", "food:grapefruit"),
        ("Ibuprofen isn't safe for you.", "take", "don't", "drug:ibuprofen"),
        ("Aspirin is off-limits.", "avoid", "do", "drug:aspirin"),
        ("Cetirizine is what I'd suggest.", "take", "do", "drug:cetirizine"),
        ("Lisinopril should be taken in the morning.", "take", "do", "drug:lisinopril"),
        ("Methotrexate must not be given.", "take", "don't", "drug:methotrexate"),
        ("No diclofenac, please.", "avoid", "do", "drug:diclofenac"),
        ("Leave the codeine alone.", "avoid", "do", "drug:codeine"),
        ("Increase the gabapentin.", "increase", "do", "drug:gabapentin"),
        ("Halve your bisoprolol.", "decrease", "do", "drug:bisoprolol"),
        ("Why not try melatonin?", "take", "do", "drug:melatonin"),
        ("Have you thought about starting citalopram?", "start", "do", "drug:citalopram"),
        ("Call 999.", "seek_care", "do", "service:emergency"),
        ("You don't need to see a doctor.", "seek_care", "no need", "service:doctor"),
        ("Check your blood pressure.", "monitor", "do", "test:blood pressure"),
        ("You mustn't drive.", "drive", "don't", "activity:driving"),
    ],
)
def test_reads_action_polarity_and_object(text: str, action: str, polarity: str, thing: str) -> None:
    """Imperatives, modals, judgements, hedges and questions that recommend each give one structured directive."""
    advice = only(text)
    assert (advice.action, advice.polarity, advice.object) == (action, polarity, thing)


@pytest.mark.parametrize(
    "text",
    [
        "Sertraline can make you feel queasy in the first weeks.",
        "Metformin lowers the sugar that your liver makes.",
        "Have you taken any ibuprofen yet?",
        "Do you take aspirin every day?",
        "I'm so sorry to hear about your mother.",
        "You told me that you took warfarin last year.",
        "I know it's tempting to stop the tablets.",
        "The clinic may ask you to pause it.",
        "You may need to stop metformin around the scan.",
        "What time do you take it?",
        "",
        "   \n\t ",
    ],
)
def test_description_and_questions_give_no_advice(text: str) -> None:
    """Sentences that only describe, ask, sympathise or foresee hold no directive."""
    assert find_advice(text) == []


def test_hidden_reasoning_gives_no_advice() -> None:
    """What stands in a reasoning block was never said to the patient."""
    text = "<think>Take ibuprofen. Stop warfarin.</think>Take paracetamol."
    assert [item.object for item in find_advice(text)] == ["drug:paracetamol"]


def test_one_sentence_holds_several_directives() -> None:
    """Joined instructions are read one by one, and each keeps its own polarity."""
    found = find_advice("Don't have any more edoxaban tonight and go straight to hospital.")
    assert [(item.action, item.polarity) for item in found] == [("take", "don't"), ("seek_care", "do")]


def test_negation_covers_an_or_list() -> None:
    """ "don't raise, lower or skip": the negation holds for all three verbs."""
    found = find_advice("Please don't raise, lower or skip the dose.")
    assert [(item.action, item.polarity) for item in found] == [
        ("increase", "don't"),
        ("decrease", "don't"),
        ("avoid", "don't"),
    ]


def test_details_of_a_regimen() -> None:
    """Dose, frequency, food and duration of one instruction."""
    advice = only("Take amoxicillin 500 mg three times a day with food for five days.")
    assert advice.dose == "500 mg"
    assert advice.frequency == "3 a day"
    assert advice.timing == "with food"
    assert advice.duration == "5 days"


def test_condition_urgency_and_reason() -> None:
    """What limits the advice, how soon, and why."""
    advice = only("If you faint, call your GP today because the dose may be too high.")
    assert advice.condition == "If you faint"
    assert advice.condition_kind == "if"
    assert advice.urgency == "same day"
    assert advice.reason == "because the dose may be too high"


def test_quote_is_the_sentence_with_its_place() -> None:
    """The quote stands in the raw reply at the offsets given."""
    text = "Hello there.\n\n- **Rest** it.\n- Avoid\u202fibuprofen 🙏 for now!"
    advice = find_advice(text)[-1]
    assert text[advice.start : advice.end] == advice.quote
    assert advice.quote.startswith("Avoid")


def test_list_item_with_a_label() -> None:
    """A bold label names the object of the instruction behind it."""
    found = find_advice("- **Lisinopril:** stay off it until Friday\n- **Apixaban:** no change, 5 mg twice a day\n")
    assert [(item.object, item.stance) for item in found] == [("drug:lisinopril", -1), ("drug:apixaban", 1)]


def test_table_row_label_is_the_object() -> None:
    """In a table the row's label names what the cell speaks of."""
    table = "| Medicine | While you are ill |\n|---|---|\n| Ramipril | Stop taking |\n| Insulin | Keep taking |\n"
    assert [(item.object, item.stance) for item in find_advice(table)] == [("drug:ramipril", -1), ("class:insulin", 1)]


def test_pronoun_stands_for_the_medicine_before() -> None:
    """ "it" is the medicine that the sentence or the one before speaks of."""
    found = find_advice("Naproxen is hard on the kidneys. Please don't take it.")
    assert [(item.object, item.polarity) for item in found] == [("drug:naproxen", "don't")]


def test_how_is_not_whether() -> None:
    """Negating the manner of use does not forbid the medicine."""
    assert only("Don't take levothyroxine with coffee.").stance == 0
    assert only("You don't need to take apixaban with food.").stance == 0
    assert only("Don't take ibuprofen.").stance == -1


def test_no_need_to_avoid_allows() -> None:
    """Two negatives: the thing may be had."""
    assert only("You don't need to avoid paracetamol.").stance == 1


def test_advice_left_to_a_clinician_is_marked() -> None:
    """A hold until somebody decides is no flat instruction."""
    assert only("Hold the lisinopril until your doctor tells you to restart.").deferred


@pytest.mark.parametrize(
    ("words", "dose", "daily", "per_day"),
    [
        ("5 mg twice a day", 5, 10, 2),
        ("two 500 mg tablets four times a day", 1000, 4000, 4),
        ("500 mg two tablets", 1000, None, None),
        ("400 micrograms daily", 0.4, 0.4, 1),
        ("1 g every 6 hours", 1000, 4000, 4),
        ("once a week", None, None, 1 / 7),
        ("every 72 hours", None, None, 1 / 3),
        ("2.5 mg in the morning and 2.5 mg in the evening", 2.5, 5, 2),
        ("no more than 4 g in 24 hours", None, 4000, None),
        ("from 5 mg to 10 mg", 10, None, None),
        ("within the daily limit", None, None, None),
        ("drink water and rest", None, None, None),
    ],
)
def test_amounts(words: str, dose: float | None, daily: float | None, per_day: float | None) -> None:
    """Doses are in milligrams, frequencies in times per day."""
    amounts = read_amounts(words.split())
    assert (amounts.dose.low if amounts.dose else None) == pytest.approx(dose)
    assert (amounts.daily.high if amounts.daily else None) == pytest.approx(daily)
    assert (amounts.per_day[0] if amounts.per_day else None) == pytest.approx(per_day)


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    """No text raises, and every quote stands where it says."""
    for item in find_advice(text):
        assert text[item.start : item.end] == item.quote


def test_time_grows_with_length_only() -> None:
    """Ten times the text takes about ten times as long, also without any punctuation."""
    unit = "take ibuprofen if you can and don't stop the warfarin until you see a doctor "

    def seconds(count: int) -> float:
        text = unit * count + str(count)
        return cpu_seconds(lambda: find_advice(text))

    seconds(20)
    small, large = (min(seconds(count) for _ in range(2)) for count in (200, 2000))
    assert large < 40 * max(small, 0.005)  # quadratic growth would be 100 times
