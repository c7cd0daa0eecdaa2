"""Whose a finding is: "her best friend has X", "X belongs to his brother", "her asthmatic brother"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, word_set
from pytest_clinical_drift.evidence.text import Document

_OTHERS = word_set("mentions", "others")
_HAVING = word_set("mentions", "having")
_PASSIVE = word_set("mentions", "passive")
_PATIENT = word_set("mentions", "patient")


def with_patient(document: Document, conjunction: int, start: int) -> bool:
    """ "She and her partner …", "Tom and his wife …": whether the patient stands before an "and"."""
    place = conjunction - 1
    if place < start or document.gaps[conjunction]:
        return False
    word = document.words[place]
    if word in _BOTH:
        return True
    name = document.spelled(place)
    following = document.words[conjunction + 1 : conjunction + 2]
    return name[:1].isupper() and name[1:].islower() and word not in _OTHERS and following in (["his"], ["her"])


_BOTH = frozenset(("she", "he", "you", "i", "they", "we", "patient", "client", "both"))


_ROLES = frozenset(
    ("new", "first", "time", "first-time", "single", "young", "working", "busy", "devoted", "teenage", "widowed")
)


def is_role(words: list[str], start: int, person: int) -> bool:
    """ "is a new mother", "as a single father": what the patient is, not someone else."""
    place = person - 1
    while place >= start and (words[place] in _ROLES or words[place].isdigit() or words[place] in ("year", "old")):
        place -= 1
    if place >= start and words[place] == "this" and place < person - 1:
        return True  # "this young mother presents with X"
    if place < start or words[place] not in ("a", "an"):
        return False
    return place - 1 >= start and words[place - 1] in ("is", "was", "as", "are", "'s")


def is_of_another(document: Document, first: int) -> bool:
    """ "Her best friend has X", "a friend with X takes Y", "her mother's X": someone else's, not the patient's."""
    words = document.words
    start = max(document.clause_span(first)[0], first - 14)
    if not _TITLED.isdisjoint(words[start:first]) and _is_of_titled(words, start, first):
        return True
    if _OTHERS.isdisjoint(words[start:first]):
        return False  # nobody else stands before it
    for position in range(first, start - 1, -1):
        word = words[position]
        if position < first and word in _OTHERS:
            if is_role(words, start, position):
                return False
            if document.gaps[position + 1].startswith("'s") and _VERBS.isdisjoint(words[position + 1 : first]):
                return True
            if words[position + 1] in _OPENS and _owned(words, start, position):
                return _PATIENT.isdisjoint(words[position + 1 : first])
        is_passive = word in _PASSIVE and position > start and words[position - 1] in _BEING
        if word in _HAVING or is_passive:
            if position < first and not _PATIENT.isdisjoint(words[position + 1 : first]):
                return False
            for place in range(max(start, position - 4), position):
                if words[place] in _OTHERS and _owned(words, start, place):
                    between = words[place + 1 : position]
                    return between == ["who"] or {"she", "he", "who"}.isdisjoint(between)
    return False


# People who are named by two words, neither of which names one alone: "best man", "support worker".
_TITLES = frozenset(tuple(phrase.split()) for phrase in word_set("owners", "titles"))
_TITLED = frozenset(second for _, second in _TITLES)
_ACTIONS = word_set("owners", "actions")


def _is_of_titled(words: list[str], start: int, first: int) -> bool:
    """ "the best man uses X", "his support worker has X": such a person right before a verb that leads to it."""
    for place in range(first - 1, start, -1):
        if words[place] in _PATIENT:
            return False
        if (words[place - 1], words[place]) in _TITLES:
            between = words[place + 1 : first + 1]
            return not _ACTIONS.isdisjoint(between) and words[place - 2 : place - 1] not in (["a"], ["as"])
    return False


_BEING = frozenset(["was", "is", "been", "were"])
_OWNING = _BEING | {"belongs", "belonged", "belong"}
_OPENS = frozenset(["with", "has", "had", "takes", "suffers"])
_VERBS = word_set("mentions", "verbs")
_OWNERS = word_set("mentions", "owners")


_PREPOSITIONS = word_set("mentions", "prepositions")


def _owned(words: list[str], start: int, place: int) -> bool:
    """ "her sister" as a subject; not "with her sister"."""
    for position in range(place - 1, max(start, place - 3) - 1, -1):
        if words[position] in _OWNERS:
            if (
                words[position - 1 : position] == ["and"]
                and words[position - 2 : position - 1]
                and position - 2 >= start
            ):
                return words[position - 2] not in _BOTH  # "she and her sister"
            return position == start or words[position - 1] not in _PREPOSITIONS
    return False


def belongs_to_another(document: Document, last: int) -> bool:
    """ "The allergy in the file belongs to his brother", "X 500 mg is her husband's"."""
    words = document.words
    stop = min(document.clause_span(last)[1], last + 12)
    if _OWNING.isdisjoint(words[last + 1 : stop]):
        return False
    for position in range(last + 1, stop - 2):
        if words[position] in ("belongs", "belonged", "belong"):
            return any(word in _OTHERS for word in words[position + 2 : position + 5])
        if words[position] in _BEING and words[position + 1] in _OWNERS and words[position + 2] in _OTHERS:
            following = position + 3
            raw = document.raw[document.ends[position + 2] : document.ends[position + 2] + 2]
            return raw in ("'s", "’s") and (following >= stop or bool(document.gaps[following].strip("'s’")))
    return False


def describes_another(document: Document, first: int, last: int) -> bool:
    """ "her asthmatic brother", "a diabetic friend"."""
    words = document.words
    if last + 1 >= len(words) or document.gaps[last + 1] or words[last + 1] not in _OTHERS:
        return False
    ill = term_index(document).between(CONDITION, first, first + 1)
    ill = [t for t in ill if t.last == last and t.concept.group != "social-risk"]
    return bool(ill) and first > 0 and words[first - 1] in _OWNERS


def after_aside(document: Document, first: int) -> bool:
    """ "The patient, whose mother also has X, takes Y": Y stands after the aside, with the patient."""
    start = max(document.sentence_span(first)[0], first - 30)
    words = document.words
    if "whose" not in words[start:first]:
        return False
    aside = start + words[start:first].index("whose")
    return any(document.gaps[i].startswith(",") and words[i] in _VERBS for i in range(aside + 2, first + 1))
