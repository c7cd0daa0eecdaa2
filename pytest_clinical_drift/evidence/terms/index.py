"""The vocabulary's terms in one document, arranged for looking up."""

from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache
from itertools import compress
from operator import attrgetter
from typing import TypeVar

from pytest_clinical_drift.evidence.reading.text import Document, once
from pytest_clinical_drift.evidence.terms.lexicon import Term, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS, PHRASE, UNIT, Concept

_FIRST, _PLACE = attrgetter("first"), attrgetter("first", "last")
_T = TypeVar("_T")


def between(terms: list[_T], first: int, stop: int) -> list[_T]:
    """Of things that stand in order those that start from token `first` up to before `stop`."""
    low = bisect_left(terms, first, key=_FIRST)
    return terms[low : bisect_left(terms, stop, low, key=_FIRST)]


def places_in(keys: list[str], key: str) -> list[int]:
    return list(compress(range(len(keys)), map(key.__eq__, keys)))


@lru_cache(maxsize=8192)
def ids_above(concept: Concept) -> frozenset[str]:
    """Ids of all that a concept is a kind of, states or contains."""
    return concept.ancestors | concept.implies | frozenset(concept.contains)


class TermIndex:
    """Terms by concept, by what they are a kind of, and by position."""

    __slots__ = ("_within", "by_kind", "exact", "medicines", "nested", "units")

    def __init__(self, document: Document) -> None:
        #: Terms that name a concept itself.
        self.exact: dict[str, list[Term]] = (exact := defaultdict[str, list[Term]](list))
        self.by_kind: dict[str, list[Term]] = (by_kind := defaultdict[str, list[Term]](list))
        self.units: dict[int, Term] = {}
        #: Each term with the ids of all that it is a kind of.
        self.nested: list[tuple[frozenset[str], Term]] = (nested := [])
        self._within: dict[str, list[Term]] = {}
        terms = lexicon().find(document)
        for term in terms:
            concept, first, last, weak = term
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

    def within(self, concept_id: str) -> list[Term]:
        """Terms that name something narrower than a concept: a drug of a class."""
        if concept_id not in self._within:
            self._within[concept_id] = [term for above, term in self.nested if concept_id in above]
        return self._within[concept_id]

    def between(self, kind: str, first: int, stop: int) -> list[Term]:
        """Terms of a kind that start from token `first` up to before `stop`."""
        return between(self.by_kind.get(kind, []), first, stop)

    def medicines_between(self, first: int, stop: int) -> list[Term]:
        """Drugs and classes named from token `first` up to before `stop`."""
        return between(self.medicines, first, stop)


def named_ids(document: Document) -> set[str]:
    """Ids of every concept that a text names itself or by something narrower."""
    index = term_index(document)
    named = {concept_id for concept_id, terms in index.exact.items() if terms}
    return named.union(*(above for above, _ in index.nested))


@once
def term_index(document: Document) -> TermIndex:
    return TermIndex(document)


def phrases_between(document: Document, label: str, first: int, stop: int) -> list[Term]:
    """Phrases of a label in `phrases.yaml` that start from token `first` up to before `stop`."""
    return between(term_index(document).exact.get(f"{PHRASE}:{label}", []), first, stop)
