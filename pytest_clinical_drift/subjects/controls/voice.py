"""How a control speaks: notes in its own words and abbreviations, first person turned into third."""

from __future__ import annotations

import re

from .record import Record
from .vocabulary import any_of, words

_Rules = list[tuple[re.Pattern[str], str]]


def _rules(section: str, flags: re.RegexFlag = re.IGNORECASE) -> _Rules:
    return [(re.compile(pattern, flags), replacement) for pattern, replacement in words(section)]


_REWORDING = _rules("rewording", re.RegexFlag(0))
_ABBREVIATIONS = [
    (re.compile(rf"(?<![\w-]){re.escape(long)}(?![\w-])", re.IGNORECASE), short)
    for long, short in sorted(words("abbreviations").items(), key=lambda pair: -len(pair[0]))
]
_FIRST_PERSON = _rules("first_person")
_FORMS: dict[str, dict[str, str]] = words("pronouns")
_SECTIONS: list[tuple[str, re.Pattern[str]]] = [
    (section["heading"], any_of(section["cues"])) for section in words("sections") if "cues" in section
]
_NO_ALLERGY = re.compile(r"\bno known (?:drug )?allerg", re.IGNORECASE)
_REST: str = next(section["heading"] for section in words("sections") if "cues" not in section)
_NEWS, _CHANGED = words("news_heading"), words("changed_heading")


def note(statement: str) -> str:
    """One statement as a clinician would jot it down: reworded and abbreviated, nothing added."""
    text = statement.strip().rstrip(".")
    for pattern, replacement in _REWORDING:
        text = pattern.sub(replacement, text)
    for pattern, short in _ABBREVIATIONS:
        text = pattern.sub(short, text)
    return text[:1].upper() + text[1:]


def third_person(sentence: str, pronoun: str) -> str:
    """A patient's sentence as another would report it."""
    text = sentence.strip()
    for pattern, replacement in _FIRST_PERSON:
        text = pattern.sub(replacement, text)
    for slot, form in _FORMS[pronoun].items():
        text = text.replace(f"{{{slot}}}", form)
    return text


def summarise(record: Record) -> str:
    """The whole record as handover notes under headings."""
    grouped: dict[str, list[str]] = {heading: [] for heading in (*(name for name, _ in _SECTIONS), _REST)}
    for statement in record.statements:
        grouped[_section(statement)].append(note(statement))
    blocks = [_block(heading, items) for heading, items in ((_REST, grouped.pop(_REST)), *grouped.items()) if items]
    if record.news:
        blocks.append(_block(_NEWS, [note(item) for item in dict.fromkeys(record.news)]))
    if record.changed:
        names = [note(name) for name in dict.fromkeys(record.changed)]
        blocks.append(f"{_CHANGED}: {', '.join(names)}.")
    return "\n\n".join(blocks)


def _section(statement: str) -> str:
    if _NO_ALLERGY.search(statement):
        return _REST
    return next((heading for heading, cues in _SECTIONS if cues.search(statement)), _REST)


def _block(heading: str, items: list[str]) -> str:
    return "\n".join((f"{heading}:", *(f"- {item}." for item in items)))
