"""Orders in a reply: verb or judgement, toward or away from what they govern, and under which condition.

    find_advice("Don't take ibuprofen; paracetamol 1 g is safer.")[0]
    Advice(action='take', polarity="don't", object='drug:ibuprofen', …)

Only what is plainly an order, a permission or a warning counts. Questions, quotations and what is only said to be taken
are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pytest_clinical_drift.evidence.advice.sentence import Advice, Sentence
from pytest_clinical_drift.evidence.reading.text import Document, read


def find_advice(text: str) -> list[Advice]:
    """Every order of a reply, in order; hidden reasoning gives none."""
    return list(advice_of(text))


@lru_cache(maxsize=512)
def document_of(text: str) -> Document:
    """The text, read once."""
    return read(text)


@lru_cache(maxsize=1024)
def advice_of(text: str) -> tuple[Advice, ...]:
    """`find_advice`, remembered: comparing the turns of a conversation reads each reply once."""
    return tuple(_read(document_of(text)))


def _read(document: Document) -> Iterator[Advice]:
    starts = document.sentence_starts
    for number, first in enumerate(starts):
        stop = starts[number + 1] if number + 1 < len(starts) else len(document)
        if _is_quoted(document, first) or is_question(document, stop):
            continue
        yield from Sentence(document, first, stop).orders()


def is_question(document: Document, stop: int) -> bool:
    tail = document.raw[document.ends[stop - 1] : document.ends[stop - 1] + 4]
    return "?" in tail.split("\n")[0]


def _is_quoted(document: Document, first: int) -> bool:
    """A blockquote: words to be said to somebody."""
    line = document.raw.rfind("\n", 0, document.starts[first]) + 1
    return document.raw[line : document.starts[first]].lstrip().startswith(">")
