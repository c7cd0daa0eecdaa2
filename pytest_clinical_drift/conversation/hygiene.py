"""Replies on their way into history: hidden reasoning is taken out, loops are shortened; what is stored stays raw."""

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

_LIMIT = 0.30
"""Share of repeated words above which a reply is cleaned."""
_WINDOW = 8
"""Words that must recur together to count as repetition: long enough to spare ordinary phrasing."""
_WORD = re.compile(r"\S+")
_RUN = re.compile(r"(\S)\1{79,}")


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
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True)).strip()


def never_left_reasoning(text: str) -> bool:
    """Whether the text opens a reasoning block, never closes it, and shows nothing outside."""
    spans = hidden_spans(text)
    return bool(spans) and spans[-1][1] == len(text) and not strip_reasoning(text)


def clean_repetition(text: str) -> tuple[str, bool]:
    """The text without its repeated stretches, and whether anything was cut; one pass, linear in the length."""
    shortened = _RUN.sub(lambda run: run.group()[:8], text)
    words = list(_WORD.finditer(shortened))
    repeats = _repeats([word.group() for word in words])
    if not words or sum(repeats) / len(words) <= _LIMIT:
        return shortened, shortened != text
    pieces: list[str] = []
    previous_end = 0
    for word, repeated in zip(words, repeats, strict=True):
        if not repeated:
            pieces.append(shortened[previous_end : word.end()])
        previous_end = word.end()
    return "".join(pieces).strip(), True


def _repeats(words: list[str]) -> list[bool]:
    """For each word, whether it lies in a window of words that stood earlier in the text."""
    marks = [False] * len(words)
    seen: set[int] = set()
    for start in range(len(words) - _WINDOW + 1):
        window = hash(tuple(words[start : start + _WINDOW]))
        if window in seen:
            marks[start : start + _WINDOW] = [True] * _WINDOW
        seen.add(window)
    return marks
