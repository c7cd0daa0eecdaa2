"""Calendar dates in a text: "March 2022", "3/2022", "Feb 14", "2019", "2022-02-14"."""

from __future__ import annotations

from typing import NamedTuple

from pytest_clinical_drift.evidence.reading.text import DATE, NUMBER, RATIO, Document, once
from pytest_clinical_drift.evidence.reading.tokens import date_parts

_HALF = ("january", "february", "march", "april", "may", "june")
_OTHER_HALF = ("july", "august", "september", "october", "november", "december")
_IN_FULL = {name: number for number, name in enumerate((*_HALF, *_OTHER_HALF), 1)}
_MONTHS = {**_IN_FULL, **{name[:3]: number for name, number in _IN_FULL.items()}, "sept": 9}


class Date(NamedTuple):
    """What a text says of a date; None where it says nothing."""

    year: int | None
    month: int | None
    day: int | None
    first: int
    last: int

    def agrees(self, other: Date) -> bool:
        """Whether everything this date says is said by `other` too."""
        return all(own in (None, said) for own, said in zip(self[:3], other[:3], strict=True))

    def clashes(self, other: Date) -> bool:
        """Whether the two name different years, months or days."""
        return any(None not in (own, said) and own != said for own, said in zip(self[:3], other[:3], strict=True))


@once
def dates(document: Document) -> list[Date]:
    found: list[Date] = []
    for index in range(len(document)):
        date = _at(document, index) if not found or index > found[-1].last else None
        if date is not None:
            found.append(date)
    return found


def _at(document: Document, index: int) -> Date | None:
    word = document.words[index]
    kind = document.kinds[index]
    if kind == DATE:
        parts = date_parts(word)
        return Date(*parts, index, index) if parts else None
    if kind == RATIO:
        month, _, year = word.partition("/")
        dated = month.isdecimal() and 1 <= int(month[:3]) <= 12 and _year(year)
        return Date(_year(year), int(month), None, index, index) if dated else None
    if word in _MONTHS and (word not in ("may", "mar", "march") or _is_month(document, index)):
        return _around_month(document, index)
    return Date(_year(word), None, None, index, index) if kind == NUMBER and _year(word) else None


def _year(word: str) -> int | None:
    return int(word) if len(word) == 4 and word.isdecimal() and 1900 <= int(word) <= 2100 else None


_BEFORE_A_MONTH = frozenset(("in", "since", "until", "from", "by", "last", "this", "of", "early", "late", "mid"))


def _is_month(document: Document, index: int) -> bool:
    """Whether "may" or "march" is the month: in capitals, with a figure or "in" beside it."""
    beside = document.kinds[max(0, index - 1) : index] + document.kinds[index + 1 : index + 2]
    introduced = not _BEFORE_A_MONTH.isdisjoint(document.words[max(0, index - 1) : index])
    return document.spelled(index)[:1].isupper() and (introduced or NUMBER in beside)


def _day(word: str) -> int | None:
    digits = word.rstrip("stndrh")
    return int(digits) if digits.isdecimal() and len(digits) <= 2 and 1 <= int(digits) <= 31 else None


def _around_month(document: Document, index: int) -> Date:
    """The month at a token, with the day on either side of it and the year behind."""
    words = document.words
    gaps = document.gaps
    first = last = index
    before = index - 2 if words[max(0, index - 1) : index] == ["of"] else index - 1
    beside = before >= 0 and gaps[index] in ("", "-") and document.sentences[before] == document.sentences[index]
    day = _day(words[before]) if beside else None
    if day is not None:
        first = before
    elif index + 1 < len(words) and gaps[index + 1] in ("", "-"):
        day = _day(words[index + 1])
        last = index if day is None else index + 1
    following = last + 1
    year = _year(words[following]) if following < len(words) and gaps[following] in ("", ",", "-", "'") else None
    return Date(year, _MONTHS[words[index]], day, first, last if year is None else following)
