"""The words of orders.yaml: verbs by kind, judgements, and what stands before a verb that orders."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_clinical_drift.evidence.reading.text import tokenise
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary

TOWARD, AWAY, CARE, WAIT, OTHER = "toward", "away", "care", "wait", "other"
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Verbs and phrases that make an order, by their first word, longest first."""

    verbs: dict[str, list[tuple[Phrase, str]]]
    """With the kind of each."""
    judgements: dict[str, list[tuple[Phrase, str]]]
    licences: frozenset[Phrase]
    """What stands before a verb that orders or permits: "you should", "safe to"."""
    openers: frozenset[str]
    taking: frozenset[str]
    """Verbs about something taken."""
    had: frozenset[str]
    """The same with judgements and other orders that may be about something taken."""


@lru_cache(maxsize=1)
def words() -> Words:
    data: dict[str, Any] = load_vocabulary("orders")
    phrases = {name: [tokenise(str(text)) for text in data[name]] for name in data if isinstance(data[name], list)}
    judged = {TOWARD: phrases["praise"], AWAY: phrases["blame"]}
    return Words(
        _by_first_word({kind: phrases[kind] for kind in (TOWARD, AWAY, CARE, WAIT, OTHER)}),
        _by_first_word(judged),
        frozenset((*phrases["modals"], *phrases["advising"])),
        frozenset(map(str, data["openers"])),
        frozenset(map(" ".join, phrases["taking"])),
        frozenset(map(" ".join, (*phrases["taking"], *phrases["having"], *judged[TOWARD], *judged[AWAY]))),
    )


def _by_first_word(kinds: dict[str, list[Phrase]]) -> dict[str, list[tuple[Phrase, str]]]:
    by_word: dict[str, list[tuple[Phrase, str]]] = {}
    every = [(phrase, kind) for kind, phrases in kinds.items() for phrase in phrases]
    for phrase, kind in sorted(every, key=lambda item: -len(item[0])):
        by_word.setdefault(phrase[0], []).append((phrase, kind))
    return by_word
