"""What a control remembers of a patient: statements from the intake, kept up to date from what is said later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from .changes import take_up
from .hearing import sentences
from .record import Record
from .vocabulary import plain, words

_DIALECT = [(re.compile(rf"\b{old}\b", re.IGNORECASE), new) for old, new in words("dialect").items()]


def remember(intake: Sequence[str], messages: Iterable[str]) -> Record:
    """A record of these intake sentences, brought up to date by these messages; not to be changed by who gets it."""
    return _remember(tuple(intake), tuple(messages))


@lru_cache(maxsize=128)  # a reply and the summary after it start from the same record
def _remember(intake: tuple[str, ...], messages: tuple[str, ...]) -> Record:
    record = Record([plain(sentence) for sentence in intake], pronoun=_pronoun(" ".join(intake)))
    for message in messages:
        for sentence in sentences(standard(message)):
            take_up(record, sentence)
    return record


def standard(message: str) -> str:
    """A patient's words with dialect spellings of small words replaced."""
    text = plain(message)
    for pattern, replacement in _DIALECT:
        text = pattern.sub(replacement, text)
    return text


def _pronoun(intake: str) -> str:
    if "they/them" in intake.lower():
        return "they"
    counts = {word: len(re.findall(rf"\b{word}\b", intake, re.IGNORECASE)) for word in ("he", "she")}
    if not any(counts.values()):
        return "they"
    return max(counts, key=lambda word: counts[word])
