"""What a place of a text says of a fact: where its slots are named, what denies them, which details stand there too."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Self, TypeVar

from pytest_clinical_drift.evidence.facts.fact import Fact, Slot, content_of
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.mentions.cues import cue_table
from pytest_clinical_drift.evidence.mentions.regimen import same_amount
from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts
from pytest_clinical_drift.evidence.quantities.dates import Date, dates
from pytest_clinical_drift.evidence.reading.text import WORD, Document, once, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import Term, places_in, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, MEASURE, QUALIFIER, Concept, word_set
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems

Span = tuple[int, int]
"""First and last token."""
_Stems = Callable[[Document], list[str]]
_Placed = TypeVar("_Placed", Amount, Date, Term)
_NEAR = 6
_BESIDE = 5
_MOST = 60
"""Places of one slot that are looked at, so that a text of repetitions stays linear."""
_DENIERS = frozenset(("no", "not", "never", "without", "denies", "denied", "absent", "excluded"))
_ANSWERS = frozenset(("none", "no", "denied", "never", "excluded", "absent"))
_PEOPLE = frozenset(f"word:{name}" for name in word_set("facts", "people"))
_LIGHT = word_set("facts", "light_before_a_name")


class Said(StrEnum):
    """What a statement says, strongest first."""

    PLAIN = "plain"
    CLASH = "clash"
    DENIED = "denied"
    PART = "part"
    VAGUE = "vague"
    TRACE = "trace"
    OTHER = "other"
    DOUBT = "doubt"


@dataclass(frozen=True, slots=True)
class Statement:
    """One place of a text that speaks of a fact."""

    said: str
    spans: tuple[Span, ...]
    """The words that say it."""
    reason: str = ""
    rule: str = ""
    """Name of the rule that found a clash, a denial or a part; alarms are measured by it."""
    sure: bool = True


def stated_with(spans: tuple[Span, ...], missing: Sequence[str]) -> Statement:
    """Plain where nothing is missing, else in part."""
    if missing:
        return Statement(Said.PART, spans, "missing: " + ", ".join(missing), "part")
    return Statement(Said.PLAIN, spans)


@once
def places_of(document: Document, slot: Slot) -> list[Span]:
    """Wherever a slot is named, itself or by something narrower, in order."""
    index = term_index(document)
    spans: set[Span] = set()
    for name in slot.ids:
        spans.update((term.first, term.last) for term in (*index.exact.get(name, ()), *index.within(name)))
    if slot.concept is None:
        spans.update(together(document, slot.stems))
    elif not spans:
        spans.update(scattered(document, slot))
    return sorted(spans)[:_MOST]


def scattered(document: Document, slot: Slot) -> list[Span]:
    """Places where the words of one of a condition's names stand close together, in any order."""
    if slot.concept is None or slot.concept.kind != CONDITION:
        return []
    wordings = (slot.stems, *_wordings(slot.concept))
    return list(chain.from_iterable(together(document, wording) for wording in wordings))


@lru_cache(maxsize=4096)
def _wordings(concept: Concept) -> tuple[frozenset[str], ...]:
    """The stems of every name of two words and more, which may stand in any order."""
    names = [concept.name, *map(str, concept.data.get("synonyms", ())), *map(str, concept.data.get("lay", ()))]
    keys = [frozenset(map(loose_stem, content_of(tokenise(n)))) for n in names]
    return tuple(dict.fromkeys(k for k in keys if len(k) > 1))


@once
def _all_stems(document: Document, stems_of: _Stems) -> frozenset[str]:
    return frozenset(stems_of(document))


def together(document: Document, wanted: frozenset[str], stems_of: _Stems = loose_stems) -> list[Span]:
    """Places where all of some stems stand close together in one clause; by default words alike count as one."""
    stems = stems_of(document)
    if not wanted or not wanted <= _all_stems(document, stems_of):
        return []
    rarest, *rest = sorted(wanted, key=lambda key: (stems.count(key), key))
    places = []
    for place in places_in(stems, rarest)[:_MOST]:
        around = range(max(0, place - _NEAR), min(len(stems), place + _NEAR + 1))
        others = [i for i in around if stems[i] in rest and document.clauses[i] == document.clauses[place]]
        if len({stems[i] for i in others}) == len(rest):
            places.append((min(place, *others), max(place, *others)) if others else (place, place))
    return places


def near(document: Document, mention: int, token: int) -> bool:
    """Whether a token stands in the line of a mention, or in a sentence beside the mention's."""
    apart = abs(document.sentences[token] - document.sentences[mention])
    return apart <= 1 or document.lines[token] == document.lines[mention]


def stated(document: Document, slot: Slot, mention: int | None = None) -> Span | None:
    """A place where a slot is stated as the fact says it, near a token if one is given."""
    for span in places_of(document, slot):
        close = mention is None or near(document, mention, span[0])
        if close and context_at(document, *span).negated == slot.denied:
            return span
    return None


def denied_outright(document: Document, span: Span) -> bool:
    """Nothing but light words between the denial and the name, which no noun follows: "no history of X", "X: none"."""
    after = span[1] + 1
    if document.words[after : after + 1] and document.words[after] in _ANSWERS and ";" not in document.gaps[after]:
        return True
    return _behind_denial(document, span) and not _goes_on(document, span[1])


def denies_another(document: Document, span: Span) -> bool:
    """Whether a name only says what kind of thing is denied: "no neutropenia recovery" denies a recovery."""
    return _behind_denial(document, span) and _goes_on(document, span[1])


def _behind_denial(document: Document, span: Span) -> bool:
    before = reversed(document.words[max(0, span[0] - 6) : span[0]])
    return next((word in _DENIERS for word in before if word not in _LIGHT), False)


