"""The orders of one sentence: by a verb, by "no …" or "off the …", or by a judgement of what stands before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_clinical_drift.evidence.advice.clause import DENIERS, broken
from pytest_clinical_drift.evidence.advice.ordering import Ordering
from pytest_clinical_drift.evidence.advice.words import AWAY, TOWARD, WAIT
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set

Found = tuple[int, int, str, str, bool, int, int]
"""First and last token of the cue, the verb or judgement, its kind, whether it is wanted, and what it governs."""

_COPULAS = frozenset(("is", "are", "be", "was", "were", "it's", "that's", "s"))


@dataclass(frozen=True, slots=True)
class Advice:
    """One order, permission or warning."""

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
        """Whether the patient is to have or do it."""
        return self.polarity == "do"


class Sentence(Ordering):
    """Finds the orders of one sentence."""

    def orders(self) -> Iterator[Advice]:
        every = (*self._verbs(), *self._passives(), *self._nouns(), *self._judgements())
        found = [order for order in every if not _in_quotes(self._document, order[0])]
        for number, order in enumerate(sorted(found)):
            cue, last_cue, action, kind, wanted, begin, end = order
            following = [o[0] for o in sorted(found)[number + 1 :] if o[0] > last_cue]
            if begin > last_cue and following:
                end = min(end, following[0] - 1)
            yield self._advice(cue, action, kind, wanted, begin, max(begin, end))

    def _advice(self, cue: int, action: str, kind: str, wanted: bool, begin: int, end: int) -> Advice:
        document = self._document
        begin, last = min(begin, self._stop - 1), min(end, self._stop - 1)
        judged = tuple(action.split()) in self._lists.praise or tuple(action.split()) in self._lists.blame
        medicines = self._medicines(begin, last, ingested=judged or action in self._lists.ingest)
        start, stop = document.starts[self._first], document.ends[self._stop - 1]
        return Advice(
            action, kind, "do" if wanted else "don't", medicines[0].concept.id if medicines else None,
            document.raw[start:stop], start, stop, self._conditional(cue), begin, last, medicines, document,
        )  # fmt: skip

    def _medicines(self, begin: int, last: int, *, ingested: bool) -> tuple[Term, ...]:
        """Medicines among the governed words; "it" stands for the one named last, here or in the sentence before."""
        document, index = self._document, term_index(self._document)
        named = [t for t in index.medicines_between(begin, last + 1) if not _is_modifier(document, t)]
        if named or not ingested or self._words[begin : begin + 1] not in (["it"], ["them"], ["those"], ["these"]):
            return tuple(named)
        before = index.medicines_between(max(0, begin - 40), begin)
        here = [t for t in before if document.sentences[t.first] == document.sentences[begin]]
        last_one = [t for t in before if document.sentences[t.first] == document.sentences[begin] - 1]
        if before or document.sentences[begin] > 1:
            return tuple(here[-1:] or (last_one if len({t.concept for t in last_one}) == 1 else ()))
        return tuple(
            index.medicines_between(begin, min(len(document), begin + 40))[:1]
        )  # "Yes, take it. Flucloxacillin is a usual choice"

    def _verbs(self) -> Iterator[Found]:
        position = self._first
        while position < self._stop:
            form = self._verb_at(position)
            if form is None:
                position += 1
                continue
            phrase, kind = form
            last = position + len(phrase) - 1
            if self._words[last + 1 : last + 3] == ["nothing", "else"]:
                position = last + 1
                continue
            denied = self._denied(position) or self._words[last + 1 : last + 2] in (["nothing"], ["no"], ["none"])
            parted = self._particle(phrase[0], last)
            if parted is not None:
                phrase, kind = (*phrase, self._words[parted]), AWAY
            returned = phrase[0] == "have" and not _DONE.isdisjoint(self._words[last + 1 : self._stop])  # have it noted
            returned = returned or (
                phrase[0] == "give" and "back" in self._words[last + 1 : last + 5]
            )  # "give the tablets back"
            if self._orders(position, phrase[0], denied) and not returned:
                wanted = (kind != AWAY) != denied
                begin, end = (last + 1, parted - 1) if parted is not None else (last + 1, self._end(last + 1))
                if kind == WAIT:
                    end = self._clause(position)[1]  # "wait until the morning"
                if kind in (TOWARD, AWAY) and (end < begin or self._stops(begin)) and position > self._first:
                    begin, end = self._clause(position)[0], position - 1  # "the calcium you can leave off"
                yield position, last, " ".join(phrase), kind, wanted, begin, end
            position = last + 1

    def _particle(self, verb: str, last: int) -> int | None:
        """The particle of "leave the film off", "put that pad away", "throw it out"; None for another verb."""
        particles = load_data("orders")["parted"].get(verb, ())
        for place in range(last + 2, min(self._stop, last + 8)):
            if broken(self._document, place) or "," in self._document.gaps[place]:
                return None
            if self._words[place] in particles:
                return None if self._words[place - 1].endswith("ed") else place  # "keep them locked away"
        return None

    def _passives(self) -> Iterator[Found]:
        """ "should always be taken with food", "mustn't be given": about what stands before, or after."""
        for position in range(self._first + 1, self._stop):
            kind = self._lists.participles.get(self._words[position])
            if kind is None or "be" not in self._words[max(self._first, position - 2) : position]:
                continue
            before = self._words[max(self._first, position - 6) : position]
            if any((word,) in self._lists.modals or word in ("need", "needs", "to") for word in before):
                begin, end = self._clause(position)
                wanted = (kind == TOWARD) != any(word in DENIERS for word in before)
                yield position, position, self._words[position], kind, wanted, begin, end

    def _nouns(self) -> Iterator[Found]:
        """ "No ibuprofen, naproxen or aspirin", "off the mower": at the start of a clause or list item."""
        document = self._document
        for position in range(self._first, self._stop):
            word = self._words[position]
            begins = (
                position == self._first or broken(document, position) or document.gaps[position].startswith((",", "("))
            )
            states = any(
                w in _COPULAS or w in ("means", "has", "have") for w in self._words[position + 2 : position + 5]
            )
            if (
                word == "no"
                and begins
                and not states
                and self._words[position + 1 : position + 2] not in (["need"], ["longer"])
                and document.gaps[position + 1 : position + 2] == [""]
            ):
                yield position, position, "no", AWAY, False, position + 1, self._list_end(position + 1)
            if (
                word == "nothing"
                and begins
                and self._words[position + 1 : position + 3] in (["to", "eat"], ["to", "drink"], ["by", "mouth"])
            ):
                yield position, position, "nothing", AWAY, False, position + 1, self._end(position + 1)
            if self._words[position : position + 3] in (["no", "need", "for"], ["no", "need", "of"]):
                yield position, position + 2, "no need for", AWAY, False, position + 3, self._end(position + 3)
            if (
                word == "off"
                and self._words[position + 1 : position + 2] in (["the"], ["your"], ["any"])
                and (begins or self._words[position - 1] in ("stay", "keep", "be", "are"))
            ):
                yield position, position + 1, "off", AWAY, False, position + 2, self._end(position + 2)

    def _judgements(self) -> Iterator[Found]:
        """ "X is fine", "X isn't suitable for you": what stands before is judged."""
        document = self._document
        for position in range(self._first + 1, self._stop):
            for phrases, wanted in ((self._lists.blame, False), (self._lists.praise, True)):
                phrase = next((p for p in phrases if tuple(self._words[position : position + len(p)]) == p), None)
                if phrase is None:
                    continue
                begin, end = self._clause(position)
                joined = [
                    i for i in range(begin + 1, position) if document.gaps[i] == "," and self._words[i] in _JOINING
                ]
                begin = max([begin, *joined])
                denied = self._denied(position) or any(
                    w in DENIERS for w in self._words[max(begin, position - 3) : position]
                )
                if any(w in ("say", "said", "think", "mean", "sure") for w in self._words[begin:position]):
                    continue  # "I did not say that X was fine"
                copula = any(w in _COPULAS for w in self._words[max(begin, position - 6) : position])
                copula = copula or self._words[position - 1] in ("you", "it", "that", "they", "all")
                if wanted and not copula and phrase[0] not in ("works", "will", "does", "should"):
                    continue
                last = position + len(phrase) - 1
                governed = (
                    (last + 1, min(end, last + 6)) if self._words[position - 1] == "you" else (begin, position - 1)
                )
                kind = TOWARD if wanted else AWAY
                yield position, last, " ".join(phrase), kind, wanted != denied, *governed
                break


_JOINING = frozenset(("so", "but", "and", "it", "that", "which", "because"))
_MODIFIED = word_set("advice", "modified")
_DONE = frozenset(
    ("written", "noted", "recorded", "documented", "listed", "checked", "looked", "marked", "tested", "removed")
)


def _is_modifier(document: Document, term: Term) -> bool:
    """ "your lithium box": the medicine only says which."""
    after = term.last + 1
    return after < len(document) and document.gaps[after] in ("", "-") and document.words[after] in _MODIFIED


def _in_quotes(document: Document, index: int) -> bool:
    """Inside quotation marks of its line: words for somebody else."""
    line = document.raw.rfind("\n", 0, document.starts[index]) + 1
    before = document.raw[line : document.starts[index]]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")
