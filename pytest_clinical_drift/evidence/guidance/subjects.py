"""Medicines as the subject of what happens to them: "his furosemide should go up"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import Hit, advice_words, listed


def medicine_subject(sentence: Sentence, hit: Hit) -> tuple[Mention, ...] | None:
    """ "his furosemide should go up": the medicine before the modal is what changes."""
    words = sentence.view.words
    modals = listed("subject_modals")
    at = hit.first
    modal = False
    while at > sentence.first and not sentence.opens(at):
        word = words[at - 1]
        if word in modals:
            modal = True
        elif word not in ("not", "to") and word not in advice_words().adverbs:
            break
        at -= 1
    if not modal:
        return None
    near = tuple(
        m
        for m in sentence.mentions
        if m.medicine and at - 2 <= m.end <= at and listed("persons").isdisjoint(words[m.end : at])
    )
    if near:
        # "people who take lamotrigine can breastfeed" is about the people
        taken = words[max(sentence.first, near[-1].first - 3) : near[-1].first]
        return None if "who" in taken or "taking" in taken else near[-1:]
    start = sentence.clause_first(at)
    inside = [m for m in sentence.mentions if start <= m.first < at]
    if not inside or not inside[0].medicine or listed("persons") & set(words[inside[0].end : at]):
        return None
    opening = words[start : inside[0].first]
    plain = all(word in listed("before_subject") or number(word) is not None for word in opening)
    return (inside[0],) if plain else None
