"""Whether two directives of whole replies speak of one situation, beyond naming the same thing."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_clinical_drift.evidence.guidance.figures import alike
from pytest_clinical_drift.evidence.guidance.objects import stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed

_WORD = re.compile(r"[a-z]+")


def common_ground(first: Advice, second: Advice) -> frozenset[str]:
    """Stems both sentences have in common: neither the thing itself, nor dates, nor words about taking it."""
    return (first.topic & second.topic) - _own_words(first) - _own_words(second) - no_situation()


def same_figures(first: Advice, second: Advice) -> bool:
    """Whether both sentences give the same value in the same unit for one matter."""
    return alike(first.figures, second.figures, one_matter=bool(first.topic & second.topic))


@lru_cache(maxsize=1)
def no_situation() -> frozenset[str]:
    """Stems of dates and of words about taking a medicine."""
    return stems(sorted(listed("no_situation")))


@lru_cache(maxsize=4096)
def _stems_of(text: str) -> frozenset[str]:
    return stems(_WORD.findall(text))


def _own_words(advice: Advice) -> frozenset[str]:
    names = " ".join(name.partition(":")[2] for name in advice.objects)
    return _stems_of(f"{advice.object_text} {names}".lower())
