"""How often something is taken: "b.d.", "every 28 days", "morning and evening", "in three divided doses"."""

from dataclasses import dataclass
from itertools import chain, product
from operator import attrgetter

from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts
from pytest_clinical_drift.evidence.reading.text import Document, once
from pytest_clinical_drift.evidence.terms.lexicon import between, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import FREQUENCY, word_set

_PER_DAY = {
    1.0: ("day", "days", "d", "daily", "24h", "24"),
    1 / 7: ("week", "weeks", "wk", "weekly"),
    12 / 365.25: ("month", "months", "monthly"),
    24.0: ("hour", "hours", "h", "hr", "hrs", "hourly"),
    1 / 365.25: ("year", "years", "yearly"),
}
_PERIODS = dict(chain.from_iterable(product(words, (rate,)) for rate, words in _PER_DAY.items()))
# "for a week", "within a day" are stretches of time, not frequencies.
_LASTING = word_set("quantities", "lasting")
# "three nights a week" counts nights as "three times a week" counts times.
_OCCASIONS = frozenset(("times", "time", "x", "×", "nights", "days", "mornings", "evenings", "doses"))
_EACH = ("a", "per", "each", "every")
_AND = frozenset(("and", "+", "or", "then", "at", "the", "&"))
_FORMS = word_set("frequencies", "forms") | {"each"}
MOST_DAYS = 0.8
"""Doses a day of "most days": less than daily, how much less is left open."""


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
    words = document.words
    after_amount = {amount.last + 1 for amount in numbers}
    by_token: dict[int, Frequency] = {}
    for concept, first, last, weak in term_index(document).by_kind.get(FREQUENCY, ()):
        before = words[first - 1] if first else ""
        # A short form ("od") counts after an amount or a form, or in a list of parts of the day.
        due = (first in after_amount or before in _FORMS) and (words[first] != "on" or document.spelled(first) == "ON")
        if weak and not (due or _goes_on_with_day(document, first, by_token)):
            continue
        known = by_token.get(first)
        if not (words[first] == "a" and before in _LASTING) and (known is None or known.last < last):
            by_token[first] = Frequency(float(concept.data["per_day"]), str(concept.data.get("time", "")), first, last)
    for amount in numbers:
        frequency = _by_rule(document, amount)
        if frequency is not None:
            by_token = {at: known for at, known in by_token.items() if not frequency.first <= at <= frequency.last}
            by_token[frequency.first] = frequency
    return sorted(by_token.values(), key=attrgetter("first"))


def frequencies_between(document: Document, first: int, stop: int) -> list[Frequency]:
    """Statements of how often that begin from token `first` up to before `stop`."""
    return between(frequencies(document), first, stop)


def _goes_on_with_day(document: Document, first: int, frequencies_: dict[int, Frequency]) -> bool:
    """ "after breakfast, lunch and dinner": a part of the day in a list that begins with one."""
    before = next(reversed(frequencies_.values()), None)
    if before is None or not before.time or not before.last < first <= before.last + 3:
        return False
    same = document.sentences[before.last] == document.sentences[first]
    return same and _AND.issuperset(document.words[before.last + 1 : first])


def _by_rule(document: Document, amount: Amount) -> Frequency | None:
    """ "50 mg/day", "3 times a day", "every 5 hours", "40 mg ×3 daily"."""
    words = document.words
    first = amount.first
    after = amount.last + 1
    before = words[first - 1] if first else ""
    gap = document.gaps[after] if after < len(words) else ""
    ahead = words[after : after + 3]
    if gap == "/" and ahead[0] in _PERIODS and amount.unit is not None:
        return Frequency(_PERIODS[ahead[0]], "", after, after)
    if amount.value <= 0:
        return None
    if before in ("every", "each") and amount.dimension == "time":
        return Frequency(24.0 / max(amount.base, 1e-9), "", first - 1, amount.last)
    if amount.unit is not None or gap.strip("-"):
        return None
    if ahead[:2] == ["a", "day"] and words[first] not in ("once", "twice"):
        return Frequency(amount.value, "", first, after + 1)  # "five a day"
    if before in ("x", "×"):
        first = first - 1
        ahead = [before, *ahead]
        after -= 1
    if ahead[:1] and ahead[0] in _OCCASIONS:
        place = 2 if len(ahead) > 2 and ahead[1] in _EACH else 1
        if len(ahead) > place and ahead[place] in _PERIODS:
            return Frequency(amount.value * _PERIODS[ahead[place]], "", first, after + place)
    return None
