"""Words marked in their text: nothing added, nothing lost, nothing run."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.report.clean import Mark, find_quote, marked, printable

_TAG = re.compile(r"</?mark(?: [^<>]*)?>")


def test_marks_are_escaped_and_do_not_nest() -> None:
    """Marks keep the order of the text; a span inside another is not opened twice."""
    shown = marked("<i> hello & bye", [Mark(4, 9, "retained", 'a & "b"'), Mark(5, 7, "retained", "c")])
    assert shown == '&lt;i&gt; <mark class="retained" title="a &amp; &#34;b&#34;">hello</mark> &amp; bye'


@given(
    st.text(alphabet="ab*#< \n&\x1b\u202e", max_size=40),
    st.lists(st.tuples(st.integers(0, 45), st.integers(0, 45)), max_size=4),
)
def test_text_survives_marking(text: str, spans: list[tuple[int, int]]) -> None:
    """Whatever is marked, the page holds the whole text, with controls made visible."""
    shown = str(marked(text, [Mark(start, end, "open", "t") for start, end in spans]))
    assert html.unescape(_TAG.sub("", shown)) == printable(text)


def test_quote_is_found_across_layout_and_gaps() -> None:
    """White space, bold and table signs do not matter; … leaves out words; what does not stand there is not marked."""
    text = "Allergies:\n**Penicillin**  | anaphylaxis, and later amoxicillin."
    assert [text[a:b] for a, b in find_quote(text, "penicillin anaphylaxis … amoxicillin")] == [
        "Penicillin**  | anaphylaxis",
        "amoxicillin",
    ]
    assert find_quote(text, "ibuprofen") == []
    assert find_quote(text, "…") == []