def _goes_on(document: Document, last: int) -> bool:
    """Whether another noun follows straight behind a name."""
    after = last + 1
    if after >= len(document) or document.gaps[after] not in ("", "-") or document.kinds[after] != WORD:
        return False
    same_sentence = document.sentences[after] == document.sentences[last]
    return same_sentence and document.words[after] not in cue_table().no_objects | _LIGHT


class Details:
    """Compares the details of a fact with the surroundings of one mention of its core."""

    def __init__(self, document: Document, fact: Fact, anchor: Span) -> None:
        self.document = document
        self.fact = fact
        self.anchor = anchor
        self.row = range(*document.row_span(anchor[0]))
        self.missing: list[str] = []
        self.clash = ""
        self.rule = ""
        self.sure = True
        self.spans: list[Span] = [anchor]

    def compare(self) -> Self:
        """Fill `missing` and `clash`."""
        for slot in self.fact.details:
            if slot.concept is not None and slot.concept.kind == QUALIFIER:
                self._qualifier(slot, slot.concept)
            elif slot.concept is None or slot.concept.kind != MEASURE or not self.fact.amounts:
                self._slot(slot)
        for amount in self.fact.amounts:
            self._amount(amount)
        for date in self.fact.dates:
            self._date(date)
        if self.rule == "other-qualifier" and "date" in self.missing:
            self.sure = False  # the emergency operation of 2021 is not the planned one of August
        return self

    def statement(self) -> Statement:
        """What the mention says of the fact by what was compared."""
        spans = tuple(self.spans)
        if self.clash:
            return Statement(Said.CLASH, spans, self.clash, self.rule, sure=self.sure)
        person = [s.text for s in self.fact.details if s.ids & _PEOPLE and s.text in self.missing]
        if person and self.fact.core.other:
            return Statement(Said.OTHER, spans, f"not of the {person[0]}", sure=False)
        many = len(self.missing) >= 1 + len(self.spans) or len(self.missing) > 2
        return replace(stated_with(spans, self.missing), sure=not many)

    def _near(self, items: Iterable[_Placed]) -> list[_Placed]:
        return [item for item in items if near(self.document, self.anchor[0], item.first)]

    def _note(
        self, name: str, agreeing: Sequence[Span], against: Sequence[tuple[Span, str]], rule: str, *, sure: bool = True
    ) -> None:
        """A detail is stated, else spoken against (where, and how), else missing."""
        if agreeing:
            self.spans.append(agreeing[0])
        elif against:
            place, self.clash = against[0]
            self.rule = rule
            self.sure = sure
            self.spans.append(place)
        else:
            self.missing.append(name)

    def _date(self, wanted: Date) -> None:
        around = self._near(dates(self.document))
        beside = [d for d in around if 0 < d.first - self.anchor[1] <= _BESIDE and d.first in self.row]
        agreeing = [(d.first, d.last) for d in around if wanted.agrees(d)]
        against = [((d.first, d.last), "another date") for d in beside if wanted.clashes(d)]
        self._note("date", agreeing, against, "other-date", sure=False)

    def _slot(self, slot: Slot) -> None:
        named = slot.concept
        document = self.document
        place = stated(document, slot, self.anchor[0])
        if place is None and named is not None:
            place = stated(document, slot)  # what has a name of its own may stand elsewhere
        places = [p for p in places_of(document, slot) if named is not None or p[0] in self.row]
        if not places and named is not None and not slot.denied:  # "no retinopathy" denies the background one
            exact = term_index(document).exact
            broader = chain.from_iterable(exact.get(name, ()) for name in sorted(named.ancestors))
            places = [(term.first, term.last) for term in broader]
        said = f"{slot.text}: " + ("stated, though the fact denies it" if slot.denied else "denied")
        contexts = [(p, context_at(document, *p)) for p in places if place is None]
        against = [(p, said) for p, context in contexts if (context.affirmed if slot.denied else context.denied)]
        self._note(slot.text, [place] if place else [], against, "denied-detail", sure=named is not None)

    def _qualifier(self, slot: Slot, wanted: Concept) -> None:
        every = term_index(self.document).by_kind.get(QUALIFIER, ())
        terms = self._near(t for t in every if t.concept.group == wanted.group and not t.weak)
        agreeing = [t for t in terms if t.concept is wanted or wanted.name in t.concept.name.split("-")]
        against = []
        for term in terms:
            behind = term.first > self.anchor[1]
            low, high = (self.anchor[1] + 1, term.first) if behind else (term.last + 1, self.anchor[0])
            parted = not {";", ",", "."}.isdisjoint("".join(self.document.gaps[low : high + 1]))
            if term.first in self.row and high - low <= _BESIDE and not parted:
                against.append(((term.first, term.last), f"{term.concept.name} instead of {slot.text}"))
        self._note(slot.text, [(t.first, t.last) for t in agreeing], against, "other-qualifier")

    def _amount(self, wanted: Amount) -> None:
        around = self._near(amounts(self.document))
        equal = [a for a in around if (a.ratio == wanted.ratio if wanted.ratio else same_amount(a, wanted))]
        own = self.fact.document.quote(wanted.first, wanted.last)
        others = [a for a in around if a.first in self.row and wanted.dimension == a.dimension != ""]
        timed = wanted.dimension == "time"  # "for three weeks" by now may be four
        if timed:
            beside = {self.anchor[0] - 1, self.anchor[0] - 2, self.anchor[1] + 1, self.anchor[1] + 2}
            others = [a for a in others if a.unit is wanted.unit and beside & {a.first, a.last}]
        agreeing = [(a.first, a.last) for a in equal]
        against = [((a.first, a.last), f"{self.document.quote(a.first, a.last)} instead of {own}") for a in others]
        self._note(own, agreeing, against, "other-figure", sure=not timed)
