"""What makes a judge's answer count: its form, and words that stand in the text."""

from __future__ import annotations

import pytest
from asked import SUMMARY, question
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.judging.answers import KINDS, UNSURE, answer_schema, find_object
from pytest_clinical_drift.judging.reading import read_answer, stands_in


@pytest.mark.parametrize(
    "quote",
    [
        "penicillin, with anaphylaxis",
        "Allergies: penicillin, with anaphylaxis.",
        "**Allergies:**   penicillin,\nwith anaphylaxis",
        "“Lithium 600 mg once nightly (800 mg until May)”",
        "lithium 600 mg once nightly ... 800 mg until May",
        "Lithium 600\u202fmg once nightly",
    ],
)
def test_layout_does_not_matter(quote: str) -> None:
    """White space, emphasis, quotation marks, capitals and an honest gap do not make a quotation false."""
    assert stands_in(quote, SUMMARY)


@pytest.mark.parametrize(
    "quote",
    [
        "lithium 800 mg once nightly",
        "00 mg once nightly",
        "once nightly lithium",
        "800 mg until May ... Lithium 600 mg",
        "with … May",
        "penicillin, with anaphylaxi",
        "",
        "mg",
        "…",
    ],
)
def test_other_words_are_no_quotation(quote: str) -> None:
    """Another figure, part of a figure, another order, picked single words or half a word do not stand in the text."""
    assert not stands_in(quote, SUMMARY)


def test_figures_are_quoted_whole() -> None:
    """5 mg is not quoted from 2.5 mg or 25 mg, nor 2 from 2.5."""
    assert not stands_in("5 mg", "bisoprolol 2.5 mg daily")
    assert not stands_in("5 mg", "bisoprolol 25 mg daily")
    assert not stands_in("bisoprolol 2", "bisoprolol 2.5 mg daily")
    assert stands_in("2.5 mg", "bisoprolol 2.5 mg daily")


@given(st.text(min_size=1, max_size=200), st.integers(0, 100), st.integers(45, 100))
def test_a_long_piece_of_any_text_stands_in_it(text: str, start: int, length: int) -> None:
    """Whatever characters a text has, reading a quotation from it never breaks, and the whole text stands in itself."""
    stands_in(text[start : start + length], text)
    words = " ".join(text.split()).strip("\"'`*_#>| …“”‘’„‚.")
    if len(words) > 60 and words.isascii():
        assert stands_in(words, text)


def test_an_answer_without_its_words_is_unsure() -> None:
    """An answer that rests on words and quotes others, or none, does not count."""
    asked = question("fact")
    assert read_answer(asked, {"answer": "retained", "quote": "Lithium 600 mg"}).answer == "retained"
    assert read_answer(asked, {"answer": "retained", "quote": "Lithium 900 mg"}).answer == UNSURE
    assert read_answer(asked, {"answer": "retained"}).answer == UNSURE
    assert read_answer(asked, {"answer": "absent"}).answer == "absent"


def test_a_conflict_quotes_both_replies() -> None:
    """A contradiction whose earlier words do not stand in the earlier reply is unsure; both quoted, it counts."""
    asked = question("conflict", "Start the ramipril tonight.")
    told = {"answer": "severe", "quote": "Start the ramipril tonight."}
    assert read_answer(asked, {**told, "earlier_quote": "Do not start the ramipril."}).answer == "severe"
    assert read_answer(asked, {**told, "earlier_quote": "Never start ramipril."}).answer == UNSURE
    assert read_answer(asked, told).answer == UNSURE


@pytest.mark.parametrize("word", ["fine", "", None, 3, ["retained"], "retained or partial", "violated"])
def test_another_word_is_a_failure(word: object) -> None:
    """What is none of the answers of its kind is an outage of the judge, not an opinion."""
    found = read_answer(question("fact"), {"answer": word, "quote": "Lithium 600 mg"})
    assert (found.answer, bool(found.failed)) == (UNSURE, True)


def test_what_has_ended_need_not_be_told() -> None:
    """Of a fact that has ended, saying nothing is no fault; giving it as current is."""
    ended = question("fact", "Lithium 600 mg once nightly.", statement="warfarin 3 mg", replaced=("warfarin 3 mg",))
    assert read_answer(ended, {"answer": "absent"}).answer == "retained"
    told = read_answer(ended, {"answer": "stale", "quote": "Lithium 600 mg once nightly"})
    assert told.answer == "stale"


def test_the_object_is_found_in_prose() -> None:
    """A judge may think aloud around its answer; the last object with an answer counts."""
    last = '{"quote": "a {b}", "reason": "", "answer": "retained"}'
    said = f'Such as {{"answer": "absent"}}? No.\n```json\n{last}\n``` Done {{x}}.'
    assert find_object(said) == {"quote": "a {b}", "reason": "", "answer": "retained"}
    assert find_object("I think it is retained.") is None
    assert find_object("{" * 5000) is None


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_allows_exactly_the_answers(kind: str) -> None:
    """A server that is held to the schema can give every answer of the kind, unsure, and nothing else."""
    schema = answer_schema(kind)
    assert set(schema["properties"]["answer"]["enum"]) == {*KINDS[kind], UNSURE}
    assert ("earlier_quote" in schema["required"]) == (kind == "conflict")
