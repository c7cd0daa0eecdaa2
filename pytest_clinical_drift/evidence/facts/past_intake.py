"""Medicines taken at another time: "took X in her twenties", "X (2019-2021)", "stopped and later restarted"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.phrases import Cue
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_LATELY = word_set("intake", "lately")
_LIGHT = word_set("intake", "skipped")
_REACH = 12


def was_taken_then(document: Document, mention: Term) -> bool:
    """Whether the text places the taking of a medicine in a stretch of time that is over."""
    return _took(document, mention) or _between_years(document, mention)


def _took(document: Document, mention: Term) -> bool:
    """ "took X in her twenties"; not "took X this morning"."""
    first, stop = document.clause_span(mention.first)
    before = mention.first - 1
    while before > first and (document.words[before] in _LIGHT or document.words[before][:1].isdigit()):
        before -= 1
    if before < first or document.words[before] not in ("took", "used"):
        return False
    if document.words[before + 1 : before + 2] == ["to"]:
        return True  # "used to take" is a cue of its own; "used to X" is over as well
    around = document.words[max(first, before - 6) : min(stop, mention.last + _REACH)]
    return document.words[before] == "took" and _LATELY.isdisjoint(around)


def _between_years(document: Document, mention: Term) -> bool:
    """ "X 50 mg (2019-2021)", "X between 2018 and 2020"."""
    stop = min(document.sentence_span(mention.first)[1], mention.last + _REACH)
    others = term_index(document).medicines_between(mention.last + 1, stop)
    if others:
        stop = others[0].first
    years = [i for i in range(mention.last + 1, stop) if _is_year(document.words[i])]
    if len(years) < 2 or years[1] - years[0] > 2:
        return False
    between = document.words[years[0] + 1 : years[1]]
    return between in (["to"], ["and"], ["until"]) or (not between and document.gaps[years[1]] in ("-", "–", "/"))


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in ("19", "20")


_AGAIN = word_set("intake", "again")


def begun_again(document: Document, cue: Cue, mention: Term) -> bool:
    """ "X was stopped in May and restarted in June": after the end it began anew."""
    stop = min(document.sentence_span(cue.last)[1], cue.last + _REACH)
    for place in range(cue.last + 1, stop):
        if document.words[place] in _AGAIN:
            following = term_index(document).medicines_between(cue.last + 1, place + 4)
            unreal = not _NOT_YET.isdisjoint(document.words[max(0, place - 3) : place])
            return not unreal and all(t.concept is mention.concept for t in following)
    return False


_NOT_YET = frozenset(("not", "never", "to", "be", "could", "might", "if", "would"))
_CHANGING = word_set("intake", "changing")


def is_to_be_changed(document: Document, mention: Term) -> bool:
    """ "asked if she could stop X", "whether to increase X": what may change is there."""
    first = document.clause_span(mention.first)[0]
    before = mention.first - 1
    while before > first and document.words[before] in _LIGHT:
        before -= 1
    if before < first:
        return False
    off = document.words[before] == "off" and document.words[before - 1] in ("come", "coming", "get", "wean")
    return off or document.words[before] in _CHANGING
