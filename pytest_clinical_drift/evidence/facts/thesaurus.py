"""Other words for a phrase of a fact, from the thesaurus of everyday wordings (`data/thesaurus/*.txt`).

The thesaurus is asked only for facts that no rule found, and read only then. One phrase of the fact is exchanged for
another of the same line, and the reworded fact goes through the same rules as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources

from pytest_clinical_drift.evidence.facts.fact import fillers
from pytest_clinical_drift.evidence.facts.relatives import people, same_people
from pytest_clinical_drift.evidence.reading.wording import stem, stems_of
from pytest_clinical_drift.evidence.terms.index import places_in
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document, tokenise

_IGNORED = word_set("thesaurus", "ignored")
# A denial turns what a phrase means: such phrases are left to the rules that read denials.
_DENIALS = word_set("thesaurus", "denials")
_LIGHT = word_set("thesaurus", "light")
# Words up to which the denial of a negative fact may reach: "does not have any".
_OPENING = word_set("thesaurus", "opening")
_LONGEST = 7
_GAP, _CLOSE = 12, 3  # tokens from one word of a phrase to the next in a text; "former wife" stands close together
_TWICE = 12  # wordings in which a second phrase is tried
_MOST = 50  # places of a word that are tried, so that a text of near-matches stays linear
_PREFIX = 4
_LEAST = 6
"""Letters that the new words of a wording must have in all: shorter ones say too little."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The fact with one phrase exchanged."""

    text: str
    stems: frozenset[str]
    """Stems of the words that were put in, but for the lightest."""
    order: tuple[str, ...]
    """The same stems as they follow each other."""
    phrase: str
    gap: int
    """Tokens from one of them to the next in a text that says the same."""


@dataclass(frozen=True, slots=True)
class _Line:
    """Phrases that say the same."""

    in_facts: frozenset[tuple[str, ...]]
    phrases: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=1)
def _raw_lines() -> tuple[str, ...]:
    folder = resources.files("pytest_clinical_drift") / "data" / "thesaurus"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".txt")), key=lambda file: file.name)
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


@lru_cache(maxsize=1)
def _index() -> dict[str, frozenset[int]]:
    """Lines by the first letters of their phrases' words: which lines may hold a phrase of a fact."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_raw_lines()):
        for word in set(line.partition("|")[0].lower().replace(";", " ").replace("-", " ").split()):
            found.setdefault(word[:_PREFIX], set()).add(number)
    return {prefix: frozenset(numbers) for prefix, numbers in found.items()}


@lru_cache(maxsize=2048)
def _line(number: int) -> _Line:
    words, _, also = _raw_lines()[number].partition("|")
    first, others = ([tokenise(phrase) for phrase in half.split(";")] for half in (words, also))
    return _Line(frozenset(_key(phrase) for phrase in first), tuple(tuple(p) for p in (*first, *others) if p))


def _key(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(stem(word) for word in words if word not in _IGNORED)


@lru_cache(maxsize=4096)
def other_wordings(text: str) -> tuple[Wording, ...]:
    """Every way to exchange one phrase of a fact, the longest that a line knows at each place."""
    words = [word for word in tokenise(text) if word not in _IGNORED]
    if not _DENIALS.isdisjoint(words):
        return ()
    numbers = sorted({number for word in words for number in _index().get(word[:_PREFIX], ())})
    lines = [_line(number) for number in numbers]
    found: dict[str, Wording] = {}
    for first in range(len(words)):
        for last in range(min(len(words), first + _LONGEST), first, -1):
            key = _key(words[first:last])
            known = [line for line in lines if key in line.in_facts]
            for line in known:
                for wording in _exchanged(words, first, last, key, line):
                    found.setdefault(wording.text, wording)
            if known:
                break
    return tuple(found.values())


def _exchanged(words: Sequence[str], first: int, last: int, key: tuple[str, ...], line: _Line) -> Iterable[Wording]:
    named = people(words[first:last])
    for phrase in line.phrases:
        if _key(phrase) == key or not _DENIALS.isdisjoint(phrase) or not same_people(named, people(phrase)):
            continue
        order = tuple(dict.fromkeys(stem(word) for word in phrase if word not in _LIGHT and word not in _IGNORED))
        if set(order) < set(key):
            continue  # "appetite" says less than "poor appetite"
        if sum(map(len, order)) >= _LEAST and not fillers().issuperset(phrase):
            gap = _CLOSE if len(order) == len(phrase) else _GAP
            yield Wording(
                " ".join((*words[:first], *phrase, *words[last:])), frozenset(order), order, " ".join(phrase), gap
            )


def likely_wordings(text: str, document: Document) -> list[Wording]:
    """The wordings of a fact whose new words all stand in one document."""
    known = set(stems_of(document))
    found = [wording for wording in other_wordings(text) if wording.stems <= known]
    return found + [twice for wording in found[:_TWICE] for twice in _exchanged_twice(wording, known)]


def denied_wordings(text: str, document: Document) -> list[Wording]:
    """As `likely_wordings`, for a fact that opens with a denial: what is denied in other words, denied again."""
    words = list(tokenise(text))
    first = next((place for place, word in enumerate(words) if word not in _OPENING), len(words))
    if _DENIALS.isdisjoint(words[:first]) or first == len(words):
        return []
    found = likely_wordings(" ".join(words[first:]), document)
    return [replace(wording, text=f"no {wording.text}") for wording in found]


def _exchanged_twice(wording: Wording, known: set[str]) -> list[Wording]:
    """A wording with a second phrase exchanged that leaves the first alone."""
    found = []
    for second in other_wordings(wording.text):
        if second.stems <= known and wording.phrase in second.text and second.phrase not in wording.phrase:
            found.append(second)
    return found


def said_together(wording: Wording, document: Document, evidence: Iterable[tuple[int, int]]) -> bool:
    """Whether the new words stand close together in a sentence that the evidence comes from."""
    sentences = {document.sentences[token] for span in evidence for token in span}
    stems = stems_of(document)
    places_of = [[p for p in places_in(stems, key) if document.sentences[p] in sentences] for key in wording.order]
    if len(places_of) == 1:
        return bool(places_of[0])
    if not all(places_of):
        return False
    return any(_follows(document, places_of, start, wording.gap) for start in places_of[0][:_MOST])


def _follows(document: Document, places_of: Sequence[list[int]], start: int, gap: int) -> bool:
    """Whether the other words stand after the first in their order, or all of them right around it."""
    at: int | None = start
    for places in places_of[1:]:
        at = next((p for p in places if at is not None and 0 < p - at <= gap), None)
    if at is not None and document.clauses[at] == document.clauses[start]:
        return True
    taken = {start}
    for places in places_of[1:]:
        near = [p for p in places if abs(p - start) <= len(places_of) and p not in taken]
        near = [p for p in near if document.clauses[p] == document.clauses[start]]
        if not near:
            return False
        taken.add(near[0])
    return True
