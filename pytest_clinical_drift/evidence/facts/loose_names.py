"""Conditions named loosely: all words of one wording close together, in any order: "sleep apnoea (obstructive)"."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import cast

from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.wording import loose_stem, loose_stems
from pytest_clinical_drift.evidence.terms.index import places_in
from pytest_clinical_drift.evidence.terms.vocabulary import Concept, word_set
from pytest_clinical_drift.evidence.text import CELL, Document, tokenise

_LOOSE_REACH = 6
_MOST = 200  # places of a word that are tried, so that a text of near-matches stays linear
_TRIVIAL = word_set("condition", "trivial")


@lru_cache(maxsize=4096)
def _wordings(concept: Concept) -> tuple[tuple[str, ...], ...]:
    """The stems of every wording of a concept that has two content words or more."""
    found = []
    for wording in [concept.name, *map(str, concept.data.get("synonyms", ())), *map(str, concept.data.get("lay", ()))]:
        words = [word for word in tokenise(wording) if word not in _TRIVIAL]
        keys = tuple(dict.fromkeys(map(loose_stem, words)))
        if len(keys) >= 2 and _DENIALS.isdisjoint(words):  # a denial holds for what follows it: "no friends"
            found.append(keys)
    return tuple(dict.fromkeys(found))


def loosely_named(document: Document, concept: Concept) -> list[Term]:
    """All words of one wording close together in one sentence, in any order: "sleep apnoea (obstructive)"."""
    found: list[Term] = []
    stems = loose_stems(document)
    present = cast("frozenset[str] | None", document.cache.get("loose stem set"))
    if present is None:
        present = frozenset(stems)
        document.cache["loose stem set"] = present
    for keys in _wordings(concept):
        if not present.issuperset(keys):
            continue
        places_of = {key: places_in(stems, key) for key in keys}
        rarest = min(keys, key=lambda key: len(places_of[key]))
        for start in places_of[rarest][:_MOST]:
            places = [start]
            for key in keys:
                if key == rarest:
                    continue
                nearest = _nearest(document, places_of[key], start)
                if nearest is None:
                    break
                places.append(nearest)
            else:
                if len(set(places)) == len(places) and _unbroken(document, sorted(places)):
                    found.append(_as_mention(document, concept, places))
    return found


def _nearest(document: Document, places: list[int], start: int) -> int | None:
    at = bisect_left(places, start)
    near = [p for p in places[max(0, at - 1) : at + 1] if abs(p - start) <= _LOOSE_REACH]
    near = [p for p in near if document.sentences[p] == document.sentences[start] or _in_one_row(document, p, start)]
    return min(near, key=lambda p: abs(p - start), default=None)


def _in_one_row(document: Document, one: int, other: int) -> bool:
    cells = document.segment_kinds[document.segments[one]] == document.segment_kinds[document.segments[other]] == CELL
    return cells and document.lines[one] == document.lines[other]


_DENIALS = word_set("condition", "denials")


def _as_mention(document: Document, concept: Concept, places: list[int]) -> Term:
    """A mention over all the words; where a denial stands among them, only what it denies."""
    first, last = min(places), max(places)
    inside = [i for i in range(first, last) if document.words[i] in _DENIALS]
    if inside:
        after = [p for p in places if p > inside[0]]
        return Term(concept, after[0], after[0]) if after else Term(concept, last, last)
    return Term(concept, first, last)


def _unbroken(document: Document, places: list[int]) -> bool:
    """No boundary of a statement between the words, nor a "will" that leaves it open."""
    first, last = places[0], places[-1]
    if not _OPEN.isdisjoint(document.words[first : last + 1]):
        return False
    gaps = document.gaps[first + 1 : last + 1]
    apart = last - first + 1 > len(places) and _LISTING.isdisjoint(document.words[first + 1 : last])
    denied = any("," in gap and document.words[first + 1 + i] in _DENIALS for i, gap in enumerate(gaps))
    if apart and not denied and any("," in gap for gap in gaps):
        return False  # "in preparation for dialysis, a fistula"; but "denies laxative, diuretic or diet pill use"
    return not any(";" in gap or "." in gap for gap in gaps)


_LISTING = frozenset(("and", "or", "nor"))


_OPEN = frozenset(("will", "would", "may", "might", "could", "if"))
