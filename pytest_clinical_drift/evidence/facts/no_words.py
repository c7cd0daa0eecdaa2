"""Negative facts in free wording: the content words of what is denied, in a denying or an affirming statement."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.absences import NEUTRAL
from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE
from pytest_clinical_drift.evidence.facts.endings import is_over
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, RETAINED, Outcome
from pytest_clinical_drift.evidence.facts.relatives import people, same_people
from pytest_clinical_drift.evidence.reading.wording import WordPart
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, DRUG_CLASS, WORD, word_set
from pytest_clinical_drift.evidence.text import HEADING, LABEL, Document, tokenise

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


def denied_act(fact: Fact) -> bool:
    """ "never injected drugs": what is denied is done with the drugs, not that there are any."""
    acts = [part.text.lower() for part in fact.words if part.text.lower() not in _OBJECTS]
    return bool(acts) and acts[0] in _ACTS


def denied_head(fact: Fact) -> Fact | None:
    """ "no breast cancer recurrence": the fact that the last word alone denies; None where a name is denied itself."""
    words = fact.document.words
    if not (fact.conditions or fact.medicines) or not fact.words or fact.words[-1].text.lower() != words[-1]:
        return None
    index = term_index(fact.document)
    named = {t.last for kind in (CONDITION, DRUG, DRUG_CLASS) for t in index.by_kind.get(kind, ()) if not t.weak}
    adjacent = len(words) - 2 in named and len(words) - 1 not in named
    return replace(fact, words=fact.words[-1:], conditions=(), medicines=()) if adjacent else None


def no_words(fact: Fact, document: Document) -> Outcome:
    """The content words in a negated or a positive statement; a denial counts for more than a mention."""
    parts = fact.words
    if denied_act(fact):
        parts = tuple(part for part in parts if part.text.lower() not in _OBJECTS)
    if not parts:
        return NOTHING
    opposite = _opposite(fact, document)
    if opposite.status != ABSENT:
        return opposite
    places = [part.places(document) for part in parts]
    sentences = [frozenset(document.sentences[p] for p in found) for found in places[1:]]
    against: Outcome = NOTHING
    for number, token in enumerate(places[0]):
        sentence = document.sentences[token]
        following = places[0][number + 1 : number + 2]
        if _is_label(document, token) and following and document.sentences[following[0]] == sentence:
            continue  # "Driving: not driving"
        if not all(
            sentence in other
            or (part.ids & PEOPLE and (_meant_by_pronoun(document, token) or _like_person(document, part, token)))
            for part, other in zip(parts[1:], sentences, strict=True)
        ):
            continue
        context = reading(document, token, token)
        if context.other_person or context.hypothetical or context.open or _other_sense(document, token):
            continue
        denied = context.negated or none_after(document, token) or _must_not_be(document, token)
        if denied or _lacking(document, fact, token):
            return Outcome(RETAINED, ((token, token),))
        if not is_over(document, token, token):
            against = Outcome(CONTRADICTED, ((token, token),), "stated as present")
        elif not denies_the_past(fact):
            return Outcome(RETAINED, ((token, token),))
        else:
            against = Outcome(CONTRADICTED, ((token, token),), "stated as past")
    return against


_MODALS = frozenset(("must", "should", "may", "can", "will", "shall", "to"))


def _must_not_be(document: Document, token: int) -> bool:
    """ "letters must not be sent to her home"."""
    stop = document.clause_span(token)[1]
    after = document.words[token + 1 : min(stop, token + 8)]
    return any(
        one in _MODALS and after[i + 1 : i + 3] == ["not", "be"] and _MODALS.isdisjoint(after[:i])
        for i, one in enumerate(after)
    )


def denies_the_past(fact: Fact) -> bool:
    """ "never smoked", "no history of …": having done it before speaks against it as well."""
    return not _NEVER.isdisjoint(tokenise(fact.text)[:3])


_NEVER = frozenset(("never", "history", "previous", "past", "prior"))
_ACTS = word_set("negative", "acts")
_OBJECTS = word_set("negative", "objects")
_PRONOUNS = frozenset(("him", "her", "them", "it"))


def _meant_by_pronoun(document: Document, token: int) -> bool:
    """ "never thought of hurting him": a person that the text speaks of, by a pronoun."""
    stop = min(document.sentence_span(token)[1], token + 7)
    return not _PRONOUNS.isdisjoint(document.words[token + 1 : stop])


def _like_person(document: Document, part: WordPart, token: int) -> bool:
    """ "harming her son" for "harming the baby"."""
    wanted = people(part.text.lower().split())
    start, stop = document.sentence_span(token)
    named = people(document.words[start:stop])
    return bool(wanted) and any(same_people(wanted, frozenset((one,))) for one in named)


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
            place = ((term.first, term.last),)
            ended = term.concept.name in _OUTLIVED or not _ENDED.isdisjoint(document.words[term.first : term.last + 1])
            if ended and denies_the_past(fact):
                return Outcome(CONTRADICTED, place, "stated as past")  # "ex-smoker" against "never smoked"
            return Outcome(RETAINED, place)
    return NOTHING


_ENDED = word_set("negative", "ended")
# Clusters that say that something was once: the divorced were married.
_OUTLIVED = word_set("negative", "outlived")


def _other_sense(document: Document, token: int) -> bool:
    """ "driving his symptoms", "psychiatric medication": the word goes with something else."""
    following = document.words[token + 1 : token + 2]
    if document.words[token] == "psychiatric" and following and following[0].startswith(("medic", "drug", "treat")):
        return True
    return document.words[token] in ("driving", "drives", "drive") and document.words[token + 1 : token + 2] in (
        ["his"], ["her"], ["their"], ["this"], ["these"], ["force"], ["factor"], ["up"],
    )  # fmt: skip
