"""Advice in a reply: what it tells the patient to do or not to do, with what, how much, how soon, and when it applies.

find_advice("Don't take ibuprofen; paracetamol 1 g up to four times a day is safer.")
[Advice(action='take', polarity="don't", object='drug:ibuprofen', …), Advice(action='take', polarity='do', …)]
"""

from __future__ import annotations

from functools import lru_cache

from pytest_clinical_drift.evidence.guidance.directives import read_advice
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.text import Document, read

__all__ = ["Advice", "advice_of", "document_of", "find_advice"]


def find_advice(text: str) -> list[Advice]:
    """Every directive of a reply, in order; hidden reasoning gives none."""
    return list(advice_of(text))


@lru_cache(maxsize=512)
def document_of(text: str) -> Document:
    """The text, read once."""
    return read(text)


@lru_cache(maxsize=2048)
def advice_of(text: str) -> tuple[Advice, ...]:
    """`find_advice`, remembered: comparing all turns of a conversation reads each reply once."""
    return tuple(read_advice(document_of(text)))
