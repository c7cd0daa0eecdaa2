"""Measurements: the figures that belong to each mention, and which of them holds now."""

from itertools import chain

from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.statements import Said, Statement, stated, stated_with
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts, same
from pytest_clinical_drift.evidence.reading.text import DATE, Document
from pytest_clinical_drift.evidence.terms.lexicon import Term, lexicon, phrases_between, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, Concept, word_set

_REACH = 16
_BESIDE = 5
"""Tokens from the name within which a figure without its unit is still meant."""
_NUMBERED = word_set("measurement", "numbered")
# Dimensions that no scale and no laboratory value without a fixed unit is given in.
_BODILY = frozenset(("weight", "length", "percent", "temperature", "pressure"))
_VALUE_WORDS = word_set("measurement", "value_words")
_EARLIER = word_set("facts", "earlier_figure")
_EARLIER_BEHIND = frozenset(("previously", "before", "earlier", "initially", "→"))
_FORMER = frozenset(("earlier", "previous", "prior", "former", "old", "initial"))
_LATEST = frozenset(("latest", "last", "recent", "newest"))
_COMPARED = frozenset(("more", "above", "over", "higher", "less", "below", "lower", "under"))
_AIMED = word_set("measurement", "aimed")


def statements(fact: Fact, document: Document) -> list[Statement]:
    measure = fact.core.concept
    if measure is None or not fact.amounts:
        return []
    wanted = fact.amounts[-1] if fact.amounts[0].first <= 1 and len(fact.amounts) > 1 else fact.amounts[0]
    said = [_of_mention(fact, document, mention, measure, wanted) for mention in _mentions_of(document, measure)]
    if not any(s.said == Said.PLAIN for s in said):
        said += _by_unit(fact, document, measure, wanted)
    if said:
        return said
    # "anaemic", "hyponatraemia": the measurement in words
    finding = phrases_between(document, f"finding {measure.name}", 0, len(document))
    places = [(t.first, t.last) for t in finding if context_at(document, t.first, t.last).affirmed]
    return [Statement(Said.VAGUE, (place,), "without the figure", "general-name") for place in places]


def _of_mention(fact: Fact, document: Document, mention: Term, measure: Concept, wanted: Amount) -> Statement:
    span = (mention.first, mention.last)
    context = context_at(document, *span)
    if context.other_person:
        return Statement(Said.OTHER, (span,), "of someone else", "someone-else")
    missing = _unsaid(fact, document, mention.first)
    values = _values_of(document, mention, measure)
    for value in (v for v in values if _equal(measure, wanted, v)):
        place = (min(span[0], value.first), max(span[1], value.last))
        if len(values) > 1 and _is_earlier(document, value):
            return Statement(Said.TRACE, (place,), "only as an earlier value", "earlier-value")
        return stated_with((place,), missing)
    former = not _FORMER.isdisjoint(document.words[max(0, span[0] - 2) : span[0]])  # "earlier INR 2.9"
    for value in () if former or context.hypothetical else values:
        meant = value.unit is not None or _is_scale(measure) or value.first - span[1] <= _BESIDE
        if meant and not _is_earlier(document, value) and not _is_aimed(document, value):
            place = (min(span[0], value.first), max(span[1], value.last))
            quote = document.quote(value.first, value.last)
            own = fact.document.quote(wanted.first, wanted.last)
            # "standing blood pressure" beside "blood pressure 158/84": perhaps another measurement; "13,200" beside
            # "13.2 x10^9/L": the same one, counted in thousands
            sure = not missing and not any(same(value.value, wanted.value * factor) for factor in (1000, 0.001))
            return Statement(Said.CLASH, (place,), f"{quote} instead of {own}", "other-figure", sure=sure)
    if context.hypothetical or context.open:
        return Statement(Said.DOUBT, (span,), "named, but not as a result", "not-asserted")
    first, stop = document.row_span(mention.first)
    near = document.words[max(first, span[0] - 4) : min(stop, span[1] + 8)]
    said = Said.TRACE if _VALUE_WORDS.isdisjoint(near) else Said.VAGUE
    return Statement(said, (span,), "named, but no figure", "without-figure")


def _unsaid(fact: Fact, document: Document, place: int) -> list[str]:
    """Details that are not stated near a token: "target", "standing", "fasting"."""
    return [slot.text for slot in fact.details if stated(document, slot, place) is None]


def _mentions_of(document: Document, measure: Concept) -> list[Term]:
    """Where a measurement itself is named, else where a more general name of it stands."""
    index = term_index(document)
    names = [measure.id, *(f"{MEASURE}:{name}" for name in measure.data.get("includes", ()))]
    mentions = []
    for term in chain.from_iterable(index.exact.get(name, ()) for name in names):
        medicine = index.medicines_between(term.first, term.first + 1)  # "potassium chloride"
        around = index.between(MEASURE, term.first - 6, term.first + 1)
        longer = [t for t in around if t.last >= term.last and t.last - t.first > term.last - term.first]
        if not (any(m.last > term.last for m in medicine) or any(t.concept is not term.concept for t in longer)):
            mentions.append(term)
    general = (t for t in index.by_kind.get(MEASURE, ()) if measure.name.endswith(" " + t.concept.name))
    return mentions or [term for term in general if not term.weak]


