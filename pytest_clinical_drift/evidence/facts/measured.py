"""Which figures of a text belong to a measurement, and which of them holds now."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from pytest_clinical_drift.evidence.lexicon import Term, lexicon
from pytest_clinical_drift.evidence.reading.quantities import Amount, amounts
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, Concept, word_set
from pytest_clinical_drift.evidence.text import CELL, DATE, Document

_REACH = 14
_NOW = word_set("measurement", "now")
_NOW_BEHIND = word_set("measurement", "now_behind")
_EARLIER_BEHIND = word_set("measurement", "earlier_behind")
_SCORED = frozenset(("scored", "score", "scores", "scoring"))
_LEADING = frozenset(("on", "for", "in", "at", "out"))
_LIGHT = frozenset(("on", "the", "a", "an", "her", "his", "their", "latest", "last", "recent", "most", "out", "of"))
_AIMED = frozenset(("target", "goal", "aim", "range", "ideally", "aiming"))
_CHANGES = word_set("measurement", "changes")
_PRESSURE = "blood pressure"
_LEAST_PRESSURE = 30  # mmHg, below which no bare number is a blood pressure
_NUMBERED = word_set("measurement", "numbered")


def row_stop(document: Document, mention: Term, stop: int) -> int:
    """One past the last token that may belong to a mention: the end of its row in a table."""
    if document.segment_kinds[document.segments[mention.first]] == CELL:
        line = document.lines[mention.first]
        while stop < len(document) and document.lines[stop] == line and stop < mention.last + _REACH:
            stop += 1
    return stop


def values_of(document: Document, mention: Term, measure: Concept) -> list[Amount]:
    """Figures that belong to a mention: after it up to the next measurement, else straight before it."""
    first, stop = document.sentence_span(mention.first)
    stop = min(row_stop(document, mention, stop), mention.last + 1 + _REACH)
    shared = _shared(document, mention, stop)
    if shared is not None:
        return shared
    numbers = amounts(document)
    starts = [a.first for a in numbers]
    following = next(
        (
            other
            for other in term_index(document).between(MEASURE, mention.last + 1, stop)
            if other.concept is not measure and _has_figure(document, other)
        ),
        None,
    )
    if following is not None:
        stop = following.first
    own = [
        a
        for a in numbers[bisect_left(starts, mention.last + 1) : bisect_left(starts, stop)]
        if fits(document, measure, a) and not _is_far_word(document, mention, a)
    ]
    if following is not None and own and _leads_to(document, own[-1], following):
        own.pop()
    own = _joined(document, mention, measure, own)
    if own:
        return own
    place = bisect_left(starts, mention.first)
    return _before(document, mention, measure, numbers[max(0, place - 2) : place], first)


def _is_far_word(document: Document, mention: Term, amount: Amount) -> bool:
    """ "ejection fraction, and since then one listens to": a number in words counts only close by."""
    spoken = amount.unit is None and not document.words[amount.first][:1].isdigit()
    apart = any("," in gap or ";" in gap for gap in document.gaps[mention.last + 1 : amount.first + 1])
    return spoken and (apart or amount.first - mention.last > 6)


def _before(document: Document, mention: Term, measure: Concept, numbers: list[Amount], first: int) -> list[Amount]:
    """ "21 out of 30 on the MoCA", "a score of 16 on the PHQ-9", "16 for depression (PHQ-9)"."""
    if len(numbers) == 2 and document.words[numbers[0].last + 1 : numbers[1].first] == ["out", "of"]:
        numbers = numbers[:1]
    found = [a for a in numbers[-1:] if a.first >= first and fits(document, measure, a)]
    return [a for a in found if _stands_before(document, a, mention, first)]


def _stands_before(document: Document, amount: Amount, mention: Term, first: int) -> bool:
    between = document.words[amount.last + 1 : mention.first]
    near = amount.last >= mention.first - 3
    if near and (amount.unit or not _SCORED.isdisjoint(document.words[max(first, amount.first - 3) : amount.first])):
        return True
    if between[:1] == ["out"]:
        between = [word for word in between if not word[:1].isdigit()]
    return _leads(document, between, mention)


def _leads(document: Document, between: list[str], mention: Term) -> bool:
    """Whether the words between a bare figure and a name tie the two: "on the", "for depression (…)"."""
    if not between or between[0] not in _LEADING or len(between) > 5:
        return False
    return _LIGHT.issuperset(between) or "(" in document.gaps[mention.first]


def _leads_to(document: Document, amount: Amount, following: Term) -> bool:
    """ "PHQ-9 and 12 on the GAD-7": the figure is the next one's."""
    gaps = document.gaps[amount.last + 1 : following.first + 1]
    if any("," in gap or ";" in gap for gap in gaps):
        return False
    return _leads(document, document.words[amount.last + 1 : following.first], following)


