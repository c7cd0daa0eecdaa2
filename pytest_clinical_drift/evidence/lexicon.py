"""Finding the vocabulary's terms in a text: a trie over its tokens, tolerant of spelling and light typing errors.

    document = read("On Zoloft 50 mg for MDD.")
    [(t.concept.id, t.quote) for t in find_terms(document)]
    [('drug:sertraline', 'Zoloft'), …, ('condition:major depressive disorder', 'MDD')]

`lexicon()` answers questions about concepts: `drug("zoloft")`, `lookup("ssri")`, `is_a(concept, "class:ssri")`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, cast

from pytest_clinical_drift.evidence.reading.typos import TypoIndex
from pytest_clinical_drift.evidence.terms.vocabulary import (
    CONDITION,
    DRUG,
    DRUG_CLASS,
    MEASURE,
    QUALIFIER,
    UNIT,
    WORD,
    Concept,
    Form,
    all_forms,
    load_data,
    word_set,
)
from pytest_clinical_drift.evidence.text import Document, read, tokenise

__all__ = ["Concept", "Lexicon", "Term", "find_terms", "fold", "lexicon"]

# What may stand between the words of one term.
_JOINING_GAPS = word_set("lexicon", "joining_gaps")
# Abbreviations of four letters and more count in any case, unless they are also everyday words.
_EVERYDAY = word_set("lexicon", "everyday")


# "tumour", "behavioural", "favourite"; not "mourning".
_OUR = tuple((f"our{tail}", f"or{tail}") for tail in ("", "al", "ally", "ed", "ing", "ite", "able", "er"))


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """A key under which singular and plural, British and American spelling of a word meet."""
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) < 5:
        return word
    word = word.replace("ae", "e").replace("oe", "e").replace("ph", "f").replace("ll", "l")
    word = word.replace("isation", "ization").replace("ysis", "yzis")
    for british, american in (
        *_OUR,
        ("ised", "ized"),
        ("ising", "izing"),
        ("ise", "ize"),
        ("yse", "yze"),
        ("tre", "ter"),
    ):
        if word.endswith(british):
            return word[: -len(british)] + american
    return word


class Term(NamedTuple):
    """A concept named in a document (a tuple, because a summary has dozens of them)."""

    concept: Concept
    first: int
    """First token."""
    last: int
    """Last token, included."""
    weak: bool = False
    """Names the concept only if the context supports it."""
    typo: bool = False
    """Named by a mistyped word."""

    def span(self, document: Document) -> tuple[int, int]:
        """Offsets into the raw text."""
        return document.starts[self.first], document.ends[self.last]


class _Node:
    __slots__ = ("forms", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.forms: list[tuple[str, Form]] = []


class Lexicon:
    """Concepts and the trie of their wordings."""

    def __init__(self, forms: Iterable[Form]) -> None:
        self.concepts: dict[str, Concept] = {}
        self._root = _Node()
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
        self._typos = TypoIndex(correctable, never=frozenset(spelling.get("never_typos", ())))
        self._corrections: dict[str, str] = {}

    def _add(self, form: Form, correctable: set[str]) -> None:
        # A unit is only read after a number, where "g/l" is two words.
        tokens = tokenise(f"1 {form.text}")[1:] if form.concept.kind == UNIT else tokenise(form.text)
        words = [fold(word) for word in tokens]
        if not words:
            return
        node = self._root
        for word in words:
            node = node.next.setdefault(word, _Node())
        node.forms.append((_slot(form), form))
        self._words.update(words)
        if form.concept.kind in (DRUG, CONDITION) and not form.exact:
            if form.concept.kind == DRUG and len(words) == 1:
                self._drug_words.update(words)
            correctable.update(word for word in words if len(word) >= 7 and word.isalpha())

    def knows(self, word: str) -> bool:
        """Whether a folded word stands in any vocabulary entry."""
        return word in self._words

    def correct(self, word: str) -> str:
        """The vocabulary word that a mistyped one must be, or the word itself."""
        if word in self._words or len(word) < 7 or not word.isalpha():
            return word
        found = self._corrections.get(word)
        if found is None:
            found = self._latin(word) or self._typos.nearest(word) or word
            if len(self._corrections) < 50_000:
                self._corrections[word] = found
        return found

    def _latin(self, word: str) -> str | None:
        """Romance forms of drug names: "metformina", "sertralina", "fluoxetina"."""
        if word[-1] not in "aoe":
            return None
        return next((name for name in (word[:-1], word[:-1] + "e") if name in self._drug_words), None)

    def lookup(self, text: str) -> list[Concept]:
        """Concepts that a wording names, in any capitals."""
        node: _Node | None = self._root
        for word in tokenise(text):
            node = node.next.get(fold(word)) if node else None
        return [form.concept for _, form in node.forms] if node else []

    def drug(self, name: str) -> Concept | None:
        """The drug that a generic name, brand or abbreviation names."""
        return next((concept for concept in self.lookup(name) if concept.kind == DRUG), None)

    def drug_class(self, name: str) -> Concept | None:
        """The class that a class word names."""
        return next((concept for concept in self.lookup(name) if concept.kind == DRUG_CLASS), None)

    def is_a(self, concept: Concept, other_id: str) -> bool:
        """Whether a concept is `other_id`, one of its kind, or a combination that contains it."""
        return (
            concept.id == other_id
            or other_id in concept.ancestors
            or other_id in concept.implies
            or other_id in concept.contains
        )

    def members(self, class_id: str) -> list[Concept]:
        """Every drug of a class, through its subclasses."""
        return [c for c in self.concepts.values() if c.kind == DRUG and class_id in c.ancestors]

    def find(self, document: Document) -> list[Term]:
        """Terms of a document, by position; of one kind the longest from each token, none inside another."""
        root = self._root.next
        folded = _folded(document.words)
        total = len(folded)
        covered: dict[str, int] = {}
        known = self._words
        found: list[Term] = []
        for first in [i for i, word in enumerate(folded) if word in root or (len(word) >= 7 and word not in known)]:
            node = root.get(folded[first])
            typo = False
            if node is None:
                corrected = self.correct(folded[first])
                node = root.get(corrected)
                if node is None:
                    continue
                folded[first] = corrected
                typo = True
            ahead = folded[first + 1] if first + 1 < total else ""
            goes_on = ahead in node.next or (len(ahead) >= 7 and ahead not in known)
            if goes_on:
                matches = self._walk(document, folded, node, first, typo)
            else:
                # The common case: a word that no longer term begins with here.
                matches = [
                    (slot, form, first)
                    for slot, form in node.forms
                    if not form.exact or (not typo and _spelled_alike(form, document, first, first))
                ]
            if matches:
                _keep_longest(matches, first, covered, typo, found)
        return found

    def _walk(
        self, document: Document, folded: list[str], node: _Node, first: int, typo: bool
    ) -> list[tuple[str, Form, int]]:
        """Every form that begins at a token, shortest first."""
        matches: list[tuple[str, Form, int]] = []
        sentences, gaps = document.sentences, document.gaps
        last, total = first, len(folded)
        while True:
            matches += [
                (slot, form, last)
                for slot, form in node.forms
                if not form.exact or (not typo and _spelled_alike(form, document, first, last))
            ]
            last += 1
            if last >= total or gaps[last] not in _JOINING_GAPS or sentences[last] != sentences[first]:
                return matches
            following = node.next.get(folded[last])
            if following is None:
                corrected = self.correct(folded[last]) if node.next else folded[last]
                following = node.next.get(corrected)
                if following is None:
                    return matches
                folded[last] = corrected
            node = following


def _slot(form: Form) -> str:
    """Terms of one slot compete: only the longest from a token is kept, and none inside another."""
    kind = form.concept.kind
    if kind == WORD or form.weak:
        return form.concept.id
    return kind + form.concept.group if kind == QUALIFIER else kind


_FOLDS: dict[str, str] = {}


def _folded(words: list[str]) -> list[str]:
    """Keys of many words, remembered in a plain dictionary because this is the innermost loop."""
    known = _FOLDS
    result = []
    for word in words:
        key = known.get(word)
        if key is None:
            key = fold(word)
            if len(known) < 100_000:
                known[word] = key
        result.append(key)
    return result


def _keep_longest(
    matches: list[tuple[str, Form, int]], first: int, covered: dict[str, int], typo: bool, found: list[Term]
) -> None:
    """Add the longest match of every slot that no earlier term covers; at equal length every reading is kept."""
    if len(matches) == 1:
        [(slot, form, last)] = matches
        if covered.get(slot, -1) < first and not (form.weak and covered.get(form.concept.kind, -1) >= last):
            covered[slot] = last
            found.append(Term(form.concept, first, last, form.weak, typo))
        return
    ends: dict[str, int] = {}
    for slot, _, last in matches:
        ends[slot] = last  # the matches come shortest first
    seen: set[str] = set()
    for slot, form, last in reversed(matches):
        concept = form.concept
        if last < ends[slot] or covered.get(slot, -1) >= first or concept.id in seen:
            continue
        if form.weak and covered.get(concept.kind, -1) >= last:
            continue
        seen.add(concept.id)
        found.append(Term(concept, first, last, form.weak, typo))
    for slot, last in ends.items():
        if covered.get(slot, -1) < last:
            covered[slot] = last


def _spelled_alike(form: Form, document: Document, first: int, last: int) -> bool:
    """Whether an abbreviation stands in the text with its own capitals (a plural s aside)."""
    spelled = document.raw[document.starts[first] : document.ends[last]]
    if spelled == form.text or spelled in (form.text + "s", form.text + "'s"):
        return True
    letters = "".join(char for char in spelled if char.isalnum())
    wanted = "".join(char for char in form.text if char.isalnum())
    if letters == wanted or letters == wanted + "s":
        return True
    folded = letters.lower()
    return len(wanted) >= 4 and folded == wanted.lower() and folded not in _EVERYDAY


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon of the bundled vocabularies."""
    return Lexicon(all_forms())


def find_terms(document: Document | str, *, weak: bool = False) -> list[Term]:
    """The vocabulary's terms in a text, by position; `weak` adds readings that need support from the context."""
    if isinstance(document, str):
        document = read(document)
    terms = cast("list[Term] | None", document.cache.get("terms"))
    if terms is None:
        terms = lexicon().find(document)
        document.cache["terms"] = terms
    return terms if weak else [term for term in terms if not term.weak]


# Kinds that name what a patient has, takes or had measured, in contrast to words that only describe.
CLINICAL_KINDS = frozenset({DRUG, DRUG_CLASS, CONDITION, MEASURE})
