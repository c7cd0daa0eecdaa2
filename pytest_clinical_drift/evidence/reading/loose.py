"""Phrases said loosely: the content words of one wording close together in a sentence, in any order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import cast

from pytest_clinical_drift.evidence.terms.index import places_in
from pytest_clinical_drift.evidence.text import Document

_REACH = 4  # tokens between two words of one phrase
_MOST = 50  # places of a word that are tried, so that a text of near-matches stays linear


def loose_places(document: Document, stems: list[str], phrases: Iterable[tuple[str, ...]]) -> list[int]:
    """First tokens of the places where all words of a phrase stand together."""
    present = cast("frozenset[str] | None", document.cache.get("loose stem set"))
    if present is None:
        present = frozenset(stems)
        document.cache["loose stem set"] = present
    found: list[int] = []
    for keys in phrases:
        if not present.issuperset(keys):
            continue
        places_of = [places_in(stems, key) for key in keys]
        for start in places_of[0][:_MOST]:
            places = [start]
            for others in places_of[1:]:
                near = _nearest(document, others, start)
                if near is None or near in places:
                    break
                places.append(near)
            else:
                found.append(min(places))
    return found


def _nearest(document: Document, places: list[int], start: int) -> int | None:
    at = bisect_left(places, start)
    near = [p for p in places[max(0, at - 1) : at + 1] if 0 < abs(p - start) <= _REACH]
    near = [p for p in near if document.clauses[p] == document.clauses[start]]
    return min(near, key=lambda p: abs(p - start), default=None)
