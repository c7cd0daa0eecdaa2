"""Measurements: the current figure of what was measured, in any unit that it is given in."""

from __future__ import annotations

from itertools import pairwise

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.measured import (
    current_of,
    is_aimed,
    is_earlier,
    row_stop,
    superseded,
    values_of,
)
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
from pytest_clinical_drift.evidence.text import Document, tokenise

_REACH = 14
_VALUE_WORDS = word_set("measurement", "value_words")
# Units that by themselves say what was measured.


def assess_measurement(document: Document, measure: Concept, wanted: Amount | None, *, goal: bool = False) -> Outcome:
    """Status of "this was measured at that value" (or, with `goal`, "that value is aimed at")."""
    mentions = [
        m
        for m in _mentions(document, measure)
        if goal == (_aimed_at(document, m) or is_threshold(document, m.first))
        or (not goal and any(not is_aimed(document, m, v) for v in values_of(document, m, measure)))
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


def _aimed_at(document: Document, mention: Term) -> bool:
    """ "target INR", "INR goal of"."""
    words = document.words
    kept = not {"kept", "maintained", "runs"}.isdisjoint(words[mention.last + 1 : mention.last + 4])
    near = [*words[max(0, mention.first - 2) : mention.first], *words[mention.last + 1 : mention.last + 2]]
    return is_goal(near) or (kept and "between" in words[mention.last + 1 : mention.last + 6])


_GOALS = frozenset(("target", "goal", "aim", "aims", "aiming", "aimed"))


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
    found = _levels(document, measure)
    wider = [t for name in measure.data.get("includes", ()) for t in index.exact.get(f"{MEASURE}:{name}", ())]
    for term in (*index.exact.get(measure.id, ()), *wider):
        word = document.words[term.first]
        if document.words[term.last + 1 : term.last + 2] in (["gain"], ["loss"]):
            continue  # "3 kg weight gain" is how much was gained, not the weight
        if any(m.last > term.last for m in index.medicines_between(term.first, term.first + 1)):
            continue  # "potassium chloride" is a medicine
        if term.first == term.last and len(word) <= 2:
            # "K", "Na", "T": capitals, with a figure behind.
            spelled = document.spelled(term.first)
            keyed = term.last + 1 < len(document) and ":" in document.gaps[term.last + 1]
            if not spelled[:1].isupper() and not keyed:
                continue
        longer = [
            t for t in index.between(MEASURE, term.first - 6, term.first + 1) if t.last >= term.last and t is not term
        ]
        if not any(t.concept is not term.concept and (t.last - t.first) > (term.last - term.first) for t in longer):
            found.append(term)
    return found


def _levels(document: Document, measure: Concept) -> list[Term]:
    """ "Lithium 400 mg at night (level 0.7)": a level that stands behind the medicine itself."""
    medicine, _, level = measure.name.rpartition(" ")
    if level != "level":
        return []
    index = term_index(document)
    found = [
        Term(measure, m.first, m.last)
        for m in index.medicines
        if m.concept.name == medicine and _followed_by_result(document, m, measure)
    ]
    for token in (*index.places("level"), *index.places("levels")):
        before = index.medicines_between(max(0, token - _REACH), token)
        own = bool(before) and before[-1].concept.name == medicine and before[-1].last < token - 1
        if own and abs(document.sentences[token] - document.sentences[before[-1].first]) <= 1:
            found.append(Term(measure, token, token))
    return found


def _followed_by_result(document: Document, mention: Term, measure: Concept) -> bool:
    """ "her lithium came back at 0.6 mmol/L": the unit is that of a level."""
    stop = min(document.sentence_span(mention.first)[1], mention.last + 7)
    return any(
        mention.last < a.first < stop and a.unit is not None and a.unit.name == measure.data.get("unit")
        for a in amounts(document)
    )


def _assess_mention(document: Document, mention: Term, measure: Concept, wanted: Amount | None) -> Outcome:
    context = reading(document, mention.first, mention.last)
    place = ((mention.first, mention.last),)
    if context.other_person or context.hypothetical or context.open:
        return Outcome(ABSENT, place, "named, but not as a result of the patient")
    values = values_of(document, mention, measure)
    if wanted is None:
        return Outcome(RETAINED, place)
    if not values:
        first, stop = document.sentence_span(mention.first)
        stop = row_stop(document, mention, stop)
        near = document.words[max(first, mention.first - 4) : min(stop, mention.last + 8)]
        if not _VALUE_WORDS.isdisjoint(near):
            return Outcome(PARTIAL, place, "without the figure")
        return Outcome(ABSENT, place, "named, but no figure")
    current = current_of(document, values)
    evidence = ((mention.first, current.last),) if current.last >= mention.first else ((current.first, mention.last),)
    if _equal(measure, wanted, current):
        return Outcome(RETAINED, evidence)
    also = [value for value in values if not is_earlier(document, value)]
    if any(_equal(measure, wanted, value) for value in also) and not superseded(document, values):
        return Outcome(RETAINED, evidence)
    return Outcome(CONTRADICTED, evidence, f"{current.value:g} instead of {wanted.value:g}")


def _equal(measure: Concept, wanted: Amount, stated: Amount) -> bool:
    tolerance = float(measure.data.get("tolerance", 0) or 0)
    convert = measure.data.get("convert") or {}
    if (wanted.ratio or stated.ratio) and measure.data.get("unit") != "none":
        return wanted.ratio == stated.ratio
    if (wanted.unit is None or stated.unit is None) and same(wanted.value, stated.value):
        return True
    if _bare(measure, wanted) or _bare(measure, stated):
        return same(_usual(measure, wanted), _usual(measure, stated), tolerance or 0.01 * abs(wanted.base))
    if wanted.unit is None or stated.unit is None or wanted.unit is stated.unit:
        if stated.unit is not None and stated.dimension in convert and wanted.dimension not in convert:
            return same(_usual(measure, wanted), _usual(measure, stated), tolerance)
        return same(wanted.value, stated.value)
    return same(_usual(measure, wanted), _usual(measure, stated), tolerance or 0.001 * abs(wanted.base))


def _bare(measure: Concept, amount: Amount) -> list[float]:
    """Factors for a figure without a unit that can only be in another one: "Hb 9.8" is in g/dl."""
    low, high, *factors = measure.data.get("bare") or (1.0, 0.0)
    return [float(f) for f in factors] if amount.unit is None and low <= amount.value <= high else []


def _usual(measure: Concept, amount: Amount) -> float:
    """The value in the measurement's usual unit."""
    factors = (measure.data.get("convert") or {}).get(amount.dimension) or _bare(measure, amount)
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
