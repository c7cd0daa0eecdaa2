"""Free wording: content words of a fact, where they (or words of the same meaning) stand in a document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from pytest_clinical_drift.evidence.lexicon import fold
from pytest_clinical_drift.evidence.reading.loose import loose_places
from pytest_clinical_drift.evidence.terms.index import places_in, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set
from pytest_clinical_drift.evidence.text import Document, tokenise


@dataclass(frozen=True, slots=True)
class WordPart:
    """One content word or phrase that a summary has to express."""

    text: str
    ids: frozenset[str]
    """Clusters and concepts that mean it."""
    broader: frozenset[str]
    """Clusters that say part of it."""
    stems: frozenset[str]
    excludes: frozenset[str]
    phrases: tuple[tuple[str, ...], ...] = ()
    """Stems of the wordings of two content words and more, which may stand in any order."""

    def places(self, document: Document) -> list[int]:
        """Tokens where it is expressed, in order."""
        index = term_index(document)
        found: list[int] = []
        for concept_id in self.ids:
            found += [term.first for term in index.exact.get(concept_id, ())]
            found += [term.first for term in index.within.get(concept_id, ())]
        for key in self.stems:
            found += places_in(loose_stems(document), key)
        if not found and self.phrases:
            found = loose_places(document, loose_stems(document), self.phrases)
        return sorted(set(found))

    def vague_places(self, document: Document) -> list[int]:
        """Tokens where only part of it is expressed."""
        index = term_index(document)
        return sorted(t.first for concept_id in self.broader for t in index.exact.get(concept_id, ()))


_ENDINGS = ("ations", "ation", "ions", "ion", "ing", "edly", "ed", "ment", "ness", "ly", "ers", "er", "al", "ity")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its inflection; short results are left alone, so that "caring" never meets "car"."""
    word = fold(word)
    for ending in _ENDINGS:
        if word.endswith(ending):
            root = word[: -len(ending)]
            if len(root) >= 4:
                word = root
                break
            if ending in ("ing", "ed") and len(root) == 3 and root[-1] in "kvrsmp" and root[1] in "aeiou":
                return root + "e"  # "making" meets "make"
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "se":
        word = word[:-1]
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 4 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


@lru_cache(maxsize=1)
def _alike() -> dict[str, str]:
    groups = (load_data("spelling") or {}).get("alike", ())
    return {stem(str(word)): f"~{number}" for number, words in enumerate(groups) for word in words}


def loose_stem(word: str) -> str:
    """The stem, or a common key for words that say the same beside another one."""
    key = stem(word)
    return _alike().get(key, key)


def loose_stems(document: Document) -> list[str]:
    """The loose stem of every token."""
    stems = cast("list[str] | None", document.cache.get("loose stems"))
    if stems is None:
        alike = _alike()
        stems = [alike.get(key, key) for key in stems_of(document)]
        document.cache["loose stems"] = stems
    return stems


@lru_cache(maxsize=1)
def _empty_words() -> frozenset[str]:
    return frozenset(str(word) for word in (load_data("fact_words") or {}).get("filler", ()))


@lru_cache(maxsize=2048)
def loose_phrases(wordings: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The stems of wordings that may be said loosely; a denial inside one ties it to its order."""
    found = []
    for wording in wordings:
        words = tokenise(wording)
        if _DENIALS.isdisjoint(words):
            keys = tuple(dict.fromkeys(loose_stem(w) for w in words if w not in _empty_words() and w not in _PRONOUNS))
            if len(keys) >= 2:
                found.append(keys)
    return tuple(dict.fromkeys(found))


_DENIALS = word_set("condition", "denials")
_PRONOUNS = word_set("wording", "pronouns")
_STEMS: dict[str, str] = {}


def stems_of(document: Document) -> list[str]:
    """The stem of every token."""
    stems = cast("list[str] | None", document.cache.get("stems"))
    if stems is None:
        known = _STEMS
        stems = []
        for word in document.words:
            key = known.get(word)
            if key is None:
                key = stem(word)
                if len(known) < 100_000:
                    known[word] = key
            stems.append(key)
        document.cache["stems"] = stems
    return stems
