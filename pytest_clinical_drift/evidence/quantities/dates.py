"""Calendar dates in a text: "March 2022", "3/2022", "Feb 14", "2019", "2022-02-14"."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clinical_drift.evidence.reading.text import DATE, NUMBER, RATIO, Document, once

_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november")
_MONTHS = {key: n for n, name in enumerate((*_NAMES, "december"), 1) for key in (name, name[:3])} | {"sept": 9}


@dataclass(frozen=True, slots=True)
class Date:
    """What a text says of a date; None where it says nothing."""

    year: int | None
    month: int | None
    day: int | None
    first: int
    last: int

    def agrees(self, other: Date) -> bool:
        """Whether everything this date says is said by `other` too."""
        return all(own in (None, said) for own, said in self._beside(other))

    def clashes(self, other: Date) -> bool:
        """Whether the two name different years, months or days."""
        return any(None not in (own, said) and own != said for own, said in self._beside(other))

    def _beside(self, other: Date) -> tuple[tuple[int | None, int | None], ...]:
        return (self.year, other.year), (self.month, other.month), (self.day, other.day)


@once
def dates(document: Document) -> list[Date]:
    dates_: list[Date] = []
    words, kinds = document.words, document.kinds
    index, total = 0, len(words)
    while index < total:
        kind = kinds[index]
        date: Date | None = None
        if kind == DATE:
            date = _written(words[index], index)
        elif kind == RATIO and words[index].count("/") == 1:
            left, _, right = words[index].partition("/")
            if left.isdecimal() and right.isdecimal() and 1 <= int(left[:3]) <= 12 and 1900 <= int(right[:5]) <= 2100:
                date = Date(int(right), int(left), None, index, index)
        elif words[index] in _MONTHS and (words[index] not in ("may", "mar", "march") or _dated(document, index)):
            date = _around_month(document, index)
        elif (
            kind == NUMBER and len(words[index]) == 4 and words[index].isdecimal() and 1900 <= int(words[index]) <= 2100
        ):
            date = Date(int(words[index]), None, None, index, index)
        if date is not None:
            if dates_ and dates_[-1].last >= date.first:
                dates_.pop()
            dates_.append(date)
            index = date.last
        index += 1
    return dates_


def _written(text: str, index: int) -> Date | None:
    parts = [int(part) for part in text.replace(".", "/").replace("-", "/").split("/") if part.isdecimal()]
    if len(parts) != 3:
        return None
    if parts[0] > 1000:
        return Date(parts[0], parts[1], parts[2], index, index)
    year = parts[2] if parts[2] > 99 else parts[2] + (2000 if parts[2] < 70 else 1900)
    day, month = (parts[0], parts[1]) if parts[1] <= 12 else (parts[1], parts[0])
    return Date(year, month, day, index, index)


def _dated(document: Document, index: int) -> bool:
    """Whether "may" or "march" is the month: in capitals, or with a figure or "in" beside it."""
    spelled = document.spelled(index)
    if not spelled[:1].isupper():
        return False
    after = index + 1 < len(document) and document.kinds[index + 1] == NUMBER
    before = document.words[index - 1] if index else ""
    by_preposition = before in ("in", "since", "until", "from", "by", "last", "this", "of", "early", "late", "mid")
    return bool(after or by_preposition or (index and document.kinds[index - 1] == NUMBER))


def _ordinal(word: str) -> int | None:
    digits = word.rstrip("stndrh")
    return int(digits) if digits.isdecimal() and len(digits) <= 2 and 1 <= int(digits) <= 31 else None


def _around_month(document: Document, index: int) -> Date:
    words, gaps = document.words, document.gaps
    first = last = index
    day = year = None
    before = index - 1
    if before >= 0 and words[before] == "of" and before:
        before -= 1
    if before >= 0 and gaps[index] in ("", "-") and document.sentences[before] == document.sentences[index]:
        day = _ordinal(words[before])
        first = before if day is not None else index
    after = index + 1
    if day is None and after < len(words) and gaps[after] in ("", "-"):
        day = _ordinal(words[after])
        if day is not None:
            last = after
            after += 1
    if after < len(words) and gaps[after] in ("", ",", "-", "'") and words[after].isdecimal():
        value = int(words[after][:6])
        if len(words[after]) == 4 and 1900 <= value <= 2100:
            year, last = value, after
    return Date(year, _MONTHS[words[index]], day, first, last)
