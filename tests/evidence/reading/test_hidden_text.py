"""Hidden reasoning and markup never give a token."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.reading.text import read


@pytest.mark.parametrize(
    "text",
    [
        "<think>asthma</think>gout",
        "<thinking>\nasthma\n</thinking>\n\ngout",
        "<THINK>asthma</THINK> gout",
        "<reasoning>asthma</reasoning>gout",
        "<reflection>asthma</reflection>gout",
        "asthma</think>gout",
        "<think>asthma<think>asthma</think>asthma</think>gout",
        "gout <think>asthma and so on",
        "gout <!-- asthma -->",
        "[THINK]asthma[/THINK]gout",
        "<|channel|>analysis<|message|>asthma<|end|><|channel|>final<|message|>gout",
    ],
)
def test_hidden_reasoning_gives_no_tokens(text: str) -> None:
    """Reasoning is masked: closed, unclosed, closed only, nested and in other notations."""
    document = read(text)
    assert [word for word in document.words if word in ("asthma", "gout")] == ["gout"]
    place = document.words.index("gout")
    assert document.spelled(place) == "gout"


def test_markup_is_not_text() -> None:
    """Tags are blanks, a line break is a line break, a comparison is kept."""
    document = read("<b>BP</b> <140<br>No rash")
    assert document.words == ["bp", "<", "140", "no", "rash"]
    assert document.sentences == [0, 0, 0, 1, 1]
