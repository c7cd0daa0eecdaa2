"""Phrases said loosely: the content words of one wording close together in a sentence, in any order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from pytest_clinical_drift.evidence.terms.index import places_in, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import WORD
from pytest_clinical_drift.evidence.text import Document

_REACH = 5  # tokens between two words of one phrase
_MOST = 50  # places of a word that are tried, so that a text of near-matches stays linear


def loose_places(document: Document, stems: list[str], phrases: Iterable[tuple[str, ...]]) -> list[tuple[int, int]]:
    """First and last tokens of the places where all words of a phrase stand together."""
    present: frozenset[str] | None = document.cache.get("loose stem set")
    if present is None:
        present = frozenset(stems)
        document.cache["loose stem set"] = present
    found: list[tuple[int, int]] = []
    for keys in phrases:
        if not all(key in present or key[0] == "<" for key in keys):
            continue
        places_of = [_places(document, stems, key) for key in keys]
        found += gathered(document, places_of)
    return found


def gathered(
    document: Document, places_of: Sequence[list[int]], reach: int = _REACH, units: list[int] | None = None
) -> list[tuple[int, int]]:
    """First and last tokens of the places where one of each list stand near each other in a clause (or other unit)."""
    if not all(places_of):
        return []
    found: list[tuple[int, int]] = []
    for start in places_of[0][:_MOST]:
        places = [start]
        for others in places_of[1:]:
            near = _nearest(units or document.clauses, others, start, reach)
            if near is None or near in places:
                break
            places.append(near)
        else:
            found.append((min(places), max(places)))
    return found


def _places(document: Document, stems: list[str], key: str) -> list[int]:
    """Where a stem stands, or any wording of the cluster that "<name>" refers to."""
    if key[0] != "<":
        return places_in(stems, key)
    index = term_index(document)
    concept_id = f"{WORD}:{key[1:-1].replace('_', ' ')}"
    return sorted({t.first for t in (*index.exact.get(concept_id, ()), *index.within.get(concept_id, ()))})


def _nearest(units: list[int], places: list[int], start: int, reach: int) -> int | None:
    at = bisect_left(places, start)
    near = [p for p in places[max(0, at - 1) : at + 2] if 0 < abs(p - start) <= reach and units[p] == units[start]]
    return min(near, key=lambda p: abs(p - start), default=None)
