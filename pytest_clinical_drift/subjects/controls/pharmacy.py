"""The controls' own pharmacology: medicines that a text names, their classes, and what a patient must avoid."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .hearing import sentences
from .vocabulary import any_of, load, words

_WORD = re.compile(r"[^\W_]+(?:['/-][^\W_]+)*")
_LONGEST_NAME = 4


@dataclass(frozen=True, slots=True)
class Named:
    """A medicine or class that a text names."""

    said: str
    """As the text writes it."""
    name: str
    """Generic name, or the class."""
    kinds: frozenset[str]
    """Generic name, ingredients and all classes above them."""
    a_class: bool
    """A whole class was named, not one medicine."""


@dataclass(frozen=True, slots=True)
class Ban:
    """Something this patient must not have, and why."""

    kinds: frozenset[str]
    because: str

    def covers(self, named: Named) -> bool:
        return bool(self.kinds & named.kinds)


class Pharmacy:
    """Names and classes of medicines, read once from the shared vocabulary."""

    def __init__(self) -> None:
        classes: list[dict[str, Any]] = load("drug_classes.yaml")
        drugs: list[dict[str, Any]] = load("drugs.yaml")
        self._parents = {entry["name"]: entry.get("parents", []) for entry in classes}
        self._spreads = {entry["name"] for entry in classes if entry.get("allergy_spreads")}
        by_name = {entry["name"]: entry for entry in drugs}
        self._index: dict[str, tuple[str, frozenset[str]]] = {}
        self._classes = set(self._parents)
        for entry in classes:
            kinds = frozenset(self._above([entry["name"]]))
            for term in (entry["name"], *entry.get("terms", ()), *entry.get("lay", ())):
                self._index.setdefault(term.lower(), (entry["name"], kinds))
        for entry in drugs:
            kinds = frozenset(self._kinds(entry, by_name))
            for term in (entry["name"], *entry.get("brands", ()), *entry.get("synonyms", ())):
                self._index[term.lower()] = (entry["name"], kinds)
        for extra, name in words("other_names").items():
            self._index[extra] = self._index.get(name, (name, frozenset((name,))))
        for term in words("not_names"):
            self._index.pop(term, None)

    def named_in(self, text: str) -> list[Named]:
        """Medicines and classes in a text, each once, longest names first at each place."""
        tokens = list(_WORD.finditer(text))
        found: dict[str, Named] = {}
        position = 0
        while position < len(tokens):
            step = 1
            for length in range(min(_LONGEST_NAME, len(tokens) - position), 0, -1):
                said = text[tokens[position].start() : tokens[position + length - 1].end()]
                for key in (said.lower(), said.lower().removesuffix("'s"), said.lower().removesuffix("s")):
                    if key in self._index:
                        name, kinds = self._index[key]
                        found.setdefault(name, Named(said, name, kinds, name in self._classes))
                        step = length
                        break
                if step > 1 or said.lower() in self._index:
                    break
            position += step
        return list(found.values())

    def reacted_to(self, named: Named) -> frozenset[str]:
        """What a reaction to a medicine rules out: itself, and the classes through which an allergy spreads."""
        return frozenset((named.name, *(kind for kind in named.kinds if kind in self._spreads)))

    def _kinds(self, entry: dict[str, Any], by_name: dict[str, dict[str, Any]]) -> set[str]:
        kinds = {entry["name"], *self._above(entry.get("classes", ()))}
        for part in entry.get("contains", ()):
            inner = by_name.get(part)
            kinds |= {part, *self._above(inner["classes"] if inner else (part,))}
        return kinds

    def _above(self, names: Iterable[str]) -> set[str]:
        seen: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting.extend(self._parents.get(name, ()))
        return seen


@lru_cache(maxsize=1)
def pharmacy() -> Pharmacy:
    """The one pharmacy of this process; it never changes."""
    return Pharmacy()


_REACTION = any_of(words("reaction_cues"))
_HARMLESS = any_of(words("harmless_cues"))
_TAKES = any_of(words("taking_cues"))
_CLAUSE = re.compile(r"[,;:]\s+(?:and\s+)?")
_DENIED = re.compile(r"\b(?:no|not|never|stopped)\b", re.IGNORECASE)
_AVOID = [
    (
        any_of(entry["record"]),
        any_of(entry["and_record"]) if "and_record" in entry else None,
        Ban(frozenset(entry["avoid"]), entry["because"]),
    )
    for entry in load("control_care.yaml")["avoid"]
]


@lru_cache(maxsize=512)
def bans(record: str) -> tuple[Ban, ...]:
    """What a record rules out: known dangers of its conditions and medicines, then reactions on record."""
    found = [ban for cue, also, ban in _AVOID if cue.search(record) and (also is None or also.search(record))]
    own = {named.name for named in own_medicines(record)}
    for sentence in sentences(record):
        if not _REACTION.search(sentence) or _HARMLESS.search(sentence):
            continue
        for named in pharmacy().named_in(sentence):
            if named.name not in own:
                reaction = sentence.rstrip(". ")
                found.append(Ban(pharmacy().reacted_to(named), f'the record says: "{reaction}"'))
    return tuple(found)


@lru_cache(maxsize=512)
def own_medicines(record: str) -> tuple[Named, ...]:
    """Medicines that the patient takes now, by the record."""
    found: dict[str, Named] = {}
    for sentence in sentences(record):
        for clause in _CLAUSE.split(sentence):
            if _REACTION.search(clause) or _DENIED.search(clause):
                continue
            taken = bool(_TAKES.search(clause))
            for named in pharmacy().named_in(clause):
                if taken or _dosed(clause, named.said):
                    found.setdefault(named.name, named)
    return tuple(found.values())


def _dosed(clause: str, said: str) -> bool:
    """Whether an amount stands beside a medicine: "phenelzine 15 mg", "1 unit of insulin aspart"."""
    name = re.escape(said)
    return bool(re.search(rf"{name}(?:\s[\w-]+){{0,2}}\s\d|\bunits? of {name}", clause))