def _shared(document: Document, mention: Term, stop: int) -> list[Amount] | None:
    """ "A and B were 12 and 9 respectively", "A/B: 15/12", "A and B were both 15"; None where nothing is shared."""
    names = _named_together(document, mention)
    if len(names) < 2:
        return None
    place = next(i for i, name in enumerate(names) if name.first == mention.first)
    numbers = [a for a in amounts(document) if names[-1].last < a.first < max(stop, names[-1].last + 10)]
    numbers = [a for a in numbers if document.lines[a.first] == document.lines[mention.first]]
    if not numbers:
        return None
    words = document.words[names[-1].last + 1 : numbers[0].first]
    if "both" in words or "each" in words:
        return [numbers[0]]
    figures = numbers[0].ratio.split("/") if numbers[0].ratio else []
    if len(figures) == len(names):
        try:
            value = float(figures[place][:40])
        except ValueError:
            return None
        return [replace(numbers[0], value=value, high=value, ratio="")]
    after = document.words[numbers[0].last : numbers[0].last + 8]
    if len(numbers) >= len(names) and "respectively" in after:
        return [numbers[place]]
    return None


def _named_together(document: Document, mention: Term) -> list[Term]:
    """The measurements of one list without a figure between them: "GAD-7 and PHQ-9"."""
    around = term_index(document).between(MEASURE, max(0, mention.first - 8), mention.last + 9)
    names = [t for t in around if document.lines[t.first] == document.lines[mention.first]]
    kept = [mention]
    for step in (-1, 1):
        edge = mention
        for other in names[::step]:
            low, high = (other, edge) if step < 0 else (edge, other)
            between = document.words[low.last + 1 : high.first]
            if low.last < high.first and set(between) <= {"and", "&"} and document.gaps[high.first].strip(" ,/") == "":
                kept.append(other)
                edge = other
    return sorted(kept, key=lambda term: term.first)


def _joined(document: Document, mention: Term, measure: Concept, own: list[Amount]) -> list[Amount]:
    """Figures with "150 over 95" and "14 to 18" read as one, without those that are only aimed at."""
    found: list[Amount] = []
    for amount in own:
        last = found[-1] if found else None
        between = document.words[last.last + 1 : amount.first] if last else []
        apart = between == ["over"] or (not between and document.gaps[amount.first] == "/")
        if last is not None and apart and measure.name == _PRESSURE and not amount.ratio:
            found[-1] = replace(last, unit=amount.unit, last=amount.last, ratio=f"{last.value:g}/{amount.value:g}")
        elif last is not None and between in (["to"], ["and"]) and _is_range(document, mention, last, amount):
            found[-1] = replace(last, unit=last.unit or amount.unit, last=amount.last, high=amount.value)
        elif last is not None and between == ["out", "of"]:
            continue
        else:
            found.append(amount)
    return [a for a in found if not is_aimed(document, mention, a)] or found


def is_aimed(document: Document, mention: Term, amount: Amount) -> bool:
    """ "target 2-3", "within her range of 2 to 3": a value that is aimed at."""
    return not _AIMED.isdisjoint(document.words[max(0, mention.first - 2, amount.first - 3) : amount.first])


