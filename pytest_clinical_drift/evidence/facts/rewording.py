"""Other wordings of a whole fact ("law student" / "studies law"), from templates with open places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set
from pytest_clinical_drift.evidence.text import tokenise

_SKIPPED = word_set("rewording", "skipped")
_SLOT = re.compile(r"\{([a-z])\}")
_LONGEST = 14  # words of a fact beyond which it says too much for a template


@dataclass(frozen=True, slots=True)
class _Template:
    """One group of wordings that say the same."""

    patterns: tuple[re.Pattern[str], ...]
    said: tuple[str, ...]
    instead: bool
    """The first of `said` takes the place of the fact, whose own words mislead."""


def _pattern(wording: str) -> re.Pattern[str]:
    """A wording as an expression over normalised words; "{x}" is a run of up to five, "a|b" a choice."""
    pieces = []
    for word in wording.split():
        slot = _SLOT.fullmatch(word)
        if slot:
            pieces.append(rf"(?P<{slot.group(1)}>\S+(?: \S+){{0,4}})")
        else:
            pieces.append("(?:" + "|".join(re.escape(choice) for choice in word.split("|")) + ")")
    return re.compile(" ".join(pieces))


@lru_cache(maxsize=1)
def _templates() -> tuple[_Template, ...]:
    return tuple(
        _Template(
            tuple(_pattern(str(w)) for w in entry["fact"]),
            tuple(str(w) for w in entry["said"]),
            bool(entry.get("instead", False)),
        )
        for entry in load_data("rewordings") or []
    )


def _matches(text: str) -> list[tuple[_Template, re.Match[str]]]:
    words = [word for word in tokenise(text) if word not in _SKIPPED]
    if not words or len(words) > _LONGEST:
        return []
    plain = " ".join(words)
    found = []
    for template in _templates():
        match = next(filter(None, (pattern.fullmatch(plain) for pattern in template.patterns)), None)
        if match is not None:
            found.append((template, match))
    return found


def _filled(said: str, match: re.Match[str]) -> str:
    # A slot that this way of putting the fact does not have stays empty.
    return _SLOT.sub(lambda slot: match.groupdict().get(slot.group(1)) or "", said).strip()


@lru_cache(maxsize=4096)
def rewordings(text: str) -> tuple[str, ...]:
    """Facts that say the same as this one in another construction."""
    found = [_filled(said, match) for template, match in _matches(text) for said in template.said]
    return tuple(wording for wording in dict.fromkeys(found) if wording != text)


@lru_cache(maxsize=4096)
def plainly(text: str) -> str:
    """The fact in the wording that rules read best; most facts as they are."""
    return next((_filled(t.said[0], match) for t, match in _matches(text) if t.instead), text)
