"""Orders in a reply: verb or judgement, toward or away from what they govern, and whether under a condition.

    find_advice("Don't take ibuprofen; paracetamol 1 g is safer.")[0]
    Advice(action='take', polarity="don't", object='drug:ibuprofen', …)

Only what is plainly an order, a permission or a warning counts. Questions and what is only said to be taken are none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise, product
from typing import Any

from pytest_clinical_drift.evidence.facts.medications import is_modifier
from pytest_clinical_drift.evidence.reading.text import HEADING, LABEL, Document, read, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import Term, phrases_between, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary, word_set

TOWARD = "toward"
AWAY = "away"
CARE = "care"
WAIT = "wait"
OTHER = "other"
Phrase = tuple[str, ...]

_REACH = 14
"""Tokens that an order governs at the most."""
_BEFORE = 40
"""Tokens before an order in which a condition or what "it" means is looked for."""
_BREAKS = (";", ":", "–", "—", ".", "!", "?", "\n")
_DENIERS = frozenset(("not", "never", "no", "neither", "nor", "cannot", "without"))
_GOVERNS_NO_MORE = frozenset(("but", "because", "so", "which", "until", "unless", "if", "as"))
_INSTEAD = (["rather", "than"], ["instead", "of"])
_COPULAS = frozenset(("is", "are", "be", "was", "were", "it's", "that's", "s", "has", "have"))
_REPORTING = frozenset(("say", "said", "think", "mean", "sure"))
_JOINING = frozenset(("so", "but", "and", "it", "that", "which", "because"))
_ADDRESSED = frozenset(("you", "he", "she", "we", "i"))
_OBJECTS = frozenset(("the", "your", "it", "them", "any", "this", "that", "a", "an", "some", "all"))
_AFTER_NOUNS = word_set("advice", "after_nouns")
_MODIFIED = word_set("advice", "modified")


class Words:
    """The words of orders.yaml."""

    def __init__(self, data: dict[str, Any]) -> None:
        said = {name: [tokenise(str(text)) for text in data[name]] for name in data if isinstance(data[name], list)}
        self.verbs = _by_first_word({kind: said[kind] for kind in (TOWARD, AWAY, CARE, WAIT, OTHER)})
        """By their first word, longest first, with the kind of each."""
        self.judgements = _by_first_word({TOWARD: said["praise"], AWAY: said["blame"]})
        self.licences = frozenset((*said["modals"], *said["advising"]))
        """What stands before a verb that orders or permits: "you should", "safe to"."""
        self.light = frozenset(map(str, data["openers"])) | _DENIERS
        self.taking = frozenset(map(" ".join, said["taking"]))
        """Verbs about something taken."""
        self.had = self.taking | frozenset(map(" ".join, (*said["praise"], *said["blame"])))
        """The same with judgements, which may be about something taken."""
        self.parted: dict[str, list[str]] = data["parted"]


def _by_first_word(kinds: dict[str, list[Phrase]]) -> dict[str, list[tuple[Phrase, str]]]:
    by_word: dict[str, list[tuple[Phrase, str]]] = {}
    every = chain.from_iterable(product(phrases, (kind,)) for kind, phrases in kinds.items())
    for phrase, kind in sorted(every, key=lambda item: -len(item[0])):
        by_word.setdefault(phrase[0], []).append((phrase, kind))
    return by_word


@lru_cache(maxsize=1)
def words() -> Words:
    return Words(load_vocabulary("orders"))


@dataclass(frozen=True, slots=True)
class Advice:
    action: str
    """The verb, or the judgement."""
    kind: str
    """toward, away, care, wait or other."""
    polarity: str
    """do or don't: whether the patient is to have or do what is governed."""
    object: str | None
    """Id of the first medicine it is about ("drug:ibuprofen"); None where it names none."""
    quote: str
    """The sentence."""
    start: int
    end: int
    conditional: bool
    first: int
    """First and last token that it governs."""
    last: int
    medicines: tuple[Term, ...]
    """The medicines it is about, by name or by "it"."""
    document: Document

    @property
    def wanted(self) -> bool:
        return self.polarity == "do"


