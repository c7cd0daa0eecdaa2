"""Free wording: content words of a fact, where they (or words of the same meaning) stand in a document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.lexicon import fold
from pytest_clinical_drift.evidence.reading.loose import gathered, loose_places
from pytest_clinical_drift.evidence.reading.memory import Memory
from pytest_clinical_drift.evidence.terms.index import TermIndex, places_in, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, MEASURE, WORD, load_data, word_set
from pytest_clinical_drift.evidence.text import Document, tokenise

# Tokens between the words of a phrase of the fact when the text says them one by one; fewer for clusters of many words.
_FAR, _NEAR = 14, 5
_WIDE = frozenset(f"{WORD}:{name}" for name in word_set("wording", "wide"))


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
    inner: tuple[WordPart, ...] = ()
    """The words of a phrase one by one: all of them near each other say it too."""

    def places(self, document: Document) -> list[int]:
        """Tokens where it is expressed, in order."""
        return [first for first, _ in self.spans(document)]

    def spans(self, document: Document) -> list[tuple[int, int]]:
        """First and last token of every expression, in order, the longest from each token."""
        index = term_index(document)
        ends: dict[int, int] = {}
        for concept_id in self.ids:
            for term in (*index.exact.get(concept_id, ()), *index.within.get(concept_id, ())):
                ends[term.first] = max(term.last, ends.get(term.first, 0))
        for key in self.stems:
            for place in places_in(loose_stems(document), key):
                ends.setdefault(place, place)
        if ends:
            ends = {
                first: last
                for first, last in ends.items()
                if not (_in_clinical_term(index, first, last) or _in_other_wording(index, first, last, self))
            }
        if not ends and self.phrases:
            ends = dict(loose_places(document, loose_stems(document), self.phrases))
        if not ends and self.inner:
            places = [part.places(document) for part in self.inner]
            wide = any(part.ids & _WIDE for part in self.inner)
            ends = dict(gathered(document, places, *((_NEAR,) if wide else (_FAR, document.sentences))))
        return sorted(ends.items())

    def vague_places(self, document: Document) -> list[int]:
        """Tokens where only part of it is expressed."""
        index = term_index(document)
        return sorted(t.first for concept_id in self.broader for t in index.exact.get(concept_id, ()))


_OF_LIFE = frozenset(("symptom", "social-risk", "psychiatric", "care-status", "procedure", "device", "obstetric"))


def _in_clinical_term(index: TermIndex, first: int, last: int) -> bool:
    """ "heart failure", "wound dressing", "blood pressure": the word is part of another name."""
    return any(
        term.last >= last and term.last - term.first > last - first and term.concept.group not in _OF_LIFE
        for kind in (CONDITION, MEASURE)
        for term in index.between(kind, first - 3, first + 1)
    )


def _in_other_wording(index: TermIndex, first: int, last: int, part: WordPart) -> bool:
    """ "passed over for promotion" is no promotion, "mother-in-law" not the mother."""
    others = part.excludes | (_IN_LAWS - part.ids)
    return any(
        term.last >= last and term.last - term.first > last - first and term.concept.id in others
        for term in index.between(WORD, first - 4, first + 1)
    )


_IN_LAWS = frozenset(("word:parents-in-law",))
_ENDINGS = ("ations", "ation", "ions", "ion", "edly", "ment", "ness", "ly", "ers", "er", "al", "ity")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A key that the forms of one word share: sells, selling, sold; "caring" never meets "car"."""
    word = _regular().get(word, word)
    ended = _without_ending(word)
    word = fold(word) if ended is None else fold(ended)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "se":
        word = word[:-1]
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 4 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


@lru_cache(maxsize=1)
def _regular() -> dict[str, str]:
    """Irregular forms and the word they belong to."""
    return {str(form): str(words[0]) for words in load_data("irregular") or () for form in words[1:]}


_VOWELS = frozenset("aeiouy")
_WHOLE = word_set("wording", "whole")


def _without_ending(word: str) -> str | None:
    """The word before "-ing", "-ed" or "-ied", spelled as it was; None where it has no such ending."""
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    root = word[:-3] if word.endswith("ing") else word[:-2] if word.endswith("ed") else ""
    if len(root) < 2 or _VOWELS.isdisjoint(root) or root.endswith("e") or word in _WHOLE:
        return None
    if len(root) > 3 and root[-1] == root[-2]:
        return root  # doubled letters are made single for every word
    before = root[-3:-2]
    short = len(root) <= 3 and root[-1] not in "aeiouwxy" and root[-2] in _VOWELS and before not in _VOWELS
    return root + "e" if short or root.endswith("s") else root


@lru_cache(maxsize=1)
def _alike() -> dict[str, str]:
    groups = (load_data("spelling") or {}).get("alike", ())
    return {stem(str(word)): f"~{number}" for number, words in enumerate(groups) for word in words}


def loose_stem(word: str) -> str:
    """The stem, or a common key for words that say the same beside another one."""
    key = stem(word)
    return _alike().get(key, key)


_LOOSE_STEMS = Memory(loose_stem)


def loose_stems(document: Document) -> list[str]:
    """The loose stem of every token."""
    stems: list[str] | None = document.cache.get("loose stems")
    if stems is None:
        stems = document.cache["loose stems"] = list(map(_LOOSE_STEMS.__getitem__, document.words))
    return stems


@lru_cache(maxsize=1)
def empty_words() -> frozenset[str]:
    """Words that a phrase means the same without."""
    fillers = frozenset(str(word) for word in (load_data("fact_words") or {}).get("filler", ()))
    return fillers - word_set("wording", "telling")


@lru_cache(maxsize=2048)
def loose_phrases(wordings: tuple[str, ...], given: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    """The stems of wordings that may be said loosely; a denial inside one ties it to its order.

    The `given` ones are loose by intention; in them a word in angle brackets stands for any wording of that cluster.
    """
    found = []
    for wording in given:
        found.append(tuple(w if w[0] == "<" else loose_stem(w) for w in wording.split()))
    for wording in wordings:
        words = tokenise(wording)
        if DENIALS.isdisjoint(words):
            content = [w for w in words if w not in empty_words() and w not in _PRONOUNS]
            # "worn out", "wakes at four": beside a word that goes with anything, the order has to be kept.
            keys = tuple(dict.fromkeys(map(loose_stem, content)))
            if len(keys) >= 2 and sum(w not in _COMMON for w in content) >= 2:
                found.append(keys)
    return tuple(dict.fromkeys(found))


DENIALS = word_set("condition", "denials")
_PRONOUNS = word_set("wording", "pronouns")
_COMMON = word_set("wording", "common")


_STEMS = Memory(stem)


def stems_of(document: Document) -> list[str]:
    """The stem of every token."""
    stems: list[str] | None = document.cache.get("stems")
    if stems is None:
        stems = document.cache["stems"] = list(map(_STEMS.__getitem__, document.words))
    return stems
