"""Numbers in figures and words, and ranges of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER_WORDS = {
    "a": 1, "an": 1, "one": 1, "single": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "half": 0.5, "dozen": 12,
}  # fmt: skip
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?\Z")


def number(word: str) -> float | None:
    """A number in figures or words."""
    if _NUMBER.match(word):
        return float(word)
    return NUMBER_WORDS.get(word)


def with_halves(words: Sequence[str]) -> Sequence[str]:
    """The words with "two and a half" as one figure."""
    if "half" not in words:
        return words
    given = list(words)
    for at in range(len(given) - 4, -1, -1):
        whole = number(given[at])
        if whole is not None and given[at] not in ("a", "an") and given[at + 1 : at + 4] == ["and", "a", "half"]:
            given[at : at + 4] = [f"{whole + 0.5:g}"]
        elif whole is not None and given[at + 2 : at + 5] == ["and", "a", "half"]:
            # "a pint and a half"
            given[at : at + 5] = [f"{whole + 0.5:g}", _plural(given[at + 1])]
    return given


def _plural(unit: str) -> str:
    return unit if unit.endswith("s") else f"{unit}s"


def number_range(words: Sequence[str], at: int) -> tuple[float, float, int] | None:
    """A number or "5 to 10", "30 or 40", "5-10" from `at`: low, high, end."""
    low = number(words[at])
    if low is None:
        return None
    end = at + 1
    if words[at] in ("a", "an") and end < len(words) and words[end] in ("couple", "single", "dozen", "half"):
        low = NUMBER_WORDS[words[end]]
        end += 1
        if end < len(words) and words[end] == "of":
            end += 1
    high = low
    following = words[end] if end < len(words) else ""
    if following in ("to", "or") and end + 1 < len(words):
        other = number(words[end + 1])
        if other is not None and other > low and words[end + 1] not in ("a", "an"):
            return low, other, end + 2
    # "5-10 mg": the hyphen is no word
    if _NUMBER.match(following) and _NUMBER.match(words[at]) and low < float(following) <= low * 20:
        return low, float(following), end + 1
    return low, high, end
