"""The document a text is read into, and its sentences, clauses and labelled stretches; `text` describes every field."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeVar

from pytest_clinical_drift.evidence.reading.layout import CELL, HEADING, LABEL, Segment
from pytest_clinical_drift.evidence.reading.tokens import CLAUSE, COLON, DOT, NUMBER, STOP, TIGHT_DOT, cut


@dataclass(slots=True, eq=False, repr=False)
class Document:
    raw: str
    words: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    clauses: list[int] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    sentence_starts: list[int] = field(default_factory=list)
    clause_starts: list[int] = field(default_factory=list)
    segment_starts: list[int] = field(default_factory=list)
    segment_kinds: list[int] = field(default_factory=list)
    segment_labels: list[tuple[str, ...]] = field(default_factory=list)
    cache: dict[Any, Any] = field(default_factory=dict)
    """Whatever later stages find once per document, see `once`."""

    def __len__(self) -> int:
        return len(self.words)

    def quote(self, first: int, last: int) -> str:
        """The raw text from token `first` to token `last`, both included."""
        return self.raw[self.starts[first] : self.ends[last]]

    def spelled(self, index: int) -> str:
        return self.raw[self.starts[index] : self.ends[index]]

    def token_at(self, offset: int) -> int:
        """The first token that ends after a raw offset (`len(self)` when there is none)."""
        return bisect_right(self.ends, offset)

    def sentence_span(self, index: int) -> tuple[int, int]:
        """First token and one past the last token of the sentence a token stands in."""
        starts = self.sentence_starts
        number = self.sentences[index]
        return starts[number], starts[number + 1] if number + 1 < len(starts) else len(self.words)

    def clause_span(self, index: int) -> tuple[int, int]:
        """The same of the clause."""
        starts = self.clause_starts
        number = self.clauses[index]
        return starts[number], starts[number + 1] if number + 1 < len(starts) else len(self.words)

    def row_span(self, index: int) -> tuple[int, int]:
        """The same of the sentence, in a table of the whole row."""
        if self.segment_kinds[self.segments[index]] != CELL:
            return self.sentence_span(index)
        line = self.lines[index]
        return bisect_left(self.lines, line), bisect_left(self.lines, line + 1)

    def labels_of(self, index: int) -> tuple[str, ...]:
        """Labels and headings above a token, innermost first."""
        return self.segment_labels[self.segments[index]]

    def label_of(self, index: int) -> str:
        return next(iter(self.labels_of(index)), "")


P = ParamSpec("P")
T = TypeVar("T")
_UNASKED: Any = object()


def once(find: Callable[Concatenate[Document, P], T]) -> Callable[Concatenate[Document, P], T]:
    """Let a document remember what was found in it: the same question is answered once."""

    @wraps(find)
    def remembered(document: Document, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (find, *args, *kwargs.values())
        value: T = document.cache.get(key, _UNASKED)
        if value is _UNASKED:
            value = document.cache[key] = find(document, *args, **kwargs)
        return value

    return remembered


# A full stop after these never ends a sentence …
_PERSONS = ("dr", "mr", "mrs", "ms", "prof", "st")
_TITLES = frozenset((*_PERSONS, "vs", "eg", "ie", "approx", "fig", "dept", "ref", "resp", "incl", "esp"))
# … and after these only when a capital or a digit follows.
_DOSING = ("bd", "od", "tds", "qds", "tid", "bid", "qid", "prn", "po", "iv", "im", "sc", "inj")
_PIECES = ("tab", "tabs", "cap", "caps")
_UNITS = ("mg", "mcg", "ml", "kg", "hr", "hrs", "wk", "wks", "yr", "yrs", "mo", "min", "mins", "am", "pm")
_NOTES = ("pt", "pts", "hx", "dx", "rx", "tx", "sx", "ca", "adm", "disch", "prev", "hist", "hosp", "med", "meds", "req")
_QUALITIES = ("abd", "ext", "neg", "pos", "temp", "freq", "max", "avg", "est", "diff", "occ", "gen", "mod", "sev")
_OTHERS = ("etc", "no", "bilat", "lat", "susp")
_MONTHS = ("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SHORT = frozenset((*_DOSING, *_PIECES, *_UNITS, *_NOTES, *_QUALITIES, *_OTHERS, *_MONTHS, *_DAYS))
_ADVERSATIVE = frozenset(
    ("but", "however", "although", "though", "whereas", "yet", "nevertheless", "nonetheless", "except")
)
_LABEL_WORDS = 7


def place(document: Document, text: str, segment: Segment) -> None:
    """Append the tokens of a segment, and note where its sentences, clauses and labelled stretches begin."""
    words = document.words
    first = start = label_from = len(words)
    room = 0 if segment.kind == HEADING else _LABEL_WORDS
    labelled = False  # a sentence has one label at most
    inline = False  # inside the value of a mid-line label, which holds for its sentence only
    for token in cut(text, segment.start, segment.end):
        index = len(words)
        gap = token.gap
        effect = token.effect
        if index == first:
            gap = ":" if segment.continues else "\n"
            effect = 0
            _begin(document, index, sentence=not (segment.continues and document.sentence_starts))
            _open_segment(document, index, segment.kind, segment.labels)
        words.append(token.word)
        document.kinds.append(token.kind)
        document.gaps.append(gap)
        document.starts.append(token.start)
        document.ends.append(token.end)
        if effect & (DOT | STOP | TIGHT_DOT) and _ends_sentence(document, text, start, index, effect):
            _begin(document, index)
            start = label_from = index
            labelled = False
            if inline:
                _open_segment(document, index, segment.kind, segment.labels)
                inline = False
        elif effect & COLON and not labelled and index - label_from <= room:
            if label_from != start:
                _begin(document, label_from)
                start = label_from
            inline = label_from > first
            labelled = True
            _open_segment(document, label_from, LABEL, segment.labels)
            _open_segment(document, index, segment.kind, (" ".join(words[label_from:index]), *segment.labels))
            _begin(document, index, sentence=False)
        elif effect & (CLAUSE | COLON):
            _begin(document, index, sentence=False)
            if ";" in gap:
                label_from = index
                labelled = False
        elif token.word in _ADVERSATIVE:
            _begin(document, index, sentence=False)
    document.lines += [segment.line] * (len(words) - first)


def number(document: Document) -> None:
    """Give each token the number of its sentence, clause and segment."""
    document.clause_starts = sorted(set(document.clause_starts))
    total = len(document)
    document.sentences = _numbers(document.sentence_starts, total)
    document.clauses = _numbers(document.clause_starts, total)
    document.segments = _numbers(document.segment_starts, total)


def _numbers(starts: list[int], total: int) -> list[int]:
    """The number of its stretch for each token, by the first tokens of the stretches."""
    numbers: list[int] = []
    for unit, (first, stop) in enumerate(pairwise((*starts, total))):
        numbers += [unit] * (stop - first)
    return numbers


def _begin(document: Document, index: int, *, sentence: bool = True) -> None:
    """Begin a clause, which may be the first of a sentence, at a token."""
    document.clause_starts.append(index)
    if sentence:
        document.sentence_starts.append(index)


def _open_segment(document: Document, first: int, kind: int, labels: tuple[str, ...]) -> None:
    if document.segment_starts[-1:] == [first]:
        document.segment_kinds[-1] = kind
        document.segment_labels[-1] = labels
        return
    document.segment_starts.append(first)
    document.segment_kinds.append(kind)
    document.segment_labels.append(labels)


def _ends_sentence(document: Document, text: str, start: int, index: int, effect: int) -> bool:
    """Whether the mark before token `index` ends the sentence that began at token `start`."""
    if effect & STOP:
        return True
    before = document.words[index - 1]
    initial = text[document.starts[index]]
    if effect & TIGHT_DOT:
        # "well.No fever": a missing space; not "v.6" or a file name.
        return len(before) > 2 and before.isalpha() and initial.isupper() and document.gaps[index] == "."
    if before in _TITLES and not text[document.starts[index - 1] : document.ends[index - 1]].isupper():
        return False  # "Dr." is a title, "no DR." a finding
    if before in _SHORT:
        return not initial.islower() and not (before == "no" and document.kinds[index] == NUMBER)
    if len(before) == 1 and before.isalpha():
        # "E. coli", "J. Smith" at the start or after a title go on; "hepatitis C. She" does not.
        alone = index - 1 == start or document.words[index - 2] in _TITLES
        return not (alone or initial.islower())
    return True