def _values_of(document: Document, mention: Term, measure: Concept) -> list[Amount]:
    """Figures that belong to a mention: after it up to the next measurement, else straight before it."""
    first, stop = document.row_span(mention.first)
    stop = min(stop, mention.last + 1 + _REACH)
    index = term_index(document)
    others = [t for t in index.between(MEASURE, mention.last + 1, stop) if t.concept is not measure and not t.weak]
    others += [t for t in index.medicines_between(mention.last + 1, stop) if t.concept.name not in measure.name]
    stop = min([stop, *(t.first for t in others)])
    numbers = [a for a in amounts(document) if first <= a.first < stop and _fits(document, measure, a)]
    behind = [a for a in numbers if a.first > mention.last]
    return behind or [a for a in numbers if 0 <= mention.first - a.last - 1 <= 2][-1:]


def _is_scale(measure: Concept) -> bool:
    """A score or a ratio, which is given without a unit."""
    return bool(measure.data.get("unit", "none") == "none")


def _is_earlier(document: Document, value: Amount) -> bool:
    """ "down from 80", "(was 0.8", "14 → 9", "20, then 27": a figure that no longer holds."""
    place = value.first - 1
    if place > 0 and document.words[place] in ("about", "around", "a", "at", "that"):
        place -= 1
    before = document.words[max(0, place) : place + 1]
    if before == ["was"] and not _LATEST.isdisjoint(document.words[max(0, place - 3) : place]):
        return False  # "the latest reading was 2.9"
    after = document.words[value.last + 1 : value.last + 4]
    behind = bool(after) and after[0] in _EARLIER_BEHIND and document.gaps[value.last + 1] in ("", "→")
    return behind or not _EARLIER.isdisjoint(before) or not {"→", "then"}.isdisjoint(after)


def _is_aimed(document: Document, value: Amount) -> bool:
    """ "target 80", "target INR of 2.5 to 3.5", "if above 120", "120 or more": no result."""
    after = [word for word in document.words[value.last + 1 : value.last + 3] if word != "or"]
    first = value.first
    if document.words[first - 1 : first] == ["to"] and any(a.last == first - 2 for a in amounts(document)):
        first -= 2  # the upper end of a range is aimed at where the lower one is
    return not (_COMPARED.isdisjoint(after[:1]) and _AIMED.isdisjoint(document.words[max(0, first - 3) : first]))


def _by_unit(fact: Fact, document: Document, measure: Concept, wanted: Amount) -> list[Statement]:
    """ "38.7 °C", "9.8 kg", "best 380 L/min": the figure in the unit that says what was measured."""
    if wanted.unit is None or wanted.unit.data["kind"] != "result":
        return []
    return [
        stated_with(((a.first, a.last),), _unsaid(fact, document, a.first))
        for a in amounts(document)
        if a.unit is not None
        and a.dimension == wanted.dimension
        and _equal(measure, wanted, a)
        and not _is_anothers(document, measure, a)
    ]


def _is_anothers(document: Document, measure: Concept, amount: Amount) -> bool:
    """A figure of another measurement, of somebody else, of an earlier day, or of a change ("lost 4 kg")."""
    if not {"by", "lost", "gained", "than"}.isdisjoint(document.words[max(0, amount.first - 2) : amount.first]):
        return True
    named = term_index(document).between(MEASURE, document.clause_span(amount.first)[0], amount.first)
    places = [(t.first, t.last) for t in named if t.concept is measure] + [(amount.first, amount.last)]
    others = (t for t in named if t.concept is not measure and not t.weak)
    return (
        _is_earlier(document, amount)
        or any(context_at(document, *place).other_person for place in places)
        or any(_fits(document, other.concept, amount) for other in others)
    )


def _fits(document: Document, measure: Concept, amount: Amount) -> bool:
    """Whether a number can be a value of the measurement: by its unit, or bare and not a date."""
    times = document.words[amount.last + 1 : amount.last + 2] in (["times"], ["fold"])  # "three times normal"
    if document.kinds[amount.first] == DATE or times:
        return False
    if amount.unit is None:
        before = document.words[max(0, amount.first - 1) : amount.first]
        year = 1900 <= amount.value <= 2100 and amount.value.is_integer()
        if year or document.words[amount.first].isalpha() or not _NUMBERED.isdisjoint(before):
            return False  # "stage 3", "type 2", "week 12"; "weight was offered once"
        if measure.name == "blood pressure":
            return bool(amount.ratio) or amount.value >= 30  # mmHg
        return not amount.ratio or _is_scale(measure)
    if amount.dimension in (measure.data.get("convert") or {}):
        return True
    if _is_scale(measure):
        return bool(amount.unit.data["kind"] == "result" and amount.dimension not in _BODILY)
    usual = lexicon().concepts.get(f"unit:{measure.data['unit']}")
    return amount.dimension == (usual.group if usual is not None else measure.name)


def _equal(measure: Concept, wanted: Amount, stated: Amount) -> bool:
    if (wanted.ratio or stated.ratio) and not _is_scale(measure):
        return wanted.ratio == stated.ratio
    if wanted.unit is None or stated.unit is None or wanted.unit is stated.unit:
        return same(wanted.value, stated.value)
    convert = measure.data.get("convert") or {}
    rounding = 0.001 * abs(wanted.base) if convert else max(_rounding(wanted), _rounding(stated))
    left, right = (_usual(convert, amount) for amount in (wanted, stated))
    return same(left, right, float(measure.data.get("tolerance", 0) or 0) or rounding)


def _rounding(amount: Amount) -> float:
    """Half of the last digit as written, in the base unit: 132 lb is anything from 131.5 to 132.5 lb."""
    decimals = len(f"{amount.value:g}".partition(".")[2])
    factor = float(amount.unit.data["factor"]) if amount.unit is not None else 1.0
    return 0.5 * 10.0**-decimals * factor


def _usual(convert: dict[str, list[float]], amount: Amount) -> float:
    slope, offset = convert.get(amount.dimension, (1.0, 0.0))
    return float(slope) * amount.base + float(offset)
