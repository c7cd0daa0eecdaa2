"""Terms with several readings ("MS", "PET", "BPD"): the one that the rest of the text supports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, load_data


@dataclass(frozen=True, slots=True)
class _Reading:
    means: str
    is_condition: bool
    near: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=1)
def _readings() -> dict[str, tuple[str, tuple[_Reading, ...]]]:
    table = {}
    for entry in load_data("ambiguous_terms") or []:
        readings = tuple(
            _Reading(
                str(r["means"]), r["kind"] == "condition", tuple(tokenise(str(word)) for word in r.get("near", ()))
            )
            for r in entry["readings"]
        )
        table[str(entry["term"])] = (str(entry.get("usual", "")), readings)
    return table


def resolve_ambiguous(document: Document, terms: Iterable[Term]) -> Iterator[Term]:
    """Terms with supported readings made firm and refuted ones left out; undecided ones stay weak."""
    words: frozenset[str] | None = None
    for term in terms:
        if not term.weak or term.concept.kind != CONDITION:
            yield term
            continue
        spelled = document.quote(term.first, term.last)
        entry = _readings().get(spelled) or _readings().get(spelled.lower())
        if entry is None:
            yield term
            continue
        first, stop = document.sentence_span(term.first)
        chosen = _choose(
            "", entry[1], frozenset(document.words[max(first, term.first - 30) : min(stop, term.last + 30)])
        )
        if chosen is None:
            if words is None:
                words = frozenset(document.words)
            chosen = _choose(entry[0], entry[1], words)
        if chosen is None:
            yield term
        elif chosen == term.concept.name:
            yield term._replace(weak=False)


def _choose(usual: str, readings: tuple[_Reading, ...], words: frozenset[str]) -> str | None:
    """The reading with most support, the usual one without any, None when the text does not decide."""
    support = [(sum(all(w in words for w in near) for near in r.near if near), r.means) for r in readings]
    best = max(count for count, _ in support)
    leaders = [means for count, means in support if count == best]
    if best and len(leaders) == 1:
        return leaders[0]
    return usual or None
