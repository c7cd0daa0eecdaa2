"""Where rules cannot be sure whom a summary speaks of: "Percy Wainwright's blood results: eGFR 57"."""

import re
from dataclasses import replace

from pytest_clinical_drift.evidence.facts.fact import PARTIAL, RETAINED, Outcome, words_of
from pytest_clinical_drift.evidence.mentions.cues import cue_table
from pytest_clinical_drift.evidence.reading.text import HEADING, LABEL, Document, once, tokenise
from pytest_clinical_drift.evidence.terms.lexicon import lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.terms.words import fold

_OTHERS = word_set("mentions", "others")

_NAMED = re.compile(
    r"^(?:[^\w\n]|[\d_])*+(?:patient(?: name)?[^\w\n]+)?(?i:mr|mrs|ms|miss|dr)?\.? *"
    r"(?P<name>[A-Z][a-z]+(?:[ -][A-Z][a-z]+)+)"
    r"(?:['’]s\b|,|[^\w\n]* (?:has|is|was|had|takes|took|lives|wants|asked|needs)\b)",
    re.MULTILINE,
)
"""A line that begins with a full name: the first is the patient's, and what follows is about whoever was named last."""


def unsure_of_person(fact: str, document: Document, outcome: Outcome) -> Outcome:
    """What rests on words that may be about somebody else, or only seem to be, is not certain."""
    if not outcome.certain or not outcome.spans:
        return outcome
    if outcome.status in (RETAINED, PARTIAL):
        subjects = [_named_subject(document, first) for first, _ in outcome.spans]
        if not all(subjects):
            return outcome
        told_of = {*_patient(document), *tokenise(fact)}
        if _OTHERS.isdisjoint(told_of) and told_of.isdisjoint(subjects):
            return replace(outcome, reason=f"perhaps of {subjects[0].capitalize()}", rule="named-person", certain=False)
        return outcome
    for place in (document.starts[first] for first, _ in outcome.spans):
        names = [line["name"] for line in _NAMED.finditer(document.raw) if line.start() <= place]
        if names and names[-1] != names[0]:
            return replace(outcome, certain=False)
    if outcome.rule == "someone-else" and all(_begins_item(document, first) for first, _ in outcome.spans):
        return replace(outcome, certain=False)  # "sister died suddenly at nineteen, no asthma, vegan"
    return outcome


def _begins_item(document: Document, first: int) -> bool:
    """Whether a comma stands straight before the words, or before the "no" of "no asthma"."""
    return any("," in document.gaps[place] for place in (first, first - 1) if place > 0)


def _is_name(document: Document, place: int) -> bool:
    """Whether a token looks like the name of a person: a capital, and no word that the vocabulary knows."""
    word, spelled = document.words[place], document.spelled(place)
    known = lexicon().knows(fold(word)) or word in words_of("filler") or word in cue_table().no_objects
    title = document.segment_kinds[document.segments[place]] in (HEADING, LABEL)
    return len(word) > 2 and spelled[0].isupper() and spelled[1:].islower() and not (known or title)


def _named_subject(document: Document, place: int) -> str:
    """The name that begins the clause of a token, with a verb behind it: "Jarek stopped smoking"; else ""."""
    first = document.clause_span(place)[0]
    verb = " ".join(document.words[first + 1 : first + 2])
    table = cue_table()
    acts = verb in table.finite or verb in table.denying or verb.endswith("ed")
    told = acts and verb not in table.reporting and not document.gaps[first + 1]
    return document.words[first] if told and _is_name(document, first) else ""


@once
def _patient(document: Document) -> frozenset[str]:
    """The words of the first name in a text, in full or as the subject of a clause: it is the patient's."""
    for place, start in enumerate(document.starts[:-1]):
        if document.raw[start].isupper() and _is_name(document, place):
            if not document.gaps[place + 1] and _is_name(document, place + 1):
                return frozenset(document.words[place : place + 2])
            if _named_subject(document, place) == document.words[place]:
                return frozenset((document.words[place],))
    return frozenset()
