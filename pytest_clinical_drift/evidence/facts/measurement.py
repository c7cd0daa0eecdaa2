"""Measurements: the current figure of what was measured, in any unit that it is given in."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.outcome import (
    ABSENT,
    CONTRADICTED,
    NOTHING,
    PARTIAL,
    RETAINED,
    Outcome,
    strongest,
)
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.quantities import Amount, amounts, same
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, Concept, word_set
from pytest_clinical_drift.evidence.text import CELL, DATE, Document, tokenise

_REACH = 14
_VALUE_WORDS = word_set("measurement", "value_words")
_EARLIER = word_set("measurement", "earlier")
_NOW = word_set("measurement", "now")
# Units that by themselves say what was measured.
_TELLING = {"temperature": "temperature", "hba1c": "hba1c"}


def assess_measurement(document: Document, measure: Concept, wanted: Amount | None, *, goal: bool = False) -> Outcome:
    """Status of "this was measured at that value" (or, with `goal`, "that value is aimed at")."""
    mentions = [
        m
        for m in _mentions(document, measure)
        if goal == (is_goal(document.words[max(0, m.first - 2) : m.first]) or is_threshold(document, m.first))
    ]
    outcomes = [_assess_mention(document, mention, measure, wanted) for mention in mentions]
    conflicts = [o for o in outcomes if o.status == CONTRADICTED]
    if conflicts and (not any(o.status == RETAINED for o in outcomes) or _says_now(document, conflicts)):
        return conflicts[0]
    decided = strongest(o for o in outcomes if o.status != CONTRADICTED)
    if decided.status in (RETAINED, PARTIAL):
        return decided
    by_unit = _by_unit(document, measure, wanted)
    if by_unit.status != ABSENT:
        return by_unit
    finding = _by_finding(document, measure)
    return finding if finding.status != ABSENT else decided


_GOALS = frozenset(("target", "goal", "aim"))


def is_goal(words: list[str]) -> bool:
    """Whether words are about a value that is aimed at."""
    return not _GOALS.isdisjoint(words)


_LIMITS = frozenset(("more", "above", "higher", "over", "less", "below", "lower", "under"))
_ACTS = word_set("measurement", "acts")


def is_threshold(document: Document, first: int) -> bool:
    """ "ring for a temperature of 38 °C or more": a limit in a plan, not a reading."""
    start, stop = document.sentence_span(first)
    words = document.words[first : min(stop, first + 10)]
    limited = any(word == "or" and after in _LIMITS for word, after in pairwise(words))
    return limited and not _ACTS.isdisjoint(document.words[max(start, first - 14) : min(stop, first + 20)])


def states_goal(fact: Document, measure: Concept) -> bool:
    """Whether a fact gives a target or a limit of a measurement, not its result."""
    terms = term_index(fact).exact.get(measure.id, ())
    return is_goal(fact.words) or any(is_threshold(fact, term.first) for term in terms)


def _says_now(document: Document, conflicts: list[Outcome]) -> bool:
    """Whether another figure is given as the present one."""
    spans = [document.words[max(0, first - 3) : last + 4] for o in conflicts for first, last in o.evidence]
    return any(not {"now", "today", "currently", "current"}.isdisjoint(words) for words in spans)


def _mentions(document: Document, measure: Concept) -> list[Term]:
    index = term_index(document)
    found = []
    for term in index.exact.get(measure.id, ()):
        word = document.words[term.first]
        if any(m.last > term.last for m in index.medicines_between(term.first, term.first + 1)):
            continue  # "potassium chloride" is a medicine
        if term.first == term.last and len(word) <= 2:
            # "K", "Na", "T": capitals, with a figure behind.
            spelled = document.spelled(term.first)
            if not spelled[:1].isupper():
                continue
        longer = [
            t for t in index.between(MEASURE, term.first - 6, term.first + 1) if t.last >= term.last and t is not term
        ]
        if not any(t.concept is not measure and (t.last - t.first) > (term.last - term.first) for t in longer):
            found.append(term)
    return found


def _assess_mention(document: Document, mention: Term, measure: Concept, wanted: Amount | None) -> Outcome:
    context = reading(document, mention.first, mention.last)
    place = ((mention.first, mention.last),)
    if context.other_person or context.hypothetical or context.open:
        return Outcome(ABSENT, place, "named, but not as a result of the patient")
    values = _values(document, mention, measure)
    if wanted is None:
        return Outcome(RETAINED, place)
    if not values:
        first, stop = document.sentence_span(mention.first)
        stop = _row_stop(document, mention, stop)
        near = document.words[max(first, mention.first - 4) : min(stop, mention.last + 8)]
        if not _VALUE_WORDS.isdisjoint(near):
            return Outcome(PARTIAL, place, "without the figure")
        return Outcome(ABSENT, place, "named, but no figure")
    current = _current(document, values)
    evidence = ((mention.first, current.last),) if current.last >= mention.first else ((current.first, mention.last),)
    if _equal(measure, wanted, current):
        return Outcome(RETAINED, evidence)
    if (
        any(_equal(measure, wanted, value) for value in values)
        and len(values) > 1
        and not _superseded(document, values)
    ):
        return Outcome(RETAINED, evidence)
    return Outcome(CONTRADICTED, evidence, f"{current.value:g} instead of {wanted.value:g}")


def _row_stop(document: Document, mention: Term, stop: int) -> int:
    if document.segment_kinds[document.segments[mention.first]] == CELL:
        line = document.lines[mention.first]
        while stop < len(document) and document.lines[stop] == line and stop < mention.last + _REACH:
            stop += 1
    return stop


def _values(document: Document, mention: Term, measure: Concept) -> list[Amount]:
    """Figures that belong to a mention: after it up to the next measurement, else straight before it."""
    first, stop = document.sentence_span(mention.first)
    stop = _row_stop(document, mention, stop)
    stop = min(stop, mention.last + 1 + _REACH)
    for other in term_index(document).between(MEASURE, mention.last + 1, stop):
        if other.concept is not measure and _has_figure(document, other):
            stop = other.first
            break
    numbers = amounts(document)
    starts = [a.first for a in numbers]
    own = [
        a
        for a in numbers[bisect_left(starts, mention.last + 1) : bisect_left(starts, stop)]
        if _fits(document, measure, a)
    ]
    if own:
        return own
    before = numbers[max(0, bisect_left(starts, mention.first) - 1) : bisect_left(starts, mention.first)]
    return [
        a
        for a in before
        if a.last >= mention.first - 3
        and a.first >= first
        and (a.unit is not None or not _SCORED.isdisjoint(document.words[max(first, a.first - 3) : a.first]))
        and _fits(document, measure, a)
    ]


_SCORED = frozenset(("scored", "score", "scores", "scoring"))


def _has_figure(document: Document, other: Term) -> bool:
    return len(document.words[other.first]) > 1 or document.spelled(other.first).isupper()


def _fits(document: Document, measure: Concept, amount: Amount) -> bool:
    """Whether a number can be a value of the measurement: by its unit, or bare and not a date."""
    unit = str(measure.data.get("unit", ""))
    if document.kinds[amount.first] == DATE or (
        amount.unit is None and 1900 <= amount.value <= 2100 and amount.value == int(amount.value)
    ):
        return False
    if amount.unit is None:
        return not amount.ratio or measure.name == "blood pressure"
    if amount.unit.name == unit or amount.dimension in (measure.data.get("convert") or {}):
        return True
    return amount.dimension == _dimension(unit) or (measure.name == "temperature" and amount.dimension == "temperature")


def _dimension(unit: str) -> str:
    from pytest_clinical_drift.evidence.lexicon import lexicon

    concept = lexicon().concepts.get(f"unit:{unit}")
    return concept.group if concept else ""


def _current(document: Document, values: list[Amount]) -> Amount:
    """The value that holds now: one marked as new, else the first that is not marked as earlier."""
    for value in values:
        before = document.words[max(0, value.first - 2) : value.first]
        if not _NOW.isdisjoint(before):
            return value
    for value in values:
        if not _is_earlier(document, value):
            return value
    return values[-1]


def _is_earlier(document: Document, value: Amount) -> bool:
    before = document.words[max(0, value.first - 2) : value.first]
    after = document.words[value.last + 1 : value.last + 2]
    return "previously" in before or "from" in before or after == ["→"]


def _superseded(document: Document, values: list[Amount]) -> bool:
    words = document.words[values[0].first - 3 if values[0].first > 3 else 0 : values[-1].last + 4]
    return not (_NOW | {"previously"}).isdisjoint(words)


def _equal(measure: Concept, wanted: Amount, stated: Amount) -> bool:
    tolerance = float(measure.data.get("tolerance", 0) or 0)
    convert = measure.data.get("convert") or {}
    if wanted.ratio or stated.ratio:
        return wanted.ratio == stated.ratio
    if wanted.unit is None or stated.unit is None or wanted.unit is stated.unit:
        if stated.unit is not None and stated.dimension in convert and wanted.dimension not in convert:
            return same(_usual(measure, wanted), _usual(measure, stated), tolerance)
        return same(wanted.value, stated.value)
    return same(_usual(measure, wanted), _usual(measure, stated), tolerance or 0.001 * abs(wanted.base))


def _usual(measure: Concept, amount: Amount) -> float:
    """The value in the measurement's usual unit."""
    factors = (measure.data.get("convert") or {}).get(amount.dimension)
    return float(factors[0]) * amount.base + float(factors[1]) if factors else amount.base


