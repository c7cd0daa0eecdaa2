"""What a text says of taking something that it names: forbidden, allowed, refused, accepted, or taken."""

from __future__ import annotations

from enum import Enum
from itertools import pairwise

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.reading.phrases import Cue, cues_of
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import CELL, Document

_FILE = "permissions"
_REACH = 10  # tokens between a mention and what is said of taking it
_BACK = 4  # tokens before a phrase in which a denial turns it around
_ASKED = word_set("permission", "asked")
_DENIALS = word_set("permission", "denials")
_TURNS = word_set("permission", "turns")
_JOINS = word_set("permission", "joins")


class Stance(Enum):
    """What is said of taking it."""

    FORBIDDEN = "to be avoided"
    ALLOWED = "allowed"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    TAKEN = "taken"


_PLAIN = {
    "forbids": (Stance.FORBIDDEN, Stance.ALLOWED),
    "allows": (Stance.ALLOWED, Stance.FORBIDDEN),
    "refuses": (Stance.REFUSED, Stance.ACCEPTED),
    "accepts": (Stance.ACCEPTED, Stance.REFUSED),
    "taken": (Stance.TAKEN, None),
}


def stance(document: Document, first: int, last: int) -> Stance | None:
    """What the nearest words of the sentence (in a table, of the row) say of taking what stands at these tokens."""
    if _turned_down(document, first, last):
        return Stance.REFUSED
    start, stop = _span(document, first, last)
    found: list[tuple[int, int, Stance]] = []
    for label in (*_PLAIN, "acts"):
        for cue in cues_of(document, _FILE).between(label, start, stop):
            if (first <= cue.last and cue.first <= last) or not _is_about(document, cue, first, last):
                continue
            meant = _meant(document, cue, start)
            if meant is not None:
                distance = first - cue.last if cue.last < first else cue.first - last
                distance += _BACK if label == "acts" else 0  # "does not wish to take X": the wish decides
                if cue.first > last and not _TURNS.isdisjoint(document.words[last + 1 : cue.first]):
                    distance = 0  # "X was suggested, but he said no": the last word counts
                found.append((distance, cue.first - cue.last, meant))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _span(document: Document, first: int, last: int) -> tuple[int, int]:
    start, stop = document.sentence_span(first)
    if document.segment_kinds[document.segments[first]] == CELL:
        line = document.lines[first]
        while stop < len(document) and document.lines[stop] == line and stop < last + _REACH:
            stop += 1
    return max(start, first - _REACH - _BACK), min(stop, last + 1 + _REACH)


def _is_about(document: Document, cue: Cue, first: int, last: int) -> bool:
    """Nothing between the words and the mention that they could be about instead, and no turn."""
    low, high = (cue.last + 1, first) if cue.last < first else (last + 1, cue.first)
    after_all = cue.label in ("refuses", "accepts") and cue.first > last  # "X was offered, but he said no"
    if high - low > _REACH or not (after_all or _TURNS.isdisjoint(document.words[low:high])):
        return False
    if any(";" in gap for gap in document.gaps[low : high + 1]):
        return False
    if cue.label == "accepts" and cue.first > last and not document.words[cue.first].endswith("ed"):
        return False  # "does not want X and wants Y": a wish is for what follows it
    index = term_index(document)
    others = [t for t in index.medicines_between(low, high) if t.last < high]
    if others and not _listed(document, low, high, {i for t in others for i in range(t.first, t.last + 1)}):
        return False
    if cue.first > last and (cue.label in ("taken", "acts", "refuses") or document.words[cue.last].startswith("avoid")):
        following = index.next_medicine(cue.last)  # "takes warfarin, avoid ibuprofen"
        near = following is not None and following.first - cue.last <= 4
        return not (near and following is not None and document.sentences[following.first] == document.sentences[last])
    return True


def _listed(document: Document, low: int, high: int, known: set[int]) -> bool:
    """Only more members of one list: "avoid ibuprofen, naproxen and other NSAIDs"."""
    words = document.words
    return sum(i not in known and words[i] not in _JOINS for i in range(low, high)) <= 1


def _meant(document: Document, cue: Cue, start: int) -> Stance | None:
    before = document.words[max(start, cue.first - _BACK) : cue.first]
    for back in range(len(before) - 1, -1, -1):
        if document.gaps[cue.first - len(before) + back + 1][:1] in (",", ";", ":", "("):
            before = before[back + 1 :]
            break
    if is_asked_about(document, cue.first):
        return None
    denied = (sum(word in _DENIALS for word in before) + _no_reason(document, cue.first - len(before), start)) % 2 == 1
    if cue.label == "acts":
        if denied:
            return Stance.FORBIDDEN
        permits = cues_of(document, _FILE).between("permits", cue.first - len(before), cue.first)
        return Stance.ALLOWED if permits else None
    plain, turned = _PLAIN[cue.label]
    if plain is Stance.TAKEN and not denied:
        past = reading(document, cue.first, cue.last)
        return None if past.hypothetical or past.other_person or past.historical else plain
    return turned if denied else plain


def _no_reason(document: Document, stop: int, start: int) -> bool:
    """ "no reason why he should not take X": what denies the denial."""
    before = document.words[max(start, stop - 5) : stop]
    return any(one in ("no", "nothing") and two in ("reason", "against", "objection") for one, two in pairwise(before))


def _turned_down(document: Document, first: int, last: int) -> bool:
    """ "turned the offer of X down"."""
    before = document.words[max(0, first - 5) : first]
    return "down" in document.words[last + 1 : last + 3] and not {"turned", "turns", "turning"}.isdisjoint(before)


def is_asked_about(document: Document, token: int) -> bool:
    """ "asked whether he may take X": nothing is said of it yet."""
    start = max(document.clause_span(token)[0], token - 9)
    # "she asked about others, and we noted that X …": what follows the comma is another statement.
    start = max((place for place in range(start, token + 1) if "," in document.gaps[place]), default=start)
    before = document.words[start:token]
    asked = [place for place, word in enumerate(before) if word in _ASKED]
    return bool(asked) and before[asked[-1] + 1 : asked[-1] + 2] != ["not"]  # "was asked not to take X" is an order
