"""Hidden reasoning in a reply: where it stands, and the text without it."""

from __future__ import annotations

import re

_NAMES = (
    r"(?:seed:)?think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|scratch_?pad|inner_monologue|"
    r"chain_of_thought|cot|antthinking|deliberation"
)
# One alternation for every family of markers; group 1 is set for a closing tag, group 2 for an opening one.
_TAG = re.compile(
    rf"(<\s*/\s*(?:{_NAMES})\s*>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>)"
    rf"|(<\s*(?:{_NAMES})(?:\s[^<>]{{0,80}})?>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|channel\|>(?:analysis|commentary)(?:<\|message\|>)?)",
    re.IGNORECASE,
)


def hidden_spans(text: str) -> list[tuple[int, int]]:
    """Spans of reasoning blocks: closed, unclosed (to the end), or closed only (everything before it)."""
    if "<" not in text and "[" not in text and "◁" not in text:
        return []
    spans: list[tuple[int, int]] = []
    opened: int | None = None
    for tag in _TAG.finditer(text):
        if tag.group(1) is None:
            opened = tag.start() if opened is None else opened
        elif opened is None:
            spans = [(0, tag.end())]
        else:
            spans.append((opened, tag.end()))
            opened = None
    if opened is not None:
        spans.append((opened, len(text)))
    return spans


def strip_reasoning(text: str) -> str:
    """What the patient or a colleague would see: the text without its reasoning blocks."""
    spans = hidden_spans(text)
    if not spans:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        pieces.append(text[done:start])
        done = end
    pieces.append(text[done:])
    return "".join(pieces).strip()


def never_left_reasoning(text: str) -> bool:
    """Whether the text opens a reasoning block, never closes it, and shows nothing outside."""
    spans = hidden_spans(text)
    return bool(spans) and spans[-1][1] == len(text) and not strip_reasoning(text)