def _by_unit(document: Document, measure: Concept, wanted: Amount | None) -> Outcome:
    """ "101.1 °F on arrival", "16kgs": the unit says what was measured."""
    telling = {"temperature": "temperature", "weight": "weight", "hba1c": "hba1c"}
    if wanted is None or measure.name not in telling:
        return NOTHING
    for amount in amounts(document):
        if amount.dimension != telling[measure.name] or amount.unit is None or amount.unit.name == "degree":
            continue
        before = document.words[max(0, amount.first - 2) : amount.first]
        if {"by", "lost", "gained", "than"} & set(before):
            continue
        context = reading(document, amount.first, amount.last)
        if context.other_person or context.hypothetical:
            continue
        if _equal(measure, wanted, amount):
            return Outcome(RETAINED, ((amount.first, amount.last),))
    return NOTHING


def _by_finding(document: Document, measure: Concept) -> Outcome:
    """ "anaemic", "hyponatraemia": the measurement in words."""
    for finding in measure.data.get("finding", ()):
        words = list(tokenise(str(finding)))
        for first in term_index(document).places(words[0]):
            if document.words[first : first + len(words)] == words:
                context = reading(document, first, first + len(words) - 1)
                if context.affirmed:
                    return Outcome(PARTIAL, ((first, first + len(words) - 1),), "without the figure")
    return NOTHING
