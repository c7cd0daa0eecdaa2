"""The vocabulary's terms in a text: a trie over its tokens, tolerant of spelling and light typing errors.

[t.concept.id for t in find_terms("On Zoloft 50 mg for MDD.")]
['drug:sertraline', …, 'condition:major depressive disorder']
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from operator import attrgetter
from typing import NamedTuple, TypeVar

from pytest_clinical_drift.evidence.reading.text import Document, once, read, tokenise
from pytest_clinical_drift.evidence.reading.tokens import Memory
from pytest_clinical_drift.evidence.terms.vocabulary import (
    CONDITION,
    CUE,
    DRUG,
    DRUG_CLASS,
    MEASURE,
    PHRASE,
    QUALIFIER,
    UNIT,
    WORD,
    Concept,
    Form,
    all_forms,
    load_vocabulary,
    word_set,
)
from pytest_clinical_drift.evidence.terms.words import TypoIndex, fold

# Abbreviations of four letters and more count in any case, unless they are also everyday words.
_EVERYDAY = word_set("lexicon", "everyday")
# What may stand between the words of one term.
_JOINING_GAPS = word_set("lexicon", "joining_gaps")
# Kinds that name what a patient has, takes or had measured, in contrast to words that only describe.
CLINICAL_KINDS = frozenset({DRUG, DRUG_CLASS, CONDITION, MEASURE})
_FIRST = attrgetter("first")
_T = TypeVar("_T")


class Term(NamedTuple):
    """A concept named in a document (a tuple, because a summary has dozens of them)."""

    concept: Concept
    first: int
    """First token."""
    last: int
    """Last token, included."""
    weak: bool = False
    """Names the concept only if the context supports it."""


@dataclass(slots=True)
class Node:
    """What the words so far may be, and how they may go on."""

    forms: tuple[tuple[str, Form], ...] = ()
    """Each with its slot: of the terms of one slot only the longest from a token is kept, and none inside another."""
    next: dict[str, Node] = field(default_factory=dict)


class Lexicon:
    def __init__(self, forms: Iterable[Form]) -> None:
        self.concepts: dict[str, Concept] = {}
        self._root = Node()
        self._words: set[str] = set()
        correctable: set[str] = set()
        for form in forms:
            self.concepts.setdefault(form.concept.id, form.concept)
            self._add(form, correctable)
        self._typos = TypoIndex(correctable, never=frozenset(map(fold, load_vocabulary("spelling")["never_typos"])))
        self._keys = Memory(self._key)

    def _add(self, form: Form, correctable: set[str]) -> None:
        # A unit is only read after a number, where "g/l" is two words.
        tokens = tokenise(f"1 {form.text}")[1:] if form.concept.kind == UNIT else tokenise(form.text)
        words = [fold(word) for word in tokens]
        if not words:
            return
        node = self._root
        for word in words:
            node = node.next.setdefault(word, Node())
        if not (form.exact or form.words):  # then it stands for every other spelling of these words
            node.forms = tuple(f for f in node.forms if (f[1].concept, f[1].weak) != (form.concept, form.weak))
        kind = form.concept.kind
        slot = kind + form.concept.group if kind == QUALIFIER else kind
        node.forms = (*node.forms, (form.concept.id if (kind == WORD or form.weak) and kind != CUE else slot, form))
        self._words.update(words)
        if _is_correctable(form, len(words)):
            # Long words that are not forms of an everyday verb: "bloating" is one letter from "boating".
            technical = (word for word in words if len(word) >= 7 and word.isalpha())
            correctable.update(word for word in technical if not word.endswith(("ing", "ed")))

    def knows(self, word: str) -> bool:
        """Whether a folded word stands in any vocabulary entry."""
        return word in self._words

    def _key(self, word: str) -> str:
        """The folded word, or the vocabulary word that a mistyped one must be."""
        key = fold(word)
        if key in self._words or len(key) < 7 or not key.isalpha():
            return key
        return self._typos.nearest(key) or key

    def find(self, document: Document) -> list[Term]:
        """Terms of a document, by position; of one kind the longest from each token, none inside another."""
        keys = list(map(self._keys.__getitem__, document.words))
        covered: dict[str, int] = {}  # the last token that terms of a slot hold
        found: list[Term] = []
        for first in range(len(keys)):
            ends: dict[str, int] = {}
            seen: set[str] = set()
            for slot, form, last in reversed(self._matches(document, keys, first)):  # the longest first
                concept = form.concept
                if last < ends.setdefault(slot, last) or covered.get(slot, -1) >= first or concept.id in seen:
                    continue
                if not (form.weak and covered.get(concept.kind, -1) >= last):
                    seen.add(concept.id)
                    found.append(Term(concept, first, last, form.weak))
            for slot, last in ends.items():
                covered[slot] = max(last, covered.get(slot, -1))
        return found

    def _matches(self, document: Document, keys: list[str], first: int) -> list[tuple[str, Form, int]]:
        """Every form that begins at a token, shortest first, with its slot and last token."""
        matches: list[tuple[str, Form, int]] = []
        node = self._root
        for last in range(first, document.sentence_span(first)[1]):
            following = node.next.get(keys[last])
            if following is None or (last > first and document.gaps[last] not in _JOINING_GAPS):
                break
            node = following
            for slot, form in node.forms:
                if not (form.exact or form.words) or _is_spelled(form, document, first, last):
                    matches.append((slot, form, last))
        return matches


def _is_spelled(form: Form, document: Document, first: int, last: int) -> bool:
    """Whether a form stands there in its own words, an abbreviation with its own capitals (a plural s aside)."""
    if form.words and form.words != tuple(document.words[first : last + 1]):
        return False
    spelled = document.raw[document.starts[first] : document.ends[last]]
    if not form.exact or spelled in (form.text, form.text + "s", form.text + "'s"):
        return True
    letters = "".join(char for char in spelled if char.isalnum())
    wanted = "".join(char for char in form.text if char.isalnum())
    if letters == wanted or letters == wanted + "s":
        return True
    folded = letters.lower()
    return len(wanted) >= 4 and folded == wanted.lower() and folded not in _EVERYDAY


def _is_correctable(form: Form, length: int) -> bool:
    """A generic name, a preferred name or one technical word; brands and phrases are too near to everyday words."""
    concept = form.concept
    if concept.kind not in (DRUG, CONDITION) or form.exact or form.lay:
        return False
    if concept.kind == DRUG:
        return form.text not in concept.data.get("brands", ())
    return form.text == concept.name or length == 1


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    return Lexicon(all_forms())


def find_terms(text: str) -> list[Term]:
    """The vocabulary's terms in a text, by position, without readings that need support from the context."""
    return [term for term in lexicon().find(read(text)) if not term.weak]


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
    """The terms of one document by concept, by what they are a kind of, and by position."""

    def __init__(self, document: Document) -> None:
        self.exact = defaultdict[str, list[Term]](list)
        """Terms that name a concept itself."""
        self.by_kind = defaultdict[str, list[Term]](list)
        self.units: dict[int, Term] = {}
        """The longest unit from each token."""
        self.nested: list[tuple[frozenset[str], Term]] = []
        """Each term with the ids of all that it is a kind of."""
        for term in lexicon().find(document):
            self.by_kind[term.concept.kind].append(term)
            if term.concept.kind == UNIT:
                self.units.setdefault(term.first, term)
                continue
            self.exact[term.concept.id].append(term)
            above = frozenset() if term.weak else ids_above(term.concept)
            if above:
                self.nested.append((above, term))
        named = (*self.by_kind.get(DRUG, ()), *self.by_kind.get(DRUG_CLASS, ()))
        medicines = [term for term in named if not term.weak]
        self.medicines = sorted(medicines, key=attrgetter("first", "last"))

    def within(self, concept_id: str) -> list[Term]:
        """Terms that name something narrower than a concept: a drug of a class."""
        return [term for above, term in self.nested if concept_id in above]

    def between(self, kind: str, first: int, stop: int) -> list[Term]:
        """Terms of a kind that start from token `first` up to before `stop`."""
        return between(self.by_kind.get(kind, []), first, stop)

    def medicines_between(self, first: int, stop: int) -> list[Term]:
        """Drugs and classes named from token `first` up to before `stop`."""
        return between(self.medicines, first, stop)


@once
def term_index(document: Document) -> TermIndex:
    return TermIndex(document)


def named_ids(document: Document) -> set[str]:
    """Ids of every concept that a text names itself or by something narrower."""
    index = term_index(document)
    return {concept_id for concept_id, terms in index.exact.items() if terms}.union(*(ids for ids, _ in index.nested))


def phrases_between(document: Document, label: str, first: int, stop: int) -> list[Term]:
    """Phrases of a label in `phrases.yaml` that start from token `first` up to before `stop`."""
    return between(term_index(document).exact.get(f"{PHRASE}:{label}", []), first, stop)
