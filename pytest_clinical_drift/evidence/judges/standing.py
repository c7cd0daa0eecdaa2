"""Which oppositions between whole replies stand on their own words, without knowing what was said in between.

A conversation goes on: medicines are started, stepped up and stopped by others, and the patient's messages are not
seen here. Two regimens that differ are no contradiction by themselves; a rule that is broken later is one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_ON_RULES = ("avoid/use", "start/stop", "food", "polarity")


def stands(kind: str, earlier: str, later: str, *, apart: bool) -> bool:
    """Whether an opposition between two whole replies may be called a contradiction; `apart`: not adjacent turns."""
    before, after = earlier.lower(), later.lower()
    if _has("open", after) or _has("placed", before) or _has("answers", before) or _has("answers", after):
        return False
    if kind == "direction" and _has("rule", after):
        return False
    if kind == "urgency":
        return (_has("waiting", before) or _has("waiting", after)) and not _has("past", after)
    if kind == "polarity" and _has("emergency", before) and _has("emergency", after):
        return False
    if kind == "food" and (_has("measured", before) or _has("measured", after)):
        return False
    if kind == "start/stop" and _has("conditional", before):
        return False
    if kind in _ON_RULES:
        return not apart or _has("rule", before) or (_has("ends", before) and not _has("for_now", before))
    if kind in ("dose", "frequency") and apart:
        return _has("limit", before) or (
            _has("limit", after) and not (_has("going_on", before) or _has("going_on", after))
        )
    return True


def _has(label: str, text: str) -> bool:
    return _patterns()[label].search(text) is not None


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    return {
        label: re.compile(r"\b(?:" + "|".join(re.escape(str(phrase)) for phrase in phrases) + r")\b")
        for label, phrases in load_data("standing").items()
    }
