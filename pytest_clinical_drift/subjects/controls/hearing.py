"""What a control hears: the intake and the patient's messages, taken from the chat messages alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...transcript import Message

_PROBE = "handover summary"
"""Words by which the request for a summary is recognised."""
_BLANK_LINE = re.compile(r"\n\s*\n")
_TITLES = ("mr", "mrs", "ms", "dr", "st", "prof", "vs", "approx", "no")
_SENTENCE_END = re.compile(r"[.!?]+[\"')\]]*\s+")


@dataclass(frozen=True, slots=True)
class Heard:
    """A conversation as its listener has it."""

    intake: str
    """The patient's record as given before the first message."""
    messages: tuple[str, ...]
    """The patient's words, one entry per turn."""
    summary_wanted: bool
    """The last message asks for a summary instead of a reply."""

    @property
    def turn(self) -> int:
        return len(self.messages)

    @property
    def latest(self) -> str:
        return self.messages[-1] if self.messages else ""


def listen(messages: Sequence[Message]) -> Heard:
    """Take a conversation apart; nothing but the messages is known."""
    said = [message.content for message in messages if message.role == "user"]
    summary_wanted = bool(said) and _PROBE in said[-1].lower()
    if summary_wanted:
        said = said[:-1]
    if not said:
        return Heard("", (), summary_wanted)
    intake, first = _open(said[0])
    return Heard(intake, (first, *said[1:]), summary_wanted)


def sentences(text: str) -> list[str]:
    """Split into sentences; titles, initials and decimal points do not end one."""
    found: list[str] = []
    start = 0
    flat = " ".join(text.split())
    for end in _SENTENCE_END.finditer(flat):
        last_word = flat[start : end.start()].rpartition(" ")[2].strip("(\"'")
        if flat[end.start()] == "." and (last_word.lower() in _TITLES or _is_initial(last_word)):
            continue
        found.append(flat[start : end.end()].strip())
        start = end.end()
    if start < len(flat):
        found.append(flat[start:])
    return found


def _is_initial(word: str) -> bool:
    return len(word) == 1 and word.isupper() and word != "I"


def _open(content: str) -> tuple[str, str]:
    """Split the first user message: a preface, the intake, a preface that ends in a colon, the patient's words."""
    paragraphs = [part.strip() for part in _BLANK_LINE.split(content) if part.strip()]
    for index in range(2, len(paragraphs) - 1):
        if paragraphs[index].endswith(":"):
            return "\n\n".join(paragraphs[1:index]), "\n\n".join(paragraphs[index + 1 :])
    return "", "\n\n".join(paragraphs)
