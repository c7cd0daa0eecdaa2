"""Amounts, units and durations in a text: "fifty milligrams", "0.05 g", "2 puffs", "7/7".

Of 0.05 g and 50 mg `base` and `dimension` are the same.
"""

from dataclasses import dataclass, replace

from pytest_clinical_drift.evidence.reading.text import NUMBER, RATIO, Document, once
from pytest_clinical_drift.evidence.terms.lexicon import lexicon, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import Concept, load_vocabulary, word_set

_SMALL = {word: float(value) for value, word in enumerate(load_vocabulary("word_sets")["quantities"]["to_nineteen"])}
_TENS = {word: 10.0 * value for value, word in enumerate(load_vocabulary("word_sets")["quantities"]["tens"], start=2)}
_NUMBER_WORDS = {**_SMALL, **_TENS, "half": 0.5, "once": 1.0, "twice": 2.0, "thrice": 3.0, "nil": 0.0}
_SCALES = {"hundred": 100.0, "thousand": 1000.0}
SPOKEN = frozenset((*_NUMBER_WORDS, *_SCALES))
_PIECES = word_set("quantities", "pieces")
_DRINK = word_set("quantities", "drink")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in the text, with its unit when it has one."""

    value: float
    unit: Concept | None
    first: int
    last: int
    """Last token, the unit included."""
    ratio: str = ""
    """Two-part strengths as written: "100/6"."""

    @property
    def dimension(self) -> str:
        """What is measured: mass, unit, puff, percent …; empty without a unit."""
        return self.unit.group if self.unit else ""

    @property
    def base(self) -> float:
        if self.unit is None:
            return self.value
        return (self.value + float(self.unit.data.get("offset", 0))) * float(self.unit.data["factor"])


def _number_at(document: Document, index: int) -> tuple[float, int]:
    """The number that starts at a token, in figures or words ("four hundred and twenty"), and its last token."""
    words = document.words
    gaps = document.gaps
    if document.kinds[index] == NUMBER:
        figure = float(words[index][:40])
        scaled = index + 1 < len(words) and words[index + 1] in _SCALES and not gaps[index + 1]
        return (figure * _SCALES[words[index + 1]], index + 1) if scaled else (figure, index)
    value = 0.0
    last = index
    position = index
    open_to_more = True
    while position < len(words) and (position == index or gaps[position] in ("", "-")):
        word = words[position]
        if word in _SCALES:
            value = (value or 1.0) * _SCALES[word]
            open_to_more = True
        elif word in _NUMBER_WORDS and open_to_more:
            value = value + _NUMBER_WORDS[word]
            open_to_more = word in _TENS
        elif word != "and" or words[position - 1] not in _SCALES or last != position - 1:
            break
        last = position if word != "and" else last
        position += 1
    return value, last


@once
def amounts(document: Document) -> list[Amount]:
    found: list[Amount] = []
    for index, (word, kind) in enumerate(zip(document.words, document.kinds, strict=True)):
        if (found and index <= found[-1].last) or not (kind in (NUMBER, RATIO) or word in SPOKEN):
            continue
        amount = _ratio(document, index) if kind == RATIO else _amount(document, index)
        if found and _is_multiple(document, found[-1], amount):
            count = found.pop()
            amount = replace(amount, value=count.value * amount.value, first=count.first)
        found.append(amount)
    return found


def _ratio(document: Document, index: int) -> Amount:
    """A two-part strength: "100/6"."""
    beside = index + 1 < len(document) and not document.gaps[index + 1]
    unit = term_index(document).units.get(index + 1) if beside else None
    value = float(document.words[index].replace(":", "/").partition("/")[0][:40])
    return Amount(value, unit and unit.concept, index, unit.last if unit else index, document.words[index])


def _is_multiple(document: Document, count: Amount, each: Amount) -> bool:
    """ "three 20 mg capsules", "2 x 500 mg tablets": so many pieces of that strength make the dose."""
    between = document.words[count.last + 1 : each.first]
    joined = between in ([], ["x"], ["×"]) and not document.gaps[each.first]
    whole = count.unit is None and not count.ratio and count.value in range(2, 13)
    pieces = not _PIECES.isdisjoint(document.words[each.last + 1 : each.last + 2])
    return joined and whole and each.dimension == "mass" and pieces


def _amount(document: Document, index: int) -> Amount:
    value, last = _number_at(document, index)
    kinds = document.kinds
    gaps = document.gaps
    sentences = document.sentences
    after = last + 1
    total = len(document)
    # A range "10-15 mg"; "from 50 to 100 mg" is a change and is left to the reader of regimens.
    if after < total and gaps[after] in ("-", "–") and kinds[after] == kinds[last] == NUMBER:
        upper, upper_last = _number_at(document, after)
        goes_on = sentences[after] == sentences[last] and document.words[max(0, index - 1) : index] != ["from"]
        if upper > value and goes_on:
            last = upper_last
    following = last + 1
    beside = following < total and sentences[following] == sentences[index] and gaps[following] in ("", "-")
    unit = term_index(document).units.get(following) if beside else None
    if unit is None:
        return Amount(value, None, index, last)
    first, stop = document.sentence_span(index)
    drink = not _DRINK.isdisjoint(document.words[max(first, index - 6) : min(stop, index + 8)])
    # "14 units a week" of a drinker are not units of insulin
    of_alcohol = unit.concept.name == "unit" and drink
    return Amount(value, lexicon().concepts["unit:alcohol unit"] if of_alcohol else unit.concept, index, unit.last)


def same(left: float, right: float, tolerance: float = 0.0) -> bool:
    """Whether two values are the same figure, up to rounding noise and a stated tolerance."""
    return abs(left - right) <= max(tolerance, 1e-6 * max(abs(left), abs(right)))
