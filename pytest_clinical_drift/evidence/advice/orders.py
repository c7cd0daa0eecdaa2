"""Orders in a reply: verb or judgement, toward or away from what they govern, and under which condition.

    find_advice("Don't take ibuprofen; paracetamol 1 g is safer.")[0]
    Advice(action='take', polarity="don't", object='drug:ibuprofen', …)

Only what is plainly an order, a permission or a warning counts. Questions, quotations and what is only said to be taken
are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice.clause import AWAY, DENIERS, TOWARD, WAIT, Clause, broken
from pytest_clinical_drift.evidence.facts.taken import is_modifier
from pytest_clinical_drift.evidence.mentions.regimen import read_regimen
from pytest_clinical_drift.evidence.reading.text import LABEL, Document, read
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, load_data, word_set

Found = tuple[int, int, str, str, bool, int, int]
"""First and last token of the cue, the verb or judgement, its kind, whether it is wanted, and what it governs."""

_COPULAS = frozenset(("is", "are", "be", "was", "were", "it's", "that's", "s"))


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


class Sentence(Clause):
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
        named = [t for t in index.medicines_between(begin, last + 1) if not is_modifier(document, t.last, _MODIFIED)]
        if named or not ingested or self._words[begin : begin + 1] not in (["it"], ["them"], ["those"], ["these"]):
            return tuple(named)
        before = index.medicines_between(max(0, begin - 40), begin)
        here = [t for t in before if document.sentences[t.first] == document.sentences[begin]]
        last_one = [t for t in before if document.sentences[t.first] == document.sentences[begin] - 1]
        if before or document.sentences[begin] > 1:
            return tuple(here[-1:] or (last_one if len({t.concept for t in last_one}) == 1 else ()))
        return tuple(index.medicines_between(begin, begin + 40)[:1])  # "Yes, take it. Flucloxacillin is a usual choice"

    def _verbs(self) -> Iterator[Found]:
        position = self._first
        while position < self._stop:
            form = self._verb_at(position)
            if form is None:
                position += 1
                continue
            phrase, kind = form
            last = position + len(phrase) - 1
            denied = self._denied(position) or self._words[last + 1 : last + 2] in (["nothing"], ["no"], ["none"])
            parted = self._particle(phrase[0], last)
            if parted is not None:
                phrase, kind = (*phrase, self._words[parted]), AWAY
            done = phrase[0] == "have" and not _DONE.isdisjoint(self._words[last + 1 : self._stop])  # have it noted
            done = done or self._words[last + 1 : last + 3] == ["nothing", "else"]
            if self._orders(position, phrase[0], denied) and not done:
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
        document, words = self._document, self._words
        for position in range(self._first, self._stop):
            if words[position] not in ("no", "off"):
                continue
            mark = document.gaps[position].startswith((",", "("))
            begins = position == self._first or mark or broken(document, position)
            following = words[position + 1 : position + 2]
            stays = words[position - 1 : position] in (["stay"], ["keep"], ["be"], ["are"])
            if words[position : position + 3] in (["no", "need", "for"], ["no", "need", "of"]):
                yield position, position + 2, "no need for", AWAY, False, position + 3, self._end(position + 3)
            elif words[position] == "off" and following in (["the"], ["your"], ["any"]) and (begins or stays):
                yield position, position + 1, "off", AWAY, False, position + 2, self._end(position + 2)
            elif words[position] == "no" and begins and following not in (["need"], ["longer"]):
                tight = document.gaps[position + 1 : position + 2] == [""]
                if tight and _STATING.isdisjoint(words[position + 2 : position + 5]):
                    yield position, position, "no", AWAY, False, position + 1, self._list_end(position + 1)

    def _judgements(self) -> Iterator[Found]:
        """ "X is fine", "X isn't suitable for you": what stands before is judged."""
        for position in range(self._first + 1, self._stop):
            for phrases, wanted in ((self._lists.blame, False), (self._lists.praise, True)):
                phrase = next((p for p in phrases if tuple(self._words[position : position + len(p)]) == p), None)
                if phrase is None:
                    continue
                begin, end = self._clause(position)
                gaps = self._document.gaps
                joined = [i for i in range(begin + 1, position) if gaps[i] == "," and self._words[i] in _JOINING]
                begin = max([begin, *joined])
                before = self._words[begin:position]
                denied = self._denied(position) or not DENIERS.isdisjoint(before[-3:])
                copula = not _COPULAS.isdisjoint(before[-6:]) or self._words[position - 1] in _JUDGED
                acting = phrase[0] in ("works", "will", "does", "should")
                if not _REPORTING.isdisjoint(before) or (wanted and not copula and not acting):
                    continue  # "I did not say that X was fine"
                last = position + len(phrase) - 1
                to_you = self._words[position - 1] == "you"
                governed = (last + 1, min(end, last + 6)) if to_you else (begin, position - 1)
                yield position, last, " ".join(phrase), TOWARD if wanted else AWAY, wanted != denied, *governed
                break


_STATING = _COPULAS | {"means", "has", "have"}
_REPORTING = frozenset(("say", "said", "think", "mean", "sure"))
_JUDGED = frozenset(("you", "it", "that", "they", "all"))
_JOINING = frozenset(("so", "but", "and", "it", "that", "which", "because"))
_MODIFIED = word_set("advice", "modified")
_DONE = word_set("advice", "done")


def _line_before(document: Document, index: int) -> str:
    """What stands before a token in its line."""
    start = document.starts[index]
    return document.raw[document.raw.rfind("\n", 0, start) + 1 : start]


def _in_quotes(document: Document, index: int) -> bool:
    """Inside quotation marks of its line: words for somebody else."""
    before = _line_before(document, index)
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def find_advice(text: str) -> list[Advice]:
    """Every order of a reply, in order; hidden reasoning gives none."""
    return list(advice_of(text))


document_of = lru_cache(maxsize=512)(read)


@lru_cache(maxsize=1024)
def advice_of(text: str) -> tuple[Advice, ...]:
    """`find_advice`, remembered: comparing the turns of a conversation reads each reply once."""
    document = document_of(text)
    spans = [document.sentence_span(first) for first in document.sentence_starts]
    return tuple(
        order
        for first, stop in spans
        # a blockquote is to be said to somebody else
        if not (_line_before(document, first).lstrip().startswith(">") or is_question(document, stop))
        for order in Sentence(document, first, stop).orders()
    )


def is_question(document: Document, stop: int) -> bool:
    tail = document.raw[document.ends[stop - 1] : document.ends[stop - 1] + 4]
    return "?" in tail.split("\n")[0]


# ---- stands that are no orders


_NEAR = 6
"""Tokens before a name in which a denial speaks against it."""
_OPENING = 4
"""Sentences at the start of a reply that answer what the patient asked about."""
_REFUSING_LABELS = word_set("advice", "refusing_labels")
OTHER_ONE = frozenset(("second", "another", "other", "extra", "more", "additional"))
"""What is refused of "no second antihistamine", "no extra apixaban" is not the medicine."""
_NOT_REFUSED = OTHER_ONE | {"need", "needs"}
_REFUSALS = frozenset(("no", "not", "never", "neither", "avoid"))


@lru_cache(maxsize=512)
def spoken_against(text: str) -> dict[str, str]:
    """Medicines that a reply speaks against and nowhere wants, each with the sentence."""
    document = document_of(text)
    orders = [o for o in advice_of(text) if o.kind in (TOWARD, AWAY)]
    wanted = {t.concept.id for o in orders if o.wanted for t in o.medicines}
    flat = [o for o in orders if not o.wanted and not o.conditional and not o.action.startswith("hold")]
    ruled_out = {t.first for o in flat for t in o.medicines if OTHER_ONE.isdisjoint(o.quote.lower().split())}
    refused = any(not o.medicines and document.sentences[o.first] < _OPENING for o in flat)
    found: dict[str, str] = {}
    for term in term_index(document).medicines:
        answered = refused and document.sentences[term.first] < _OPENING and term.concept.kind == DRUG
        if term.concept.id not in wanted and (answered or term.first in ruled_out or _is_refused(document, term.first)):
            found.setdefault(term.concept.id, document.sentence(term.first))
    return found


def _is_refused(document: Document, index: int) -> bool:
    """Whether a denial stands closely before a name, or in the label of its list."""
    if any(not _REFUSING_LABELS.isdisjoint(label.split()) for label in document.labels_of(index)):
        return True
    for place in range(index - 1, max(-1, index - 1 - _NEAR), -1):
        if broken(document, place + 1) or "," in document.gaps[place + 1]:
            return False
        if document.words[place] in _REFUSALS:
            return _NOT_REFUSED.isdisjoint(document.words[place:index])
    return False


def offered(text: str) -> Iterator[tuple[Term, str]]:
    """ "Pain: naproxen 500 mg with food": a medicine with its strength that opens what a label introduces."""
    document = document_of(text)
    for term in term_index(document).medicines:
        before = term.first - 1
        labelled = before >= 0 and document.segment_kinds[document.segments[before]] == LABEL
        labelled = labelled and document.segments[before] != document.segments[term.first]
        first, stop = document.sentence_span(term.first)
        dosed = [t for t in term_index(document).medicines_between(first, stop) if read_regimen(document, t).strengths]
        if labelled and dosed == [term] and not _is_refused(document, term.first):
            yield term, document.sentence(term.first)
