"""Does a summary still state a fact? One status per fact, with the words that show it.

assess_retention("On Zoloft 50 mg o.d.", ["sertraline 50 mg once daily"])[0].status    'retained'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.abstention import assess_abstention, is_abstention
from pytest_clinical_drift.evidence.facts.allergy import assess_allergy
from pytest_clinical_drift.evidence.facts.avoidance import (
    assess_avoidance,
    assess_refusal,
    assess_stopped,
    is_refusal,
)
from pytest_clinical_drift.evidence.facts.care_roles import with_care_roles
from pytest_clinical_drift.evidence.facts.endings import stated_as_over
from pytest_clinical_drift.evidence.facts.fact import Fact, parse_fact
from pytest_clinical_drift.evidence.facts.figures import with_figures
from pytest_clinical_drift.evidence.facts.framed import with_frames
from pytest_clinical_drift.evidence.facts.indication import with_indication
from pytest_clinical_drift.evidence.facts.measurement import assess_measurement, states_goal
from pytest_clinical_drift.evidence.facts.medication import assess_medication
from pytest_clinical_drift.evidence.facts.mixed import assess_mixed
from pytest_clinical_drift.evidence.facts.negative import assess_negative
from pytest_clinical_drift.evidence.facts.occupation import by_occupation
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.facts.recency import with_recency
from pytest_clinical_drift.evidence.facts.rewording import plainly, rewordings
from pytest_clinical_drift.evidence.facts.statement import assess_statement
from pytest_clinical_drift.evidence.facts.thesaurus import denied_wordings, likely_wordings, said_together
from pytest_clinical_drift.evidence.facts.unbroken import assess_kept_up
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG_CLASS
from pytest_clinical_drift.evidence.text import Document, read

if TYPE_CHECKING:
    from pytest_clinical_drift.cases import CriticalEntity

__all__ = ["Retention", "Span", "assess_document", "assess_retention"]


@dataclass(frozen=True, slots=True)
class Span:
    """A quotation from the summary."""

    quote: str
    start: int
    """Offset of its first character in the raw summary."""
    end: int


@dataclass(frozen=True, slots=True)
class Retention:
    """What a summary says about one fact."""

    entity: str
    """The fact as it was given."""
    status: str
    """retained, partial, contradicted or absent."""
    evidence: tuple[Span, ...]
    """The words that decided; empty when nothing in the summary speaks of the fact."""
    reason: str
    """Why it is not plainly retained; empty when it is."""


def assess_retention(summary: str, entities: Sequence[str | CriticalEntity]) -> list[Retention]:
    """The status of every fact in a summary, in the order given."""
    document = read(summary)
    assessed = assess_document(document, entities)
    # What was found refers back to the document: emptied, all of it is freed at once and its memory used again.
    document.cache.clear()
    return assessed


def assess_document(document: Document, entities: Sequence[str | CriticalEntity]) -> list[Retention]:
    """As `assess_retention`, on a summary that has been read already."""
    return [_assess(document, entity) for entity in entities]


def _assess(document: Document, entity: str | CriticalEntity) -> Retention:
    text = entity if isinstance(entity, str) else entity.text
    kind = None if isinstance(entity, str) else entity.kind
    aliases: tuple[str, ...] = () if isinstance(entity, str) else tuple(entity.aliases)
    outcome = _in_any_wording(text, kind, document)
    for alias in aliases:
        if outcome.status == RETAINED:
            break
        other = _in_any_wording(alias, kind, document)
        if outcome.status == ABSENT or other.status == RETAINED:
            outcome = other
    evidence = tuple(_span(document, first, last) for first, last in sorted(set(outcome.evidence)))
    return Retention(text, outcome.status, evidence, "" if outcome.status == RETAINED else outcome.reason)


def _in_any_wording(text: str, kind: str | None, document: Document) -> Outcome:
    """The outcome of a fact as it is given or, where that says nothing, as it may also be put."""
    mixed = assess_mixed(text, lambda half: _in_any_wording(half, None, document))
    if mixed is not None:
        return mixed
    kept_up = assess_kept_up(text, document, lambda medicine: _in_any_wording(medicine, kind, document))
    if kept_up is not None:
        return kept_up
    undone = _undone_part(text, document)
    if undone is not None:
        return undone
    fact = parse_fact(plainly(text), kind)
    outcome = _outcome(fact, document)
    denying = fact.negative or not _DENIALS.isdisjoint(fact.document.words[:3])
    if fact.kind in _REWORDABLE and (outcome.status == ABSENT or (denying and outcome.status == CONTRADICTED)):
        for other in rewordings(text):
            found = _outcome(parse_fact(other, kind), document)
            if found.status == RETAINED:
                return found
            if outcome.status == ABSENT and found.status == CONTRADICTED:
                outcome = found
    # An illness is what the vocabulary names so: another word for it may well be another illness.
    named = all(c.group in _IN_EVERYDAY_WORDS for c in fact.conditions)
    if fact.kind in _REWORDABLE and outcome.status == ABSENT and named and not outcome.evidence:
        worded = _in_other_words(text, kind, document, denied=fact.negative)
        return worded or by_occupation(fact, document) or outcome
    return outcome


_HABITS = ("carries ", "wears ", "refuses ", "declines ")


def _undone_part(text: str, document: Document) -> Outcome | None:
    """ "peanut anaphylaxis, carries two EpiPens": the second part, which is a fact of its own, is contradicted."""
    _, comma, part = text.partition(", ")
    if not comma or not part.startswith(_HABITS):
        return None
    outcome = _outcome(parse_fact(part), document)
    return outcome if outcome.status == CONTRADICTED else None


def _in_other_words(text: str, kind: str | None, document: Document, *, denied: bool) -> Outcome | None:
    """The fact as it would be put in everyday words, where the document states it so."""
    for wording in denied_wordings(text, document) if denied else likely_wordings(text, document):
        found = _outcome(parse_fact(wording.text, kind), document)
        if found.status == RETAINED and said_together(wording, document, found.evidence):
            return found
    return None


_IN_EVERYDAY_WORDS = frozenset(("symptom", "social-risk", "care-status", "procedure"))
_REWORDABLE = ("social", "diagnosis", "negative", "family")


def _span(document: Document, first: int, last: int) -> Span:
    start, end = document.starts[first], document.ends[last]
    return Span(document.raw[start:end], start, end)


def _measurement(fact: Fact, document: Document) -> Outcome:
    measure, amount = fact.measures[0]
    return assess_measurement(document, measure, amount, goal=states_goal(fact.document, measure))


_ASSESSORS: dict[str, Callable[[Fact, Document], Outcome]] = {
    "medication": assess_medication,
    "stopped": assess_stopped,
    "allergy": assess_allergy,
    "avoid": assess_avoidance,
    "negative": assess_negative,
    "measurement": _measurement,
    "family": assess_statement,
    "diagnosis": assess_statement,
    "social": assess_statement,
}


def _outcome(fact: Fact, document: Document) -> Outcome:
    outcome = _ASSESSORS[fact.kind](fact, document)
    if fact.kind in ("social", "diagnosis", "family"):
        outcome = with_care_roles(fact, document, with_frames(fact, document, outcome))
    if is_refusal(fact):
        return assess_refusal(fact, document, outcome)
    if is_abstention(fact) and outcome.status != RETAINED:
        return assess_abstention(fact, document) or outcome
    if fact.kind in ("social", "diagnosis") and outcome.status in (RETAINED, PARTIAL):
        if is_abstention(fact):
            return outcome
        over = stated_as_over(fact, document, outcome)
        return over or with_recency(fact, document, with_figures(fact, document, outcome))
    if fact.kind == "medication":
        outcome = with_indication(fact, document, outcome)
    by_class = fact.kind == "medication" and fact.medicines[0].kind == DRUG_CLASS and bool(fact.words)
    if by_class and outcome.status != RETAINED and not (fact.regimen and fact.regimen.strengths):
        # "condoms only for contraception": the means counts, whatever is said of the class.
        worded = assess_statement(replace(fact, medicines=(), kind="social"), document)
        return worded if worded.status == RETAINED else outcome
    loose = fact.kind in ("social", "diagnosis", "family", "negative")
    if loose and outcome.status == ABSENT:
        return _word_for_word(fact, document) or outcome
    if outcome.status == CONTRADICTED and not _DENIALS.isdisjoint(fact.document.words):
        # "anti-Ro antibody negative": the denial in the text is the fact's own.
        return _word_for_word(fact, document) or outcome
    return outcome


_DENIALS = frozenset(("negative", "no", "not", "never", "without", "none"))


def _word_for_word(fact: Fact, document: Document) -> Outcome | None:
    """The fact exactly as it is written, stated of the patient: the first tier of the original matcher."""
    words = fact.document.words
    if not words or words[0] not in document.words:
        return None
    for first in term_index(document).places(words[0]):
        last = first + len(words) - 1
        if len(words) < 2 or document.words[first : last + 1] != words:
            continue
        context = reading(document, first, last)
        if context.affirmed:
            return Outcome(RETAINED, ((first, last),))
    return None
