"""Where the parts of a fact stand in a text, and which of the places belong together."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.reading.dates import dates
from pytest_clinical_drift.evidence.reading.quantities import Amount, amounts, same
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import QUALIFIER, WORD, word_set
from pytest_clinical_drift.evidence.text import CELL, Document


@dataclass(frozen=True, slots=True)
class Place:
    """One part of the fact at one token."""

    part: int
    token: int
    vague: bool
    last: int = -1
    """Last token of the wording, where it has several."""


def find_places(fact: Fact, document: Document) -> list[Place]:
    """Every place of every part: words, then qualifiers, numbers and dates."""
    found: list[Place] = []
    for number, part in enumerate(fact.words):
        exact = dict(part.spans(document))
        found += [Place(number, token, False, last) for token, last in exact.items()]
        found += [Place(number, token, True) for token in part.vague_places(document) if token not in exact]
    offset = len(fact.words)
    for number, qualifier in enumerate(fact.qualifiers):
        for term in term_index(document).by_kind.get(QUALIFIER, ()):
            if term.concept is qualifier:
                found.append(Place(offset + number, term.first, False))
    offset += len(fact.qualifiers)
    for number, wanted in enumerate(fact.numbers):
        for amount in amounts(document):
            alike = not amount.dimension or amount.dimension == wanted.dimension
            equal = (
                same(amount.base, wanted.base)
                if amount.dimension == wanted.dimension
                else same(amount.value, wanted.value)
            )
            if equal and (alike or document.words[amount.last] in ("m", "f")) and not _gone_from(document, amount):
                found.append(Place(offset + number, amount.first, False))
    offset += len(fact.numbers)
    for number, date in enumerate(fact.dates):
        found += [Place(offset + number, d.first, False) for d in dates(document) if date.agrees(d)]
    return found


_CHANGING = word_set("places", "changing")


def _gone_from(document: Document, amount: Amount) -> bool:
    """ "cut down from six pints to two": the amount is the earlier one."""
    start, stop = document.sentence_span(amount.first)
    before = document.words[max(start, amount.first - 4) : amount.first]
    if "from" not in before[-3:] or "to" not in document.words[amount.last + 1 : min(stop, amount.last + 7)]:
        return False
    return not _CHANGING.isdisjoint(before)


def share_out(fact: Fact, document: Document, own: list[Place], full: dict[int, int]) -> None:
    """One word of the text says one part of the fact: "restaurant" is not the chef and the restaurant."""
    taken: dict[int, int] = {}
    for part, token in list(full.items()):
        if token not in taken:
            taken[token] = part
            continue
        pair = (part, taken[token])
        wide = any(p.last > token for p in own if p.token == token and p.part in pair)
        if wide or _says_both(fact, document, token, pair):
            continue
        for mover in (part, taken[token]):
            free = [p.token for p in own if p.part == mover and not p.vague and p.token not in taken]
            if free:
                taken[token] = part if mover != part else taken[token]
                full[mover] = free[0]
                taken[free[0]] = mover
                break
        else:
            del full[part]


def _says_both(fact: Fact, document: Document, token: int, pair: tuple[int, int]) -> bool:
    """ "housemates" says that someone lives with them."""
    if max(pair) >= len(fact.words):
        return False
    ids = [fact.words[part].ids for part in pair]
    terms = term_index(document).between(WORD, token, token + 1)
    return any(
        (t.concept.ancestors & ids[0] or t.concept.ancestors & ids[1]) and t.concept.id in ids[0] | ids[1]
        for t in terms
    )


_FAR, _FAR_PERSON = 14, 6  # tokens between two parts beyond which they do not belong together


def drop_distant(fact: Fact, document: Document, full: dict[int, int], start: int) -> None:
    """Leave out parts that stand too far from the rest of the fact to be said together with it."""
    words = {part: token for part, token in full.items() if part < len(fact.words)}
    people = {part for part in words if fact.words[part].ids & PEOPLE}
    reach = _FAR_PERSON if people and len(fact.words) == 2 and not is_home(fact) else _FAR
    in_row = document.segment_kinds[document.segments[start]] == CELL
    if len(words) < 2 or in_row:
        return
    distant = [
        part
        for part, token in words.items()
        if all(abs(token - other) > reach for number, other in words.items() if number != part)
    ]
    if len(distant) == len(words):
        distant = [part for part in distant if part in people] or distant[1:]
    for part in distant[: len(full) - 1]:
        del full[part]


def is_home(fact: Fact) -> bool:
    """Whether the fact is about where or with whom the patient lives."""
    return any("word:live" in part.ids for part in fact.words)
