"""Finding the vocabulary's terms in a text: a trie over its tokens, tolerant of spelling and light typing errors.

    document = read("On Zoloft 50 mg for MDD.")
    [(t.concept.id, t.quote) for t in find_terms(document)]
    [('drug:sertraline', 'Zoloft'), …, ('condition:major depressive disorder', 'MDD')]

`lexicon()` answers questions about concepts: `drug("zoloft")`, `lookup("ssri")`, `is_a(concept, "class:ssri")`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import compress
from operator import contains, or_
from typing import Any

from pytest_clinical_drift.evidence.reading.text import Document, read, tokenise
from pytest_clinical_drift.evidence.reading.tokens import Memory
from pytest_clinical_drift.evidence.terms.trie import Match, Node, Term, keep_longest, new_term
from pytest_clinical_drift.evidence.terms.vocabulary import (
    CONDITION,
    DRUG,
    DRUG_CLASS,
    MEASURE,
    UNIT,
    Concept,
    Form,
    all_forms,
    load_data,
    word_set,
)
from pytest_clinical_drift.evidence.terms.words import TypoIndex, fold

__all__ = ["CLINICAL_KINDS", "Concept", "Lexicon", "Term", "find_terms", "fold", "lexicon"]

# What may stand between the words of one term.
_JOINING_GAPS = word_set("lexicon", "joining_gaps")
# Kinds that name what a patient has, takes or had measured, in contrast to words that only describe.
CLINICAL_KINDS = frozenset({DRUG, DRUG_CLASS, CONDITION, MEASURE})

_Opening = tuple[Node, bool, tuple[tuple[str, Concept], ...]]

_NOTHING = Node()


class Lexicon:
    """Concepts and the trie of their wordings."""

    def __init__(self, forms: Iterable[Form]) -> None:
        self.concepts: dict[str, Concept] = {}
        self._root = Node()
        self._words: set[str] = set()
        self._drug_words: set[str] = set()
        correctable: set[str] = set()
        seen: set[tuple[str, str, bool, bool]] = set()
        for form in forms:
            self.concepts.setdefault(form.concept.id, form.concept)
            key = (form.text, form.concept.id, form.exact, form.weak)
            if key not in seen:
                seen.add(key)
                self._add(form, correctable)
        spelling = load_data("spelling") or {}
        self._typos = TypoIndex(correctable, never=frozenset(map(fold, spelling.get("never_typos", ()))))
        self._corrections = Memory(self._corrected)
        self._openings: Memory[Any] = Memory(self._open)  # a word that opens nothing is never asked for what it opens
        self._keys = Memory(lambda word: self.correct(fold(word)))
        self._nexts = Memory(lambda word: (self._node(word) or _NOTHING).next)
        self._named = Memory(lambda word: bool((self._node(word) or _NOTHING).forms))

    def _add(self, form: Form, correctable: set[str]) -> None:
        # A unit is only read after a number, where "g/l" is two words.
        tokens = tokenise(f"1 {form.text}")[1:] if form.concept.kind == UNIT else tokenise(form.text)
        words = [fold(word) for word in tokens]
        if not words:
            return
        node = self._root
        for word in words:
            node = node.next.setdefault(word, Node())
        node.add(form)
        self._words.update(words)
        if form.concept.kind in (DRUG, CONDITION) and not form.exact:
            if form.concept.kind == DRUG and len(words) == 1:
                self._drug_words.update(words)
            if not form.lay and _is_own_name(form, len(words)):
                correctable.update(word for word in words if _is_technical(word))

    def knows(self, word: str) -> bool:
        """Whether a folded word stands in any vocabulary entry."""
        return word in self._words

    def correct(self, word: str) -> str:
        """The vocabulary word that a mistyped one must be, or the word itself."""
        if word in self._words or len(word) < 7 or not word.isalpha():
            return word
        return self._corrections[word]

    def _corrected(self, word: str) -> str:
        return self._latin(word) or self._typos.nearest(word) or word

    def _latin(self, word: str) -> str | None:
        """Romance forms of drug names: "metformina", "sertralina", "fluoxetina"."""
        if word[-1] not in "aoe":
            return None
        return next((name for name in (word[:-1], word[:-1] + "e") if name in self._drug_words), None)

    def lookup(self, text: str) -> list[Concept]:
        """Concepts that a wording names, in any capitals."""
        node: Node | None = self._root
        for word in tokenise(text):
            node = node.next.get(fold(word)) if node else None
        return [form.concept for _, form in node.forms] if node else []

    def drug(self, name: str) -> Concept | None:
        """The drug that a generic name, brand or abbreviation names."""
        return next((concept for concept in self.lookup(name) if concept.kind == DRUG), None)

    def find(self, document: Document) -> list[Term]:
        """Terms of a document, by position; of one kind the longest from each token, none inside another."""
        words = document.words
        keys = list(map(self._keys.__getitem__, words))
        # `map` over the tables leaves out, at little cost, words that neither name nor open anything here.
        goes_on = [*map(contains, map(self._nexts.__getitem__, words), keys[1:]), False]
        covered: dict[str, int] = {}
        passed: set[int] = set()
        found: list[Term] = []
        for first in compress(range(len(words)), map(or_, goes_on, map(self._named.__getitem__, words))):
            node, typo, firm = self._openings[words[first]]
            if typo and first in passed:
                # A longer term took the word for the one it must be; from here on it counts as spelled like that.
                typo = False
            if firm and not goes_on[first]:
                # The common case: a word that names something by itself.
                for slot, concept in firm:
                    if covered.get(slot, -1) < first:
                        found.append(new_term(Term, (concept, first, first, False, typo)))
                for slot, _ in firm:
                    if covered.get(slot, -1) < first:
                        covered[slot] = first
                continue
            matches = self._walk(document, keys, node, first, typo, passed)
            if matches:
                keep_longest(matches, first, covered, typo, found)
        return found

    def _open(self, word: str) -> _Opening | None:
        """Where a word leads from the root, whether only as a mistyped one, and what it is by itself."""
        key = fold(word)
        meant = self._root.next.get(self.correct(key))
        return (meant, key not in self._root.next, meant.firm()) if meant is not None else None

    def _node(self, word: str) -> Node | None:
        opening = self._openings[word]
        return opening[0] if opening else None

    def _walk(
        self, document: Document, keys: list[str], node: Node, first: int, typo: bool, passed: set[int]
    ) -> list[Match]:
        """Every form that begins at a token, shortest first."""
        matches: list[Match] = []
        sentences, gaps = document.sentences, document.gaps
        last, total = first, len(keys)
        while True:
            if node.forms:
                matches += node.matches(document, first, last, typo)
            last += 1
            if last >= total:
                return matches
            following = node.next.get(keys[last])
            if following is None or gaps[last] not in _JOINING_GAPS or sentences[last] != sentences[first]:
                return matches
            passed.add(last)
            node = following


def _is_technical(word: str) -> bool:
    """A long word that is no form of an everyday verb: "bloating" is one letter from "boating"."""
    return len(word) >= 7 and word.isalpha() and not word.endswith(("ing", "ed"))


def _is_own_name(form: Form, length: int) -> bool:
    """A generic name, a preferred name or one technical word; brands and phrases are too near to everyday words."""
    if form.concept.kind == DRUG:
        return form.text not in form.concept.data.get("brands", ())
    return form.text == form.concept.name or length == 1


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon of the bundled vocabularies."""
    return Lexicon(all_forms())


def find_terms(document: Document | str, *, weak: bool = False) -> list[Term]:
    """The vocabulary's terms in a text, by position; `weak` adds readings that need support from the context."""
    if isinstance(document, str):
        document = read(document)
    terms: list[Term] | None = document.cache.get("terms")
    if terms is None:
        terms = lexicon().find(document)
        document.cache["terms"] = terms
    return terms if weak else [term for term in terms if not term.weak]
