"""What an allergy fact says is not tolerated: a medicine, a named allergy, or a substance in its own words."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.reading.wording import loose_stem
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, Concept, word_set

ALLERGY_WORDS = word_set("allergy", "allergy")
_VAGUE_NAMES = (
    "allergic reaction",
    "adverse drug reaction",
    "drug intolerance",
    "allergy",
    "drug allergy",
    "food allergy",
)
UNSPECIFIC = frozenset(f"condition:{name}" for name in _VAGUE_NAMES)


@dataclass(frozen=True, slots=True)
class Substance:
    """What is not tolerated, by concept, by the name of the allergy, and by stems of words."""

    concepts: tuple[Concept, ...]
    allergies: tuple[Concept, ...]
    stems: frozenset[str]


_RESCUE = ("adrenaline",)  # carried against the reaction, hardly ever its cause


def substance_of(fact: Fact) -> Substance:
    medicines = tuple(m for m in fact.medicines if m.name not in _RESCUE or len(fact.conditions) == 0)
    allergies = tuple(c for c in fact.conditions if "allergy" in c.name or "sensitivity" in c.name)
    stems = {key for part in fact.words for key in part.stems}
    for concept in allergies:
        if concept.id not in UNSPECIFIC and not medicines:
            stems.add(loose_stem(concept.name.split()[0]))
            stems.update(_own_words(fact, concept))
            stems.update(_known_as(concept))
    if not (medicines or allergies):
        for concept in fact.conditions:  # "bee sting anaphylaxis"
            stems.update(_own_words(fact, concept) if concept.group == "injury" else ())
    return Substance(medicines, allergies, frozenset(stems))


def _known_as(allergy: Concept) -> set[str]:
    """Other names of what is not tolerated: "prawn allergy" of shellfish allergy."""
    names = [
        str(name).removesuffix(" allergy") for name in allergy.data.get("synonyms", ()) if name.endswith(" allergy")
    ]
    return {loose_stem(name) for name in names if " " not in name and len(name) > 3}


def _own_words(fact: Fact, allergy: Concept) -> set[str]:
    """The fact's own name of what is not tolerated: "prawn" where the vocabulary knows shellfish."""
    terms = [t for t in term_index(fact.document).by_kind.get(CONDITION, ()) if t.concept is allergy]
    words = {fact.document.words[i] for t in terms for i in range(t.first, t.last + 1)}
    return {loose_stem(word) for word in words if len(word) > 2 and word not in ALLERGY_WORDS}
