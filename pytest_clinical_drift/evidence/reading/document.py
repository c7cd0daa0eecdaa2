"""The document a text is read into, and its sentences, clauses and labelled stretches; `text` describes every field."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from itertools import accumulate, chain, pairwise, repeat
from operator import sub
from typing import Any, Concatenate, ParamSpec, TypeVar

from pytest_clinical_drift.evidence.reading.layout import CELL, HEADING, LABEL, Segment
from pytest_clinical_drift.evidence.reading.tokens import CLAUSE, COLON, DOT, NUMBER, STOP, TIGHT_DOT


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
        starts, number = self.sentence_starts, self.sentences[index]
        return starts[number], starts[number + 1] if number + 1 < len(starts) else len(self.words)

    def clause_span(self, index: int) -> tuple[int, int]:
        """The same of the clause."""
        starts, number = self.clause_starts, self.clauses[index]
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
_TITLES = frozenset(
    ("dr", "mr", "mrs", "ms", "prof", "st", "vs", "eg", "ie", "approx", "fig", "dept", "ref", "resp", "incl", "esp")
)  # fmt: skip
# … and after these only when a capital or a digit follows.
_SHORT = frozenset(
    (
        "bd", "od", "tds", "qds", "tid", "bid", "qid", "prn", "po", "iv", "im", "sc", "mg", "mcg", "ml", "kg", "hr",
        "hrs", "wk", "wks", "yr", "yrs", "mo", "min", "mins", "am", "pm", "etc", "pt", "pts", "hx", "dx", "rx", "tx",
        "sx", "tab", "tabs", "cap", "caps", "inj", "no", "abd", "ext", "neg", "pos", "temp", "ca", "freq", "max",
        "avg", "est", "diff", "occ", "hosp", "adm", "disch", "prev", "hist", "gen", "mod", "sev", "bilat", "lat",
        "med", "meds", "req", "susp", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov",
        "dec", "mon", "tue", "wed", "thu", "fri", "sat", "sun",
    )
)  # fmt: skip
_ADVERSATIVE = frozenset(
    ("but", "however", "although", "though", "whereas", "yet", "nevertheless", "nonetheless", "except")
)
_LABEL_WORDS = 7


def place_segments(
    document: Document, segments: Iterable[Segment], effects: dict[int, int]
) -> list[tuple[Segment, int, int]]:
    """Each segment that holds tokens, with their range; tokens outside all (list numbers) are dropped."""
    starts = document.starts
    placed: list[tuple[Segment, int, int]] = []
    kept = 0
    for segment in segments:
        first = bisect_left(starts, segment.start, kept)
        last = bisect_left(starts, segment.end, first)
        if first < last:
            placed.append((segment, first, last))
            kept = last
    if sum(last - first for _, first, last in placed) == len(starts):
        return placed
    places = list(chain.from_iterable(range(first, last) for _, first, last in placed))
    for name in ("words", "kinds", "gaps", "starts", "ends"):
        values = getattr(document, name)
        setattr(document, name, [values[place] for place in places])
    kept_effects = {new: effects[old] for new, old in enumerate(places) if old in effects}
    effects.clear()
    effects.update(kept_effects)
    moved = accumulate((last - first for _, first, last in placed), initial=0)
    return [(segment, start, stop) for (segment, _, _), (start, stop) in zip(placed, pairwise(moved), strict=True)]


class Structure:
    """Finds where sentences, clauses and labelled stretches begin, and spreads them over the tokens."""

    def __init__(self, document: Document, text: str) -> None:
        self._document = document
        self._text = text
        self._sentence_starts: list[int] = []
        self._clause_starts: set[int] = set()
        self._segment_starts: list[int] = []

    def build(self, segments: list[tuple[Segment, int, int]], effects: dict[int, int]) -> None:
        document = self._document
        gaps, lines = document.gaps, document.lines
        positions = list(effects)
        low = 0
        for segment, first, last in segments:
            gaps[first] = ":" if segment.continues else "\n"
            lines += [segment.line] * (last - first)
            if not (segment.continues and self._sentence_starts):
                self._sentence_starts.append(first)
            self._clause_starts.add(first)
            self._open_segment(first, segment.kind, segment.labels)
            low = bisect_right(positions, first, low)
            high = bisect_left(positions, last, low)
            if low < high:
                self._note_breaks(segment, first, [(index, effects[index]) for index in positions[low:high]])
            low = high
        words = document.words
        if not _ADVERSATIVE.isdisjoint(words):
            self._clause_starts.update(index for index, word in enumerate(words) if word in _ADVERSATIVE)
        total = len(words)
        document.sentence_starts = self._sentence_starts
        document.sentences = _spread(self._sentence_starts, total)
        document.clause_starts = sorted(self._clause_starts)
        document.clauses = _spread(document.clause_starts, total)
        document.segments = _spread(self._segment_starts, total)

    def _note_breaks(self, segment: Segment, first: int, breaks: list[tuple[int, int]]) -> None:
        words = self._document.words
        start = label_from = first
        room = 0 if segment.kind == HEADING else _LABEL_WORDS
        labelled = False  # a sentence has one label at most
        inline = False  # inside the value of a mid-line label, which holds for its sentence only
        for index, effect in breaks:
            if effect & (DOT | STOP | TIGHT_DOT) and self._ends_sentence(start, index, effect):
                self._sentence_starts.append(index)
                self._clause_starts.add(index)
                start = label_from = index
                labelled = False
                if inline:
                    self._open_segment(index, segment.kind, segment.labels)
                    inline = False
            elif effect & COLON and not labelled and index - label_from <= room:
                if label_from != start:
                    self._sentence_starts.append(label_from)
                    self._clause_starts.add(label_from)
                    start = label_from
                inline, labelled = label_from > first, True
                self._open_segment(label_from, LABEL, segment.labels)
                self._open_segment(index, segment.kind, (" ".join(words[label_from:index]), *segment.labels))
                self._clause_starts.add(index)
            elif effect & (CLAUSE | COLON):
                self._clause_starts.add(index)
                if ";" in self._document.gaps[index]:
                    label_from, labelled = index, False

    def _open_segment(self, first: int, kind: int, labels: tuple[str, ...]) -> None:
        document = self._document
        if self._segment_starts and self._segment_starts[-1] == first:
            document.segment_kinds[-1], document.segment_labels[-1] = kind, labels
            return
        self._segment_starts.append(first)
        document.segment_kinds.append(kind)
        document.segment_labels.append(labels)

    def _ends_sentence(self, start: int, index: int, effect: int) -> bool:
        """Whether the mark before token `index` ends the sentence that began at token `start`."""
        if effect & STOP:
            return True
        document = self._document
        before = document.words[index - 1]
        initial = self._text[document.starts[index]]
        if effect & TIGHT_DOT:
            # "well.No fever": a missing space; not "v.6" or a file name.
            return len(before) > 2 and before.isalpha() and initial.isupper() and document.gaps[index] == "."
        if before in _TITLES and not document.spelled(index - 1).isupper():  # "no DR." is a finding, "Dr." a title
            return False
        if before in _SHORT:
            return not initial.islower() and not (before == "no" and document.kinds[index] == NUMBER)
        if len(before) == 1 and before.isalpha():
            # "E. coli", "J. Smith" at the start or after a title go on; "hepatitis C. She" does not.
            alone = index - 1 == start or document.words[index - 2] in _TITLES
            return not (alone or initial.islower())
        return True


def _spread(starts: list[int], total: int) -> list[int]:
    """The number of the unit each token stands in, from the first tokens of the units."""
    if len(starts) == 1:
        return [0] * total
    lengths = map(sub, [*starts[1:], total], starts)
    return list(chain.from_iterable(map(repeat, range(len(starts)), lengths)))
