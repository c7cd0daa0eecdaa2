"""The word lists of orders.yaml, as the reader of texts gives their words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_clinical_drift.evidence.reading.text import tokenise
from pytest_clinical_drift.evidence.terms.stems import loose_stem
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

TOWARD, AWAY, CARE, WAIT, OTHER = "toward", "away", "care", "wait", "other"


@dataclass(frozen=True, slots=True)
class Words:
    """Verbs and phrases that make an order."""

    verbs: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
    """First word -> (phrase, kind), longest first."""
    modals: frozenset[tuple[str, ...]]
    openers: frozenset[str]
    advising: frozenset[tuple[str, ...]]
    praise: tuple[tuple[str, ...], ...]
    blame: tuple[tuple[str, ...], ...]
    conditions: tuple[tuple[str, ...], ...]
    concessions: tuple[tuple[str, ...], ...]
    participles: dict[str, str]
    ingest: frozenset[str]
    """Verbs whose "it" is something taken."""


@lru_cache(maxsize=1)
def words() -> Words:
    """The lists, read once."""
    data: dict[str, Any] = load_data("orders")
    verbs: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for kind in (TOWARD, AWAY, CARE, WAIT, OTHER):
        for text in data[kind]:
            phrase = tokenise(str(text))
            for form in (phrase, (_gerund(phrase[0]), *phrase[1:])):
                verbs.setdefault(form[0], []).append((form, kind))
    phrases = {
        name: tuple(tokenise(str(t)) for t in data[name])
        for name in ("modals", "advising", "praise", "blame", "conditions", "concessions")
    }
    return Words(
        {word: tuple(sorted(forms, key=lambda f: -len(f[0]))) for word, forms in verbs.items()},
        frozenset(phrases["modals"]),
        frozenset(map(str, data["openers"])),
        frozenset(phrases["advising"]),
        tuple(sorted(phrases["praise"], key=len, reverse=True)),
        tuple(sorted(phrases["blame"], key=len, reverse=True)),
        phrases["conditions"],
        phrases["concessions"],
        {str(word): str(kind) for word, kind in data["participles"].items()},
        frozenset(map(str, data["ingest"])),
    )


_DOUBLED = frozenset(
    ["stop", "skip", "drop", "put", "cut", "run", "swim", "get", "sit", "let", "set", "plan", "wrap", "rub", "fit"]
)


def _gerund(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    if verb in _DOUBLED:
        return verb + verb[-1] + "ing"
    return verb + "ing"


@lru_cache(maxsize=1)
def generic_words() -> frozenset[str]:
    """Stems that name nothing by themselves."""
    return frozenset(loose_stem(str(word)) for word in load_data("orders")["generic"])
