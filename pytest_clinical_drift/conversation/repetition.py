"""Replies that loop are shortened before they enter the history; what is scored stays raw."""

from __future__ import annotations

import re

LIMIT = 0.30
"""Share of repeated words above which a reply is cleaned."""
_WINDOW = 8
"""Words that must recur together to count as repetition: long enough to spare ordinary phrasing."""
_WORD = re.compile(r"\S+")
_RUN = re.compile(r"(\S)\1{79,}")


def repeated_share(text: str) -> float:
    """Share of words that stand in a stretch of eight words which occurred before; 0.0 for short texts."""
    words = _WORD.findall(text)
    return sum(_repeats(words)) / len(words) if words else 0.0


def clean_repetition(text: str) -> tuple[str, bool]:
    """The text without its repeated stretches, and whether anything was cut; one pass, linear in the length."""
    shortened = _RUN.sub(lambda run: run.group()[:8], text)
    found = list(_WORD.finditer(shortened))
    repeats = _repeats([word.group() for word in found])
    if not found or sum(repeats) / len(found) <= LIMIT:
        return shortened, shortened != text
    pieces: list[str] = []
    previous_end = 0
    for word, repeated in zip(found, repeats, strict=True):
        if not repeated:
            pieces.append(shortened[previous_end : word.end()])
        previous_end = word.end()
    return "".join(pieces).strip(), True


def _repeats(words: list[str]) -> list[bool]:
    """For each word, whether it lies in a window of words that stood earlier in the text."""
    marks = [False] * len(words)
    seen: set[int] = set()
    marked_to = 0
    for start in range(len(words) - _WINDOW + 1):
        window = hash(tuple(words[start : start + _WINDOW]))
        if window in seen:
            for index in range(max(start, marked_to), start + _WINDOW):
                marks[index] = True
            marked_to = start + _WINDOW
        seen.add(window)
    return marks
