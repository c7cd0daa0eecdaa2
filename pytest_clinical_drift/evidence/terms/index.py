"""The terms of one document, arranged for looking up; of "MS" or "PET" the reading that the text supports."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from operator import attrgetter

from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import Term, find_terms
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, DRUG_CLASS, UNIT, Concept, load_data


@dataclass(frozen=True, slots=True)
class _Reading:
    means: str
    near: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=1)
def _readings() -> dict[str, tuple[str, tuple[_Reading, ...]]]:
    table = {}
    for entry in load_data("ambiguous_terms") or []:
        readings = tuple(
            _Reading(str(r["means"]), tuple(tokenise(str(word)) for word in r.get("near", ())))
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


_WEAK = attrgetter("weak")
_PLACE = attrgetter("first", "last")


def places_in(keys: list[str], key: str) -> list[int]:
    """Positions of a key in a list, found at the speed of `list.index`."""
    found: list[int] = []
    start = 0
    try:
        while True:
            start = keys.index(key, start)
            found.append(start)
            start += 1
    except ValueError:
        return found


@lru_cache(maxsize=8192)
def ids_above(concept: Concept) -> frozenset[str]:
    """Ids of all that a concept is a kind of, states or contains."""
    return concept.ancestors | concept.implies | frozenset(concept.contains)


class _Within(dict[str, list[Term]]):
    """Terms that name something narrower than a concept (a drug of a class), found when asked for."""

    def __init__(self) -> None:
        super().__init__()
        #: Each term with the ids of all that it is a kind of.
        self.terms: list[tuple[frozenset[str], Term]] = []

    def get(self, concept_id: str, default: object = None) -> list[Term]:
        """Terms within a concept."""
        known = super().get(concept_id)
        if known is None:
            known = self[concept_id] = [term for above, term in self.terms if concept_id in above]
        return known


class TermIndex:
    """Terms by concept, by what they are a kind of, and by position."""

    __slots__ = ("_starts", "by_kind", "document", "exact", "medicine_starts", "medicines", "units", "within")

    def __init__(self, document: Document) -> None:
        self.document = document
        #: Terms that name a concept itself.
        self.exact: dict[str, list[Term]] = (exact := defaultdict[str, list[Term]](list))
        self.within = _Within()
        self.by_kind: dict[str, list[Term]] = (by_kind := defaultdict[str, list[Term]](list))
        self.units: dict[int, Term] = {}
        self._starts: dict[str, list[int]] = {}
        nested = self.within.terms
        terms = find_terms(document, weak=True)
        if any(term.concept.kind == CONDITION for term in compress(terms, map(_WEAK, terms))):
            terms = list(resolve_ambiguous(document, terms))
        if "(" in document.raw:
            terms = list(_merged(document, terms))
        for term in terms:
            concept, first, last, weak, _ = term
            kind = concept.kind
            by_kind[kind].append(term)
            if kind == UNIT:
                known = self.units.get(first)
                if known is None or known.last < last:
                    self.units[first] = term
                continue
            exact[concept.id].append(term)
            if not weak:
                above = ids_above(concept)
                if above:
                    nested.append((above, term))
        medicines = [t for kind in (DRUG, DRUG_CLASS) if kind in by_kind for t in by_kind[kind] if not t.weak]
        self.medicines = sorted(medicines, key=_PLACE)
        self.medicine_starts = [term.first for term in self.medicines]

    def between(self, kind: str, first: int, stop: int) -> list[Term]:
        """Terms of a kind that start from token `first` up to before `stop`."""
        terms = self.by_kind.get(kind, [])
        starts = self._starts.get(kind)
        if starts is None:
            starts = self._starts[kind] = [term.first for term in terms]
        return terms[bisect_left(starts, first) : bisect_left(starts, stop)]

    def medicines_between(self, first: int, stop: int) -> list[Term]:
        """Drugs and classes named from token `first` up to before `stop`."""
        starts = self.medicine_starts
        return self.medicines[bisect_left(starts, first) : bisect_left(starts, stop)]

    def places(self, word: str) -> list[int]:
        """Tokens at which a normalised word stands."""
        return places_in(self.document.words, word)


def _merged(document: Document, terms: Iterable[Term]) -> Iterator[Term]:
    """Terms with a second name in brackets taken in: "generalised anxiety disorder (GAD)" is one mention."""
    last_of: dict[str, Term] = {}
    kept: list[Term] = []
    places: dict[str, int] = {}
    for term in terms:
        before = last_of.get(term.concept.id)
        if before is not None and before.last + 1 == term.first and document.gaps[term.first][:1] == "(":
            joined = before._replace(last=term.last, weak=before.weak and term.weak)
            kept[places[term.concept.id]] = joined
            last_of[term.concept.id] = joined
        else:
            places[term.concept.id] = len(kept)
            kept.append(term)
            last_of[term.concept.id] = term
    return iter(kept)


def named_ids(document: Document) -> set[str]:
    """Ids of every concept that a text names itself or by something narrower."""
    index = term_index(document)
    named = {concept_id for concept_id, terms in index.exact.items() if terms}
    return named.union(*(above for above, _ in index.within.terms))


def term_index(document: Document) -> TermIndex:
    """The index of a document."""
    index: TermIndex | None = document.cache.get("index")
    if index is None:
        index = TermIndex(document)
        document.cache["index"] = index
    return index