@dataclass(frozen=True, slots=True)
class _Cue:
    """An order's own words, and what it governs."""

    first: int
    stop: int
    action: str
    kind: str
    wanted: bool
    begin: int
    """First token that it governs."""
    end: int
    """Behind the last one."""


class _Clause:
    """The tokens of one sentence from one mark to the next."""

    def __init__(self, document: Document, first: int, stop: int) -> None:
        self._document = document
        self._first = first
        self._stop = stop
        self._words = document.words
        self._gaps = document.gaps

    def cues(self) -> Iterator[_Cue]:
        at = self._first
        while at < self._stop:
            cue = self._refused(at) or self._verb(at) or self._judgement(at)
            if cue is not None:
                yield cue
            at = cue.stop if cue is not None else at + 1

    def _phrase_at(self, at: int, listed: dict[str, list[tuple[Phrase, str]]]) -> tuple[Phrase, str] | None:
        phrases = listed.get(self._words[at], ())
        return next((f for f in phrases if tuple(self._words[at : min(self._stop, at + len(f[0]))]) == f[0]), None)

    def _verb(self, at: int) -> _Cue | None:
        form = self._phrase_at(at, words().verbs)
        if form is None or self._words[at : at + 2] in (["do", "not"], ["double", "vision"]):
            return None
        phrase, kind = form
        begin = at + len(phrase)
        near = self._words[max(self._first, at - 4) : at]
        for stopper in ("but", "and", "so", "because"):
            near = near[near.index(stopper) + 1 :] if stopper in near else near
        denied = not (_DENIERS - {"no"}).isdisjoint(near) or ("no", "need") in pairwise(near)
        if not self._is_licensed(at, begin, denied) or self._words[begin : begin + 2] == ["nothing", "else"]:
            return None
        denied = denied or self._words[begin : begin + 1] in (["nothing"], ["no"], ["none"])
        end = self._stop if kind == WAIT else self._end(begin)  # "wait until the morning"
        # "leave the film off", "put that pad away", "throw it out"; not "give it today, then back to Sundays"
        particles = words().parted.get(phrase[0], ())
        for place in range(begin + 1, min(self._stop, begin + 7)):
            if "," in self._gaps[place]:
                break
            if self._words[place] in particles:
                phrase = (*phrase, self._words[place])
                kind = AWAY
                end = place
                break
        return _Cue(at, begin, " ".join(phrase), kind, (kind != AWAY) != denied, begin, end)

    def _is_licensed(self, at: int, begin: int, denied: bool) -> bool:
        """Whether a verb orders or permits: in the imperative, or after "you should", "fine to" or "you do not"."""
        gaps = self._gaps
        light = words().light
        if self._words[at - 1] in ("and", "then") and not _OBJECTS.isdisjoint(self._words[begin : begin + 1]):
            return True
        place = at - 1
        while place >= self._first and self._words[place] in light and gaps[place + 1] != ",":
            place -= 1
        if place < self._first or gaps[place + 1] == ",":
            return True
        for before in range(place - 1, place - 4, -1):
            if tuple(self._words[max(self._first, before + 1) : place + 1]) in words().licences:
                return before < self._first or self._words[before] in _ADDRESSED | light | _COPULAS
        return denied and self._words[place] == "you"

    def _end(self, begin: int) -> int:
        for place in range(begin, min(self._stop, begin + _REACH)):
            if self._words[place] in _GOVERNS_NO_MORE or self._words[place : place + 2] in _INSTEAD:
                return place
        return min(self._stop, begin + _REACH)

    def _refused(self, at: int) -> _Cue | None:
        """ "No ibuprofen, naproxen or aspirin" at the start of a clause or after a comma, and "no need for"."""
        following = self._words[at + 1 : min(self._stop, at + 5)]
        if self._words[at] != "no" or not following or self._gaps[at + 1]:
            return None
        if following[:2] == ["need", "for"]:
            return _Cue(at, at + 3, "no need for", AWAY, False, at + 3, self._end(at + 3))
        begins = at == self._first or self._gaps[at].startswith((",", "("))
        if not begins or following[0] in ("need", "longer") or not _COPULAS.isdisjoint(following[1:]):
            return None
        end = self._end(at + 1)
        ends = (place for place in range(at + 2, end) if self._words[place] in _AFTER_NOUNS)
        return _Cue(at, at + 1, "no", AWAY, False, at + 1, next(ends, end))

    def _judgement(self, at: int) -> _Cue | None:
        """ "X is fine", "X isn't suitable for you": what stands before is judged."""
        form = self._phrase_at(at, words().judgements) if at > self._first else None
        joined = (n for n in range(at - 1, self._first, -1) if self._gaps[n] == ",")
        begin = next((n for n in joined if self._words[n] in _JOINING), self._first)
        before = self._words[begin:at]
        if form is None or not _REPORTING.isdisjoint(before):
            return None
        phrase, kind = form
        acting = phrase[0] in ("works", "will", "does", "should")
        if kind == TOWARD and not acting and _COPULAS.isdisjoint(before[-6:]):
            return None
        denied = not _DENIERS.isdisjoint(before[-3:])
        return _Cue(at, at + len(phrase), " ".join(phrase), kind, (kind == TOWARD) != denied, begin, at)


