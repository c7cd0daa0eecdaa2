"""Which verbs of a sentence order something, by the words of orders.yaml, and how far an order reaches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_clinical_drift.evidence.reading.text import HEADING, LABEL, Document, tokenise
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set
from pytest_clinical_drift.evidence.terms.words import loose_stem

TOWARD, AWAY, CARE, WAIT, OTHER = "toward", "away", "care", "wait", "other"


@dataclass(frozen=True, slots=True)
class Words:
    """Verbs and phrases that make an order."""

    verbs: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
    """First word -> (phrase, kind), longest first."""
    participles: dict[str, str]
    openers: frozenset[str]
    ingest: frozenset[str]
    """Verbs whose "it" is something taken."""
    modals: tuple[tuple[str, ...], ...]
    advising: tuple[tuple[str, ...], ...]
    praise: tuple[tuple[str, ...], ...]
    blame: tuple[tuple[str, ...], ...]
    conditions: tuple[tuple[str, ...], ...]
    concessions: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=1)
def words() -> Words:
    data: dict[str, Any] = load_data("orders")
    verbs: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for kind in (TOWARD, AWAY, CARE, WAIT, OTHER):
        for text in data[kind]:
            phrase = tokenise(str(text))
            for form in (phrase, (_gerund(phrase[0]), *phrase[1:])):
                verbs.setdefault(form[0], []).append((form, kind))
    phrases = {
        name: tuple(sorted((tokenise(str(text)) for text in data[name]), key=len, reverse=True))
        for name in ("modals", "advising", "praise", "blame", "conditions", "concessions")
    }
    return Words(
        {word: tuple(sorted(forms, key=lambda f: -len(f[0]))) for word, forms in verbs.items()},
        {str(word): str(kind) for word, kind in data["participles"].items()},
        frozenset(map(str, data["openers"])),
        frozenset(map(str, data["ingest"])),
        **phrases,
    )


_DOUBLED = word_set("advice", "doubled")


def _gerund(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    if verb in _DOUBLED:
        return verb + verb[-1] + "ing"
    return verb + "ing"


@lru_cache(maxsize=1)
def generic_words() -> frozenset[str]:
    """Stems that name nothing by themselves."""
    return frozenset(loose_stem(str(word)) for word in load_data("orders")["generic"])


_NEAR = 4
"""Tokens before a verb in which a denial acts on it."""
_REACH = 14
"""Tokens that an order governs at the most."""
_BREAKS = (";", ":", "–", "—", ".", "!", "?", "\n")
DENIERS = frozenset(("not", "never", "no", "neither", "nor", "cannot", "without"))
_AFTER_NOUNS = word_set("advice", "after_nouns")
_GOVERNS_NO_MORE = frozenset(("but", "because", "so", "which", "until", "unless", "if", "as"))

_RATES = [["once", word] for word in ("daily", "a", "per", "every", "weekly", "nightly", "more", "again", "in")]


_OBJECTS = frozenset(("the", "your", "it", "them", "any", "him", "her", "this", "that", "a", "an", "some", "all"))
_BEFORE_GERUNDS = word_set("advice", "before_gerunds")
_SPEAKERS = frozenset(("we", "i", "her", "him", "also", "who"))
_CALLS = frozenset(("ring", "call", "phone", "contact", "telephone"))
_NO_GERUNDS = frozenset(("ring", "bring"))
_ADDRESSED = frozenset(("", "you", "he", "she"))
_ADVERBS = word_set("advice", "adverbs")
_OTHERS = word_set("advice", "others")


class Clause:
    """One sentence of a reply, as the readers of orders walk through it."""

    def __init__(self, document: Document, first: int, stop: int) -> None:
        self._document, self._first, self._stop = document, first, stop
        self._words = document.words
        self._lists = words()

    def _clause(self, position: int) -> tuple[int, int]:
        document = self._document
        first = position
        while first > self._first and not broken(document, first):
            first -= 1
        last = position
        while last + 1 < self._stop and not broken(document, last + 1):
            last += 1
        return first, last

    def _end(self, begin: int) -> int:
        """The last token that an order from `begin` on governs: up to a mark, "but" or "because"."""
        document = self._document
        for place in range(begin, min(self._stop, begin + _REACH)):
            instead = self._words[place : place + 2] in (["rather", "than"], ["instead", "of"])
            if (place > begin and (instead or broken(document, place))) or self._words[place] in _GOVERNS_NO_MORE:
                return place - 1
        return min(self._stop, begin + _REACH) - 1

    def _list_end(self, begin: int) -> int:
        """The last token of "ibuprofen, naproxen or aspirin": up to a preposition or a verb."""
        for place in range(begin + 1, self._end(begin) + 1):
            if self._words[place] in _AFTER_NOUNS or self._words[place].endswith("ed"):
                return place - 1
        return self._end(begin)

    def _stops(self, place: int) -> bool:
        """Whether nothing follows that a verb could govern."""
        if place >= self._stop or broken(self._document, place) or "," in self._document.gaps[place]:
            return True
        return self._words[place] in _AFTER_NOUNS

    def _denied(self, position: int) -> bool:
        """Whether a denial or a giving-up stands closely before a verb, in its clause."""
        for place in range(position - 1, max(self._first, position - _NEAR) - 1, -1):
            if self._parted(place + 1):
                return False
            word = self._words[place]
            if word in DENIERS or word in ("needn't", "avoid", "stop", "against", "from"):
                following = self._words[place + 1]
                return word != "no" or following == "need" or (place + 1 == position and following.endswith("ing"))
            if word in ("but", "and", "so", "because"):
                return False
        return False

    def _conditional(self, cue: int) -> bool:
        words_, lists = self._words, self._lists
        labels = " ".join(self._document.labels_of(cue)[:1])
        if labels.endswith((" if", " for", " when")) or labels.startswith(("if ", "when ", "999", "call 999")):
            return True
        begin, end = self._clause(cue)
        for place in range(self._first, max(end, cue) + 1):
            for phrase in lists.conditions:
                if tuple(words_[place : place + len(phrase)]) != phrase or words_[place : place + 2] in _RATES:
                    continue
                granted = any(tuple(words_[p : p + len(c)]) == c for c in lists.concessions for p in (place, place - 1))
                near = place >= begin - 1 or place < cue
                if not granted and near:
                    return True
        return False

    def _verb_at(self, position: int) -> tuple[tuple[str, ...], str] | None:
        if self._words[position : position + 2] in (["do", "not"], ["double", "vision"]):
            return None
        for phrase, kind in self._lists.verbs.get(self._words[position], ()):
            if tuple(self._words[position : position + len(phrase)]) == phrase and position + len(phrase) <= self._stop:
                return phrase, kind
        return None

    def _orders(self, position: int, verb: str, denied: bool) -> bool:
        """Whether a verb orders or permits: in the imperative, after "you should" or "fine to", or after a denial."""
        document, lists = self._document, self._lists
        place = position - 1
        if verb.endswith("ing") and verb not in _NO_GERUNDS:
            leading = [w for w in self._words[max(self._first, position - 2) : position] if w not in _ADVERBS]
            return not _BEFORE_GERUNDS.isdisjoint(leading[-1:])
        light = lists.openers | DENIERS | _ADVERBS
        while place >= self._first and self._words[place] in light and not self._parted(place + 1):
            place -= 1
        opened = place < self._first or self._parted(place + 1)
        if opened or self._continues(position) or self._arranges(position):
            return True
        for length in (1, 2, 3):
            tail = tuple(self._words[max(self._first, place - length + 1) : place + 1])
            if tail in lists.modals or tail in lists.advising:
                subject = self._words[max(self._first, place - length - 3) : place - length + 1]
                thing = tail in lists.modals and bool(subject) and not self._is_addressed(place - length)
                return not thing and not any(w in _OTHERS for w in subject)
            if len(tail) == length and (*tail, self._words[place + 1]) in lists.advising:
                return True
        if not denied or self._words[position - 1] not in ("not", "never"):
            return False
        helper = position - 2
        if self._words[helper : helper + 1] in (["does"], ["did"], ["has"], ["is"], ["was"], ["were"], ["would"]):
            return False
        doer = self._words[helper - 1] if helper - 1 >= self._first and not broken(document, helper) else ""
        return doer in _ADDRESSED or doer in lists.openers

    def _parted(self, place: int) -> bool:
        return broken(self._document, place) or self._document.gaps[place] == ","

    def _arranges(self, position: int) -> bool:
        """ "Ring the surgery to put off the vaccine": what the call is for is an order too."""
        begin = self._clause(position)[0]
        said = self._words[begin:position]
        return said[-1:] == ["to"] and not _CALLS.isdisjoint(said) and DENIERS.isdisjoint(said)

    def _is_addressed(self, place: int) -> bool:
        """Whether the patient does it: not in "iron can reduce the absorption"."""
        word = self._words[place]
        named = place > self._first and self._document.spelled(place)[:1].isupper()
        return named or word in _ADDRESSED or word in self._lists.openers or word in _SPEAKERS

    def _continues(self, position: int) -> bool:
        """ "Use the new dose and return the old tablets": a second imperative after "and", with its object."""
        verb = self._verb_at(position)
        last = position + len(verb[0]) if verb else position + 1
        joined = position - 1 > self._first and self._words[position - 1] in ("and", "then")
        return joined and not _OBJECTS.isdisjoint(self._words[last : last + 1])


def broken(document: Document, index: int) -> bool:
    """Whether a new clause or list item begins at a token."""
    gap = document.gaps[index] if index < len(document.gaps) else "\n"
    if any(mark in gap for mark in _BREAKS):
        return True
    before, own = document.segments[index - 1] if index else -1, document.segments[index]
    return before >= 0 and before != own and document.segment_kinds[before] in (HEADING, LABEL)
