"""What holds of every text: it can be read, at a cost that grows with its length."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from growth import growth_ratio
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clinical_drift.evidence.reading.text import Document, read


def _check(document: Document) -> None:
    """What must hold of any document."""
    total = len(document)
    lists = (document.starts, document.ends, document.kinds, document.gaps, document.sentences, document.clauses,
             document.segments, document.lines)  # fmt: skip
    assert all(len(values) == total for values in lists)
    assert all(0 <= a < b <= len(document.raw) for a, b in zip(document.starts, document.ends, strict=True))
    assert document.starts == sorted(document.starts)
    for values in (document.sentences, document.clauses, document.segments, document.lines):
        assert values == sorted(values)
    for index in range(total):
        first, stop = document.sentence_span(index)
        assert first <= index < stop
        first, stop = document.clause_span(index)
        assert first <= index < stop
        document.labels_of(index)


_PIECES = st.sampled_from(
    ["a", "B", "1", ".", ",", ":", ";", " ", "  ", "\n", "|", "-", "–", "*", "**", "#", "# ", "'", "'s", "n't", "½",
     "/", "(", ")", "[", "]", "{", "}", '"', "<", ">", "<think>", "</think>", "\t", "\u00ad", "\u0301", "\u202f",
     "\u202e", "🤰", "\x00", "\r", "\u2028", "**NAME[", "|---|", "1. ", "- ", "\ud800", "İ", "ﬁ", "²", "№"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=50).map("".join) | st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    """Hostile text raises nothing and leaves a consistent document."""
    _check(read(text))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["asthma", "50", "mg", "sertraline", "daily", "no", "fever"]), min_size=1, max_size=8),
    st.sampled_from([" ", "\u202f", "\u00a0", "  "]),
)
def test_white_space_changes_no_word(words: list[str], space: str) -> None:
    """The kind and amount of white space between words does not matter."""
    assert read(space.join(words)).words == words


@pytest.mark.parametrize(
    "unit",
    ["a", "|", "{", '"', "<", "<think>", "<!-- ", "**", "1,", "1/", "a.", "a'", "[**", "**A[", "- ", "\n", "a: ",
     "e\u0301", '{"a":', "didn't ", "| a | b |\n", "# a\n", "1. a\n", "a:  ", "\u200b"],
)  # fmt: skip
def test_cost_is_linear(unit: str) -> None:
    """Four times the text takes about four times as long, whatever it is made of; quadratic growth would be sixteen."""

    def work(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))
        return lambda: read(text)

    assert growth_ratio(work, 20_000, 4) < 9
