"""Statements that a medicine or food was not tolerated: no advice, yet later advice must not go against them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pytest_clinical_drift.evidence.guidance.objects import Mention, forbidden_by, stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.sentences import sentences_in
from pytest_clinical_drift.evidence.guidance.words import spelled_out
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_OTHERS = frozenset(
    [
        "brother",
        "sister",
        "mother",
        "father",
        "mum",
        "dad",
        "mom",
        "friend",
        "partner",
        "husband",
        "wife",
        "son",
        "daughter",
        "neighbour",
        "cousin",
    ]
)
_KINDS = ("drug", "class", "food", "treatment")


@lru_cache(maxsize=1)
def _wording() -> dict[str, tuple[tuple[str, ...], ...]]:
    data: dict[str, Any] = load_data("advice")["allergy"]
    return {name: tuple(spelled_out(phrase) for phrase in phrases) for name, phrases in data.items()}


@lru_cache(maxsize=512)
def cautions_of(text: str, about: frozenset[str] = frozenset()) -> tuple[Advice, ...]:
    """One directive to avoid for each medicine or food the text says was not tolerated.

    `about`: words of the text it is compared with; what a relative cannot have matters where that names them too.
    """
    found = []
    for sentence in sentences_in(text):
        if sentence.question or _OTHERS.intersection(sentence.view.words[sentence.first : sentence.end]) - about:
            continue
        for mention in sentence.mentions:
            if mention.kind in _KINDS and not sentence.limited(mention.first) and _not_tolerated(sentence, mention):
                found.append(_caution(sentence, mention))
    return tuple(found)


def _not_tolerated(sentence: Sentence, mention: Mention) -> bool:
    words = sentence.view.words
    wording = _wording()
    before = words[max(sentence.first, mention.first - 5) : mention.first]
    for phrase in wording["before"]:
        size = len(phrase)
        for at in range(len(before) - size + 1):
            if tuple(before[at : at + size]) == phrase and "not" not in before[:at] and "no" not in before[:at]:
                return True
    after = words[mention.end : min(sentence.end, mention.end + 2)]
    if any(tuple(after[: len(phrase)]) == phrase for phrase in wording["after"]):
        return not {"no", "not"} & set(before)
    rest = words[mention.end : min(sentence.end, mention.end + 14)]
    caused = any(
        tuple(rest[at : at + len(phrase)]) == phrase for phrase in wording["caused"] for at in range(min(3, len(rest)))
    )
    return caused and any(word in rest for phrase in wording["effects"] for word in phrase)


def _caution(sentence: Sentence, mention: Mention) -> Advice:
    view = sentence.view
    document = view.document
    first, last = view.origin[sentence.first], view.origin[sentence.end - 1]
    return Advice(
        action="avoid",
        polarity="do",
        strength="should",
        object=mention.id,
        object_text=document.quote(view.origin[mention.first], view.origin[mention.end - 1]),
        quote=document.quote(first, last),
        start=document.starts[first],
        end=document.ends[last],
        effect="against",
        objects=tuple(sorted(forbidden_by(mention.id))),
        lasting=True,
        sentence=sentence.number,
        topic=stems(view.words[sentence.first : sentence.end]),
        verb="allergy",
    )
