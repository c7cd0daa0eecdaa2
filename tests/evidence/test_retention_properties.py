"""What must hold of every fact and every summary: formatting, unrelated sentences, other people, hostile text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from retention_examples import EXAMPLES

from pytest_clinical_drift.evidence.retention import assess_retention

FACTS = {
    "panic disorder": "She has panic disorder.",
    "sertraline 50 mg once daily": "She takes sertraline 50 mg once daily.",
    "penicillin allergy": "She has a penicillin allergy.",
    "lives with her parents": "She lives with her parents.",
    "no psychotropic medication": "She takes no psychotropic medication.",
    "type 2 diabetes": "She has type 2 diabetes.",
    "HbA1c 58 mmol/mol": "Her HbA1c is 58 mmol/mol.",
    "gastrointestinal bleed in March 2022": "She had a gastrointestinal bleed in March 2022.",
    "severe asthma": "She has severe asthma.",
    "works night shifts": "She works night shifts.",
}
UNRELATED = [
    "The weather has been mild this week.",
    "She enjoys gardening and old films.",
    "The next appointment is on Tuesday.",
    "Thank you for your message.",
    "Her brother plays football.",
    "A leaflet was handed over.",
    "She has no questions.",
    "The letter was not opened.",
    "Her neighbour has a new dog.",
    "If anything changes, please call.",
    "She has gout.",
    "She does not have gout.",
    "Paracetamol 500 mg was offered.",
]
SPACES = st.sampled_from([" ", "  ", "\u00a0", "\u202f", "\u2009"])
BULLETS = st.sampled_from(["", "- ", "* ", "• ", "1. ", "> "])
EMPHASIS = st.sampled_from(["", "**", "*", "__"])
fast = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def status(summary: str, fact: str) -> str:
    return assess_retention(summary, [fact])[0].status


@pytest.mark.parametrize(("fact", "sentence"), FACTS.items())
def test_the_plain_sentences_are_retained(fact: str, sentence: str) -> None:
    """The ground the properties stand on."""
    assert status(sentence, fact) == "retained"


@fast
@given(st.sampled_from(sorted(FACTS)), SPACES, BULLETS, EMPHASIS, st.booleans(), st.sampled_from(["", "\n", " \n\n"]))
def test_formatting_changes_nothing(fact: str, space: str, bullet: str, mark: str, upper: bool, end: str) -> None:
    """Spaces, capitals, bullets and bold type never change a status."""
    sentence = FACTS[fact].upper() if upper else FACTS[fact]
    formatted = f"{bullet}{mark}{sentence.replace(' ', space)}{mark}{end}"
    assert status(formatted, fact) == "retained"


@fast
@given(st.sampled_from(sorted(FACTS)), st.lists(st.sampled_from(UNRELATED), max_size=4), st.booleans())
def test_unrelated_sentences_change_nothing(fact: str, others: list[str], before: bool) -> None:
    """What else the summary says never changes the status of a fact."""
    parts = [*others, FACTS[fact]] if before else [FACTS[fact], *others]
    assert status(" ".join(parts), fact) == "retained"


@fast
@given(st.sampled_from(range(len(EXAMPLES))), st.sampled_from(UNRELATED[:10]))
def test_unrelated_sentence_after_a_whole_summary(number: int, other: str) -> None:
    """The same, on whole summaries of every style."""
    summary, facts = EXAMPLES[number]
    plain = [found.status for found in assess_retention(summary, list(facts))]
    assert [found.status for found in assess_retention(f"{summary}\n\n{other}", list(facts))] == plain


@pytest.mark.parametrize("relative", ["mother", "father", "brother", "partner", "daughter", "best friend", "flatmate"])
@pytest.mark.parametrize(
    ("fact", "predicate"),
    [
        ("panic disorder", "has panic disorder"),
        ("sertraline 50 mg once daily", "takes sertraline 50 mg once daily"),
        ("penicillin allergy", "has a penicillin allergy"),
        ("type 2 diabetes", "has type 2 diabetes"),
        ("severe asthma", "suffers from severe asthma"),
        ("works night shifts", "works night shifts"),
        ("gout", "was diagnosed with gout"),
    ],
)
def test_another_person_is_not_the_patient(relative: str, fact: str, predicate: str) -> None:
    """A fact stated only of someone else is never retained."""
    for sentence in (f"The patient's {relative} {predicate}.", f"Her {relative} {predicate}."):
        assert status(sentence, fact) not in ("retained", "partial"), sentence


HOSTILE = [
    "\x00\x01\x02 sertraline \x1b[31m 50 mg",
    "a" * 1_000_000,
    "<think>" * 2_000 + "</b></think><i>",
    "\u202esertraline 50 mg\u202c \u200f\u200e",
    "🤰💊" * 500 + " sertraline 50 mg 🧑‍⚕️",
    "|" * 5_000,
    "**" * 5_000,
    "(" * 3_000 + "no " * 3_000,
    "\ud800 lone surrogate",
    "50 " * 5_000 + "mg",
    "no not never " * 3_000,
    "1/2/3/4/5/6/7 " * 500,
    "﷽" * 100,
    "0" * 5_000 + " mg sertraline",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_raises_nothing(text: str) -> None:
    """Control characters, endless words, broken tags and marks of direction give a status like any other text."""
    for found in assess_retention(text, [*FACTS, "weight 60 kg", "two falls in the past month", text[:60]]):
        assert found.status in ("retained", "partial", "contradicted", "absent")
        for span in found.evidence:
            assert text[span.start : span.end] == span.quote


@fast
@given(st.text(max_size=300), st.text(min_size=1, max_size=40))
def test_any_text_and_any_fact(text: str, fact: str) -> None:
    """No string is a bad summary, no string a bad fact."""
    assert assess_retention(text, [fact])[0].status in ("retained", "partial", "contradicted", "absent")
