"""Facts that involve another person: what is said of that person may still be a fact about the patient."""

from __future__ import annotations

from pytest_clinical_drift.evidence.context import context_at
from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.terms.vocabulary import Concept, word_set
from pytest_clinical_drift.evidence.text import Document

# Clusters that say what is between the patient and someone: "her husband is supportive" is the patient's support.
_BETWEEN = frozenset(f"word:{name}" for name in word_set("kinship", "between"))
_SPOUSES = word_set("kinship", "spouses")
_PARENTS = word_set("kinship", "parents")
_OFFSPRING = word_set("kinship", "offspring")
_OTHERS = word_set("mentions", "others")
_OWNERS = word_set("mentions", "owners")
_POSSESSIVES = frozenset(("her", "his", "their", "my", "your"))
_PATIENT = frozenset(("he", "she", "they", "i", "you"))
# Conditions that happen between the patient and certain people, by whose doing they may be told.
_SHARED = {
    "relationship breakdown": _SPOUSES, "divorce": _SPOUSES, "infidelity": _SPOUSES, "marital problem": _SPOUSES,
    "relationship difficulties": _SPOUSES, "domestic abuse": _SPOUSES, "parental separation": _PARENTS,
    "family conflict": _PARENTS, "parental pressure": _PARENTS, "child abuse": _PARENTS,
    "bereavement": _SPOUSES | _PARENTS | _OTHERS, "stillbirth": _OFFSPRING, "miscarriage": _OFFSPRING | _SPOUSES,
    "neonatal death": _OFFSPRING, "caesarean section": _OFFSPRING, "premature birth": _OFFSPRING,
    "childbirth": _OFFSPRING, "instrumental delivery": _OFFSPRING, "vaginal birth": _OFFSPRING,
    "trying to conceive": _SPOUSES,
}  # fmt: skip


def is_between(fact: Fact) -> bool:
    """Whether the fact is about what is between the patient and a person that it names."""
    return any(part.ids & _BETWEEN for part in fact.words) and any(part.ids & PEOPLE for part in fact.words)


def of_the_pair(document: Document, concept: Concept, first: int, last: int) -> bool:
    """ "her boyfriend ended things": the other one's doing, and still the patient's separation."""
    if document.words[last + 1 : last + 2] and document.words[last + 1] in _PATIENT and not document.gaps[last + 1]:
        return True  # "his wife has no idea of the debts he has"
    close = _SHARED.get(concept.name)
    if close is None:
        return False
    cues = [cue.quote.lower() for cue in context_at(document, first, last).cues if cue.role == "other_person"]
    return bool(cues) and all(word in close or word in _OWNERS for quote in cues for word in quote.split())


def misplaced(document: Document, fact: Fact, found: dict[int, int]) -> bool:
    """ "her parents live in Leeds", "her mother looks after …", "her sister is married": the person does it."""
    parts = {number: token for number, token in found.items() if number < len(fact.words)}
    people = {token for number, token in parts.items() if fact.words[number].ids & PEOPLE}
    people |= {token + 1 for token in people if document.words[token] in _OWNERS}  # "her parents" is one phrase
    for number, token in parts.items():
        if token in people:
            continue
        if "word:support" in fact.words[number].ids and _is_object(document, token, people):
            return True
        before = document.words[token - 1] if token else ""
        if fact.words[number].ids & {"word:live", "word:carer"}:
            following = document.words[token : token + 4]
            if token - 1 in people and not {"with", "together"} & set(following) and _opens(document, token - 1):
                return True
        other = token >= 2 and token - 2 not in people and document.words[token - 2] in _OTHERS
        if before in ("is", "was", "got") and other and _opens(document, token - 2):
            return True
    return False


def is_joint(document: Document, token: int) -> bool:
    """ "She and her sister are close", "Tom and his wife share a flat": said of the patient as well."""
    start = document.clause_span(token)[0]
    words = document.words[start:token]
    for place in range(1, min(len(words) - 2, 8)):
        if words[place] == "and" and words[place + 1] in _POSSESSIVES and words[place + 2] in _OTHERS:
            return words[place - 1] not in _OTHERS
    return False


def _is_object(document: Document, verb: int, people: set[int]) -> bool:
    """ "supports her sister": the patient is the one who gives."""
    gives = document.words[verb] in ("supports", "supporting", "supported", "helps")
    return gives and document.words[verb + 1 : verb + 2] != ["by"] and verb + 2 in people


def _opens(document: Document, person: int) -> bool:
    """ "Her mother …" at the beginning of its clause: the person is the one who acts."""
    start = document.clause_span(person)[0]
    return person == start or (document.words[start] in _OWNERS and person - start <= 2)
