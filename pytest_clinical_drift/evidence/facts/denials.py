"""Denials that reach over a place or a company: "has never been in the army"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_LIGHT = word_set("social", "never")
_REACH = 6


def never_there(document: Document, token: int) -> bool:
    """Whether nothing but light words stands between a "never" and a token."""
    start = max(document.clause_span(token)[0], token - _REACH)
    for place in range(token - 1, start - 1, -1):
        word = document.words[place]
        if word == "never":
            return True
        if word not in _LIGHT:
            return False
    return False


def straight_denial(document: Document, token: int) -> bool:
    """ "not concerned about …", "no longer lonely": the denial stands straight before the wording."""
    if token == 0 or document.gaps[token] or document.sentences[token - 1] != document.sentences[token]:
        return False
    before = document.words[max(0, token - 2) : token]
    return before[-1] in ("not", "never") or before == ["no", "longer"]