def _is_range(document: Document, mention: Term, low: Amount, high: Amount) -> bool:
    before = document.words[mention.last + 1 : low.first]
    if document.words[low.last + 1] == "and" and before[-1:] != ["between"]:
        return False
    return low.value < high.value and _CHANGES.isdisjoint(before) and "from" not in before


def _has_figure(document: Document, other: Term) -> bool:
    return len(document.words[other.first]) > 1 or document.spelled(other.first).isupper()


# Dimensions that no scale and no laboratory value without a fixed unit is given in.
_BODILY = frozenset(("weight", "length", "percent", "temperature", "pressure"))


def fits(document: Document, measure: Concept, amount: Amount) -> bool:
    """Whether a number can be a value of the measurement: by its unit, or bare and not a date."""
    unit = str(measure.data.get("unit", ""))
    if document.kinds[amount.first] == DATE or (
        amount.unit is None and 1900 <= amount.value <= 2100 and amount.value == int(amount.value)
    ):
        return False
    if document.words[amount.last + 1 : amount.last + 2] in (["times"], ["fold"]):
        return False  # "three times normal"
    if amount.unit is None:
        if document.words[amount.first - 1 : amount.first] and document.words[amount.first - 1] in _NUMBERED:
            return False  # "stage 3", "type 2", "week 12"
        if measure.name == _PRESSURE and not amount.ratio:
            return amount.value >= _LEAST_PRESSURE
        return not amount.ratio or measure.name == _PRESSURE or _is_score(measure, amount)
    if amount.unit.name == unit or amount.dimension in (measure.data.get("convert") or {}):
        return True
    if unit == "none" and amount.unit.data["kind"] == "result" and amount.dimension not in _BODILY:
        return True
    return amount.dimension == _dimension(unit) or (measure.name == "temperature" and amount.dimension == "temperature")


def _is_score(measure: Concept, amount: Amount) -> bool:
    """ "17/27" on a scale: 17 of the 27 points."""
    _, _, most = amount.ratio.partition("/")
    return measure.data.get("unit") == "none" and most.isdigit() and amount.value <= int(most[:4]) <= 150


def _dimension(unit: str) -> str:
    concept = lexicon().concepts.get(f"unit:{unit}")
    return concept.group if concept else ""


def current_of(document: Document, values: list[Amount]) -> Amount:
    """The value that holds now: one marked as new, else the first that is not marked as earlier."""
    new = [value for value in values if _is_new(document, value)]
    if new:
        return new[-1]
    for value in values:
        if not is_earlier(document, value):
            return value
    return values[-1]


_UNMARKED = frozenset(("", "-", "(", ":"))


def _is_new(document: Document, value: Amount) -> bool:
    first = value.first
    while first > max(0, value.first - 2) and document.gaps[first] in _UNMARKED:
        first -= 1
    return not _NOW.isdisjoint(document.words[first : value.first]) or not _NOW_BEHIND.isdisjoint(
        _behind(document, value)
    )


def _behind(document: Document, value: Amount) -> list[str]:
    """The two words straight after a figure, up to the next mark."""
    found = []
    for token in range(value.last + 1, min(len(document), value.last + 3)):
        if document.gaps[token] not in ("", "-"):
            break
        found.append(document.words[token])
    return found


def is_earlier(document: Document, value: Amount) -> bool:
    """ "down from 80", "112 → 40", "14 on admission": a figure that no longer holds."""
    before = document.words[max(0, value.first - 2) : value.first]
    behind = _behind(document, value)
    past = "previously" in before or "from" in before or behind[:1] == ["→"]
    return past or not _EARLIER_BEHIND.isdisjoint(behind)


def superseded(document: Document, values: list[Amount]) -> bool:
    """Whether one of several figures is given as the new one, so that the others are not current."""
    words = document.words[values[0].first - 3 if values[0].first > 3 else 0 : values[-1].last + 4]
    return not (_NOW | _NOW_BEHIND | {"previously"}).isdisjoint(words)
