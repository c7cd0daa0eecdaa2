"""How often something is taken: "b.d.", "every 28 days", "morning and evening", "in three divided doses"."""

from dataclasses import dataclass
from operator import attrgetter

from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts
from pytest_clinical_drift.evidence.reading.text import Document, once
from pytest_clinical_drift.evidence.terms.index import between, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import FREQUENCY, word_set

_PERIODS = {
    "day": 1.0, "days": 1.0, "d": 1.0, "daily": 1.0, "24h": 1.0, "24": 1.0, "week": 1 / 7, "weeks": 1 / 7, "wk": 1 / 7,
    "weekly": 1 / 7, "month": 12 / 365.25, "months": 12 / 365.25, "monthly": 12 / 365.25, "hour": 24.0, "hours": 24.0,
    "h": 24.0, "hr": 24.0, "hrs": 24.0, "hourly": 24.0, "year": 1 / 365.25, "years": 1 / 365.25, "yearly": 1 / 365.25,
}  # fmt: skip
# "for a week", "within a day" are stretches of time, not frequencies.
_LASTING = word_set("quantities", "lasting")
_FIRST = attrgetter("first")


@dataclass(frozen=True, slots=True)
class Frequency:
    per_day: float
    """Doses per day; 0: as needed."""
    time: str
    """Part of the day that the wording fixes, else empty."""
    first: int
    last: int


@once
def frequencies(document: Document) -> list[Frequency]:
    numbers = amounts(document)
    after_amount = {amount.last + 1 for amount in numbers}
    by_token: dict[int, Frequency] = {}
    for term in term_index(document).by_kind.get(FREQUENCY, ()):
        if term.weak and not (
            _follows_amount(document, term.first, after_amount) or _goes_on_with_day(document, term.first, by_token)
        ):
            continue
        before = document.words[term.first - 1] if term.first else ""
        if document.words[term.first] == "a" and before in _LASTING:
            continue
        entry, known = term.concept.data, by_token.get(term.first)
        if known is None or known.last < term.last:
            by_token[term.first] = Frequency(float(entry["per_day"]), str(entry.get("time", "")), term.first, term.last)
    for amount in numbers:
        frequency = _by_rule(document, amount)
        if frequency is not None:
            by_token = {at: known for at, known in by_token.items() if not frequency.first <= at <= frequency.last}
            by_token[frequency.first] = frequency
    return sorted(by_token.values(), key=_FIRST)


def frequencies_between(document: Document, first: int, stop: int) -> list[Frequency]:
    """Statements of how often that begin from token `first` up to before `stop`."""
    return between(frequencies(document), first, stop)


# "most days": less than daily, how much less is left open.
MOST_DAYS = 0.8
# "three nights a week" counts nights as "three times a week" counts times.
_OCCASIONS = frozenset(("times", "time", "x", "×", "nights", "days", "mornings", "evenings", "doses"))


def _goes_on_with_day(document: Document, first: int, frequencies_: dict[int, Frequency]) -> bool:
    """ "after breakfast, lunch and dinner": a part of the day in a list that begins with one."""
    before = next(reversed(frequencies_.values()), None)
    if before is None or not before.time or not before.last < first <= before.last + 3:
        return False
    between = document.words[before.last + 1 : first]
    return document.sentences[before.last] == document.sentences[first] and _AND.issuperset(between)


_AND = frozenset(("and", "+", "or", "then", "at", "the", "&"))


def _follows_amount(document: Document, first: int, after_amount: set[int]) -> bool:
    """Whether a short form ("od") stands where a frequency is due: after an amount or a form."""
    if document.words[first] == "on" and document.spelled(first) != "ON":
        return False
    before = " ".join(document.words[max(0, first - 1) : first])
    return first in after_amount or before == "each" or before in _FORMS


_FORMS = word_set("frequencies", "forms")


def _by_rule(document: Document, amount: Amount) -> Frequency | None:
    """ "50 mg/day", "3 times a day", "every 5 hours", "6-weekly"."""
    words, gaps = document.words, document.gaps
    total = len(words)
    after = amount.last + 1
    if after < total and gaps[after] == "/" and words[after] in _PERIODS and amount.unit is not None:
        return Frequency(_PERIODS[words[after]], "", after, after)
    if amount.value <= 0:
        return None
    before = words[amount.first - 1] if amount.first else ""
    if before in ("x", "×") and amount.unit is None and after < total and words[after] in ("daily", "a", "per", "day"):
        last = after + 1 if words[after] in ("a", "per") and after + 1 < total else after
        return Frequency(amount.value * _PERIODS.get(words[last], 1.0), "", amount.first - 1, last)  # "40 mg ×3 daily"
    if before in ("every", "each") and amount.unit is not None and amount.dimension == "time":
        return Frequency(24.0 / max(amount.base, 1e-9), "", amount.first - 1, amount.last)
    if amount.unit is None and after < total and not document.gaps[after].strip("-"):
        word = words[after]
        if word == "a" and words[after + 1 : after + 2] == ["day"] and words[amount.first] not in ("once", "twice"):
            return Frequency(amount.value, "", amount.first, after + 1)  # "five a day"
        if word in _OCCASIONS and after + 1 < total:
            position = after + 1
            if words[position] in ("a", "per", "each", "every") and position + 1 < total:
                position += 1
            if words[position] in _PERIODS:
                return Frequency(amount.value * _PERIODS[words[position]], "", amount.first, position)
    return None
