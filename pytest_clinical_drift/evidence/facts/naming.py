"""Whether a text may be naming a fact in other words: any word of its names, any date or figure of it."""

from __future__ import annotations

from functools import lru_cache

from pytest_clinical_drift.evidence.facts.fact import Fact, words_of
from pytest_clinical_drift.evidence.quantities.amounts import amounts
from pytest_clinical_drift.evidence.quantities.dates import dates
from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import lexicon
from pytest_clinical_drift.evidence.terms.stems import loose_stem, loose_stems
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, Concept

_SHORTEST = 4
"""Letters of a word that can be an echo of a name."""


def is_unnamed(fact: Fact, document: Document) -> bool:
    """Whether nothing in a text can be this fact: then it was lost, and not put in other words.

    Only for facts whose core has a name in the vocabulary. A circumstance can always be put otherwise, a denial by
    saying nothing, and a tablet of several medicines by any name for it.
    """
    if fact.core.concept is None or fact.core.denied or fact.core.other or fact.worded or _is_mixture(fact):
        return False
    return _echoes(fact).isdisjoint(loose_stems(document)) and not _shares_figure(fact, document)


def _is_mixture(fact: Fact) -> bool:
    medicines = [s for s in (fact.core, *fact.details) if s.concept is not None and s.concept.kind == DRUG]
    return len(medicines) > 1 or any(s.concept is not None and s.concept.contains for s in medicines)


@lru_cache(maxsize=4096)
def _echoes(fact: Fact) -> frozenset[str]:
    """Stems of every telling word in the names of what the fact speaks of, and of all that it is a kind of."""
    found: set[str] = set()
    for slot in (fact.core, *fact.details):
        found.update(_telling(slot.text))
        if slot.concept is not None:
            above = (*slot.concept.ancestors, *slot.concept.implies, *slot.concept.contains)
            known = lexicon().concepts
            for concept in (slot.concept, *(known[i] for i in above if i in known)):
                found.update(_names(concept))
    return frozenset(found)


@lru_cache(maxsize=4096)
def _names(concept: Concept) -> frozenset[str]:
    listed = [concept.name]
    for key in ("synonyms", "lay", "brands", "abbreviations"):
        listed += map(str, concept.data.get(key, ()))
    return frozenset(stem for name in listed for stem in _telling(name))


def _telling(name: str) -> frozenset[str]:
    return frozenset(map(loose_stem, (w for w in tokenise(name) if len(w) >= _SHORTEST and w.isalpha()))) - _general()


@lru_cache(maxsize=1)
def _general() -> frozenset[str]:
    return frozenset(loose_stem(word) for word in words_of("filler") | words_of("general"))


def _shares_figure(fact: Fact, document: Document) -> bool:
    """A date or a dose of the fact: whatever stands beside it may be the fact."""
    if any(wanted.agrees(date) for wanted in fact.dates for date in dates(document)):
        return True
    wanted = {(a.value, a.dimension) for a in amounts(fact.document) if a.unit is not None or a.ratio}
    return any((a.value, a.dimension) in wanted for a in amounts(document))
