"""Writes new values into a record in the place of old ones."""

from __future__ import annotations

import re

from .amounts import AMOUNT, DATE, FREQUENCY, replace_values
from .pharmacy import pharmacy
from .record import Record
from .vocabulary import any_of, words

OWNER = r"(?:my|me|his|her|their|our|the)"
MEASURES = any_of(words("measures"))
_FIXED_MARKS = any_of(words("fixed_marks"))
_OUTDATED = re.compile(r"\s*\b(?:" + "|".join(words("outdated_marks")) + r")\b")


def is_about(statement: str, label: str) -> bool:
    """Whether a statement gives this measure's current value, not a target, best or usual one."""
    return label.lower() in statement.lower() and not _FIXED_MARKS.search(statement)


def set_value(record: Record, subject: str, value: str) -> bool:
    """Give a subject of the record a new value; what the record does not know is added when it is a medicine."""
    subject = " ".join(FREQUENCY.sub("", AMOUNT.sub("", _own(subject))).split())
    if not subject:
        return False
    if re.match(r"[^\W\d_]", value) and pharmacy().named_in(value.split(" ")[0]):
        return replace_drug(record, subject, value)
    places = list(_places(record, subject))
    for held, index, end in places:
        if (changed := replace_values(held[index], end, value)) is not None:
            held[index] = _OUTDATED.sub("", changed)
            record.changed.append(subject)
            return True
    if places and not pharmacy().named_in(subject) and (FREQUENCY.search(value) or value.startswith("every")):
        held, index, _ = places[0]
        held[index] = f"{capital(subject)} is now {value}."
        record.changed.append(subject)
        return True
    if not places and AMOUNT.match(value) and (pharmacy().named_in(subject) or MEASURES.search(subject)):
        record.news.append(f"{capital(subject)} {value}.")
        return True
    return False


def _own(subject: str) -> str:
    """What a subject phrase ends in after the last possessive: "reason was my ALT" speaks of the ALT."""
    return re.split(rf"\b(?:{OWNER}|that)\s+", subject, flags=re.IGNORECASE)[-1]


def capital(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def _places(record: Record, subject: str) -> list[tuple[list[str], int, int]]:
    """Where the record speaks of a subject: the whole phrase first, then statements with all of its words."""
    phrase = re.compile(rf"\b{re.escape(subject)}\b", re.IGNORECASE)
    parts = [re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE) for word in subject.split()]
    whole, scattered = [], []
    for held in (record.statements, record.news):
        for index, statement in enumerate(held):
            found = phrase.search(statement)
            if found and _FIXED_MARKS.search(statement[max(0, found.start() - 20) : found.end() + 20]):
                continue
            if found:
                whole.append((held, index, found.end()))
            elif all(part.search(statement) for part in parts):
                first = parts[0].search(statement)
                scattered.append((held, index, first.end() if first else 0))
    return whole + scattered


def set_by_unit(record: Record, value: str) -> bool:
    for index, statement in enumerate(record.statements):
        if re.search(r"\bweigh", statement, re.IGNORECASE):
            changed = replace_values(statement, 0, value)
            if changed is not None:
                record.statements[index] = changed
                record.changed.append("weight")
                return True
    return False


def replace_drug(record: Record, old: str, new: str) -> bool:
    for index, statement in enumerate(record.statements):
        if found := re.search(rf"\b{re.escape(old)}\b[^,.;]*(?:\.\d[^,.;]*)*", statement, re.IGNORECASE):
            record.statements[index] = statement[: found.start()] + new + statement[found.end() :]
            record.changed.append(f"{old} to {new.split(' ')[0]}")
            return True
    return False


def restart(record: Record, drug: str, value: str) -> bool:
    drug = _own(drug)
    last = re.compile(
        rf"(?:\s+and)?\s+(?:his|her|their|the)\s+last {re.escape(drug)} [^,.;]*?{DATE.pattern}(?: in the \w+)?", re.I
    )
    record.statements = [last.sub("", statement) for statement in record.statements]
    record.statements.append(f"{capital(drug)} was restarted at {value}.")
    record.changed.append(drug)
    return True


def drop_regimen(record: Record, index: int, drug: str) -> None:
    """Take one medicine out of a statement that may name others."""
    pattern = re.compile(
        rf"(?:\s+and)?\s+{re.escape(drug)}\s+{AMOUNT.pattern}(?:\s+{FREQUENCY.pattern})?(?P<on>\s+and\b)?",
        re.IGNORECASE,
    )
    rest = " ".join(pattern.sub("", record.statements[index], count=1).split())
    if not pharmacy().named_in(rest):
        rest = re.sub(r"(?:,?\s*and)?\s*(?:\b(?:he|she|they)\s+)?\btakes\b.*$", "", rest, flags=re.IGNORECASE)
    record.statements[index] = rest.strip()
    record.statements = [statement for statement in record.statements if statement]
