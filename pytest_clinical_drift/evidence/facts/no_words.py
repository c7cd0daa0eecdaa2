"""Negative facts in free wording: the content words of what is denied, in a denying or an affirming statement."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.absences import NEUTRAL
from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE
from pytest_clinical_drift.evidence.facts.endings import is_over
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, NOTHING, RETAINED, Outcome
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import WORD, word_set
from pytest_clinical_drift.evidence.text import HEADING, LABEL, Document

NONE = frozenset({"none", "nil", "no", "never", "0"})


def none_after(document: Document, last: int) -> bool:
    """ "RRT | None", "Falls: nil"."""
    after = last + 1
    return (
        after < len(document)
        and document.lines[after] == document.lines[last]
        and document.words[after] in NONE
        and document.gaps[after] not in ("", ",")
    )


_DENYING = frozenset({"denies", "denied", "never", "no", "none", "nil", "not", "without"})
_ABOUT_PLANS = frozenset({"plan", "plans", "intent", "intention", "intentions", "longer"})


def denied_below(document: Document, token: int) -> bool:
    """ "Substance use: has never used drugs": a label whose content opens with a denial."""
    segment = document.segments[token]
    if document.segment_kinds[segment] != LABEL:
        return False
    first = token + 1
    while first < len(document) and document.segments[first] == segment:
        first += 1
    if first >= len(document) or document.lines[first] != document.lines[token]:
        return False
    opening = document.words[first : min(document.sentence_span(first)[1], first + 8)]
    return not _DENYING.isdisjoint(opening[:3]) and _ABOUT_PLANS.isdisjoint(opening)


def no_words(fact: Fact, document: Document) -> Outcome:
    """The content words in a negated or a positive statement."""
    parts = fact.words
    if not parts:
        return NOTHING
    opposite = _opposite(fact, document)
    if opposite.status == RETAINED:
        return opposite
    places = [part.places(document) for part in parts]
    if not places[0]:
        return NOTHING
    for token in places[0]:
        sentence = document.sentences[token]
        if _is_label(document, token) and any(p > token and document.sentences[p] == sentence for p in places[0]):
            continue  # "Driving: not driving"
        if not all(
            any(document.sentences[p] == sentence for p in other)
            or (part.ids & PEOPLE and _meant_by_pronoun(document, token, other))
            for part, other in zip(parts[1:], places[1:], strict=True)
        ):
            continue
        context = reading(document, token, token)
        if context.other_person or context.hypothetical or context.open or _other_sense(document, token):
            continue
        if context.negated or none_after(document, token) or _lacking(document, fact, token):
            return Outcome(RETAINED, ((token, token),))
        if is_over(document, token, token):
            return Outcome(RETAINED, ((token, token),))
        return Outcome(CONTRADICTED, ((token, token),), "stated as present")
    return NOTHING


_PRONOUNS = frozenset(("him", "her", "them", "it"))


def _meant_by_pronoun(document: Document, token: int, named: Sequence[int]) -> bool:
    """ "your baby … never thought of hurting him": a person named before, by a pronoun."""
    stop = min(document.sentence_span(token)[1], token + 7)
    return any(p < token for p in named) and not _PRONOUNS.isdisjoint(document.words[token + 1 : stop])


def _is_label(document: Document, token: int) -> bool:
    return document.segment_kinds[document.segments[token]] in (LABEL, HEADING)


_LACK = word_set("negative", "lack")


def _lacking(document: Document, fact: Fact, token: int) -> bool:
    """ "poor appetite" for "no appetite"."""
    neutral = all(part.ids and part.ids <= NEUTRAL for part in fact.words)
    return neutral and not _LACK.isdisjoint(document.words[max(0, token - 3) : token])


def _opposite(fact: Fact, document: Document) -> Outcome:
    """A cluster that excludes what the fact denies ("disease-free" / "no recurrence")."""
    index = term_index(document)
    wanted = {concept_id for part in fact.words for concept_id in part.ids}
    for term in index.by_kind.get(WORD, ()):
        if term.concept.excludes & wanted and reading(document, term.first, term.last).affirmed:
            return Outcome(RETAINED, ((term.first, term.last),))
    return NOTHING


def _other_sense(document: Document, token: int) -> bool:
    """ "driving his symptoms", "psychiatric medication": the word goes with something else."""
    following = document.words[token + 1 : token + 2]
    if document.words[token] == "psychiatric" and following and following[0].startswith(("medic", "drug", "treat")):
        return True
    return document.words[token] in ("driving", "drives", "drive") and document.words[token + 1 : token + 2] in (
        ["his"], ["her"], ["their"], ["this"], ["these"], ["force"], ["factor"], ["up"],
    )  # fmt: skip
