"""What advice is about: drugs and classes from the lexicon, foods, activities, services, tests and plain nouns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from pytest_clinical_drift.evidence.guidance.words import View, advice_words, listed
from pytest_clinical_drift.evidence.lexicon import Concept, find_terms, fold, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, DRUG_CLASS, MEASURE

_THING_KINDS = {
    "services": "service", "foods": "food", "activities": "activity", "tests": "test", "treatments": "treatment",
}  # fmt: skip


class Mention(NamedTuple):
    """A thing named in a view."""

    first: int
    end: int
    """One past the last word."""
    id: str
    kind: str
    """drug, class, food, activity, service, test, treatment, condition, measure."""
    concept: Concept | None = None

    @property
    def medicine(self) -> bool:
        """Whether it is a drug or a class of drugs."""
        return self.kind in (DRUG, DRUG_CLASS)


def mentions_of(view: View) -> list[Mention]:
    """Everything named in a view, by position; drugs win over everyday words for the same stretch."""
    document = view.document
    place: dict[int, int] = {}
    for index, token in enumerate(view.origin):
        place[token] = index
    taken: dict[int, Mention] = {}
    stop, same_as = advice_words().stop_words, advice_words().same_as
    known = lexicon().concepts
    found: list[Mention] = []
    for term in find_terms(document):
        concept = term.concept
        if concept.kind not in (DRUG, DRUG_CLASS, CONDITION, MEASURE):
            continue
        if term.first == term.last and document.words[term.first] in stop:
            continue
        if concept.id == "drug:glucose" and document.words[term.last + 1 : term.last + 2] not in (
            ["tablet"],
            ["tablets"],
            ["gel"],
            ["drink"],
        ):
            continue
        mention = Mention(place[term.first], place[term.last] + 1, concept.id, concept.kind, concept)
        if concept.kind in (DRUG, DRUG_CLASS):
            for index in range(mention.first, mention.end):
                taken[index] = mention
        found.append(mention)
    for hit in view.hits:
        named = taken.get(hit.first)
        if hit.category == "thing" and (named is None or (hit.effect == "tests" and hit.end > named.end)):
            kind = _THING_KINDS[hit.effect]
            name = f"{kind}:{hit.value}"
            exact = known.get(same_as.get(name, ""))
            if exact is not None:
                found.append(Mention(hit.first, hit.end, exact.id, exact.kind, exact))
            else:
                found.append(Mention(hit.first, hit.end, name, kind))
    found = [mention for mention in found if not _is_without(view, mention)]
    return sorted(_drop_covered(found), key=lambda mention: (mention.first, -mention.end))


def _is_without(view: View, mention: Mention) -> bool:
    """ "low-salt", "sugar-free": named for being absent."""
    gaps, words = view.gaps, view.words
    if (
        mention.first
        and gaps[mention.first] == "-"
        and words[mention.first - 1] in ("low", "reduced", "zero", "non", "no")
    ):
        return True
    return mention.end < len(words) and gaps[mention.end] == "-" and words[mention.end] == "free"


def _drop_covered(found: Iterable[Mention]) -> list[Mention]:
    """Without the mentions that stand inside a longer one of the same sort (a class name inside a drug's)."""
    ordered = sorted(found, key=lambda mention: (mention.first, -mention.end))
    kept: list[Mention] = []
    reach: dict[bool, int] = {True: 0, False: 0}
    for mention in ordered:
        clinical = mention.kind in (CONDITION, MEASURE)
        if mention.end <= reach[clinical]:
            continue
        reach[clinical] = max(reach[clinical], mention.end)
        kept.append(mention)
    return kept


@lru_cache(maxsize=65536)
def related(one: str, other: str) -> str | None:
    """How two object ids relate: "same", "member" (one is of the class `other` or contains it, either way), or None."""
    if one == other:
        return "same"
    concepts = lexicon().concepts
    first, second = concepts.get(one), concepts.get(other)
    if first is None or second is None:
        return None
    known = lexicon()
    vague = listed("vague_classes")
    if one in vague or other in vague:
        return None
    if known.is_a(first, other) or known.is_a(second, one):
        return "member"
    return None


@lru_cache(maxsize=4096)
def forbidden_by(object_id: str) -> frozenset[str]:
    """Ids that an allergy to a drug or class rules out: itself, its class where allergy spreads, cross-allergies."""
    known = lexicon()
    concept = known.concepts.get(object_id)
    if concept is None:
        return frozenset({object_id})
    ruled_out = {object_id}
    lineage = [object_id, *concept.ancestors]
    for name in lineage:
        entry = known.concepts.get(name)
        if entry is None:
            continue
        if name != object_id and entry.data.get("allergy_spreads"):
            ruled_out.add(name)
        if name == object_id or entry.data.get("allergy_spreads"):
            for other in entry.data.get("cross_allergy", ()):
                ruled_out.update(c for c in (f"{DRUG_CLASS}:{other}", f"{DRUG}:{other}") if c in known.concepts)
    return frozenset(ruled_out)


def covers(ruled_out: Iterable[str], object_id: str) -> bool:
    """Whether an object is one of the ids or belongs to one of them."""
    concept = lexicon().concepts.get(object_id)
    if concept is None:
        return object_id in ruled_out
    known = lexicon()
    return any(known.is_a(concept, name) for name in ruled_out)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A rough stem under which the forms of a word meet."""
    topics = advice_words().topics
    if word in topics:
        return topics[word]
    word = fold(word)
    if word in topics:
        return topics[word]
    for ending in ("ingly", "ings", "ing", "edly", "ed", "ly", "ment", "ness", "sion", "er", "ies", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    if len(word) > 4 and word[-1] == "e":
        word = word[:-1]
    return topics.get(word, word)


def stems(words: Sequence[str]) -> frozenset[str]:
    """Stems of the words that carry a topic."""
    stop = advice_words().stop_words
    return frozenset(
        stem(word)
        for word in words
        if len(word) > 2 and word not in stop and not word.isdigit() and fold(word) not in stop
    )