def _advice(document: Document, cue: _Cue, end: int) -> Advice:
    span = document.sentence_span(cue.first)
    begin = min(cue.begin, span[1] - 1)
    last = min(max(cue.begin, end - 1), span[1] - 1)
    index = term_index(document)
    medicines = [t for t in index.medicines_between(begin, last + 1) if not is_modifier(document, t.last, _MODIFIED)]
    if not medicines and cue.action in words().had and document.words[begin] in ("it", "them", "those", "these"):
        # the one named last, here or in the sentence before
        before = index.medicines_between(max(0, begin - _BEFORE), begin)
        here = [t for t in before if document.sentences[t.first] == document.sentences[begin]]
        last_one = [t for t in before if document.sentences[t.first] == document.sentences[begin] - 1]
        medicines = here[-1:] or (last_one if len({t.concept for t in last_one}) == 1 else [])
    label = document.label_of(cue.first)
    labelled = label.endswith((" if", " for", " when")) or label.startswith(("if ", "when ", "999", "call 999"))
    behind = min(span[1], max(cue.end, cue.stop - 1) + 1)
    condition = labelled or phrases_between(document, "conditions", max(span[0], cue.first - _BEFORE), behind)
    start = document.starts[span[0]]
    stop = document.ends[span[1] - 1]
    return Advice(
        cue.action,
        cue.kind,
        "do" if cue.wanted else "don't",
        medicines[0].concept.id if medicines else None,
        document.raw[start:stop],
        start,
        stop,
        bool(condition),
        begin,
        last,
        tuple(medicines),
        document,
    )


def find_advice(text: str) -> list[Advice]:
    """Every order of a reply, in order; hidden reasoning gives none."""
    return list(advice_of(text))


document_of = lru_cache(maxsize=512)(read)


@lru_cache(maxsize=1024)
def advice_of(text: str) -> tuple[Advice, ...]:
    """`find_advice`, cached: comparing the turns of a conversation reads each reply once."""
    document = document_of(text)
    return tuple(chain.from_iterable(_orders(document, first) for first in document.sentence_starts))


def _orders(document: Document, start: int) -> Iterator[Advice]:
    first, stop = document.sentence_span(start)
    if is_question(document, stop):
        return
    marks = [first]  # where a clause or list item begins
    for at in range(first + 1, stop):
        before, own = document.segments[at - 1 : at + 1]
        titled = before != own and document.segment_kinds[before] in (HEADING, LABEL)
        if titled or any(mark in document.gaps[at] for mark in _BREAKS):
            marks.append(at)
    for begin, end in pairwise((*marks, stop)):
        cues = list(_Clause(document, begin, end).cues())
        for number, cue in enumerate(cues):
            following = [c.first for c in cues[number + 1 : number + 2] if cue.begin >= cue.stop]
            yield _advice(document, cue, min([cue.end, *following]))


def is_question(document: Document, stop: int) -> bool:
    tail = document.raw[document.ends[stop - 1] : document.ends[stop - 1] + 4]
    return "?" in tail.split("\n")[0]
