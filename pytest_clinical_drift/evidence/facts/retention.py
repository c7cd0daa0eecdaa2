"""Does a summary still state a fact? One status per fact, with the words that show it.

assess_retention("On Zoloft 50 mg o.d.", ["sertraline 50 mg once daily"])[0].status    'retained'
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_clinical_drift.cases.model import CriticalEntity
from pytest_clinical_drift.evidence.facts import allergies, measured, medications, stated
from pytest_clinical_drift.evidence.facts.essential import hold_to_essential
from pytest_clinical_drift.evidence.facts.fact import (
    ABSENT,
    ALLERGY,
    MEASURED,
    MEDICATION,
    RETAINED,
    STATED,
    Fact,
    Outcome,
    Said,
    Statement,
    decide,
    words_of,
)
from pytest_clinical_drift.evidence.facts.other_people import unsure_of_person
from pytest_clinical_drift.evidence.facts.slots import parse_fact
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.mentions.cues import HYPOTHETICAL
from pytest_clinical_drift.evidence.quantities.amounts import amounts
from pytest_clinical_drift.evidence.quantities.dates import dates
from pytest_clinical_drift.evidence.reading.text import Document, read, tokenise
from pytest_clinical_drift.evidence.terms.language import ENGLISH_ONLY, NOT_ENGLISH, rules_read
from pytest_clinical_drift.evidence.terms.lexicon import lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, Concept
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems

_SHORTEST = 4
"""Letters of a word that can be an echo of a name."""


def is_unnamed(fact: Fact, document: Document) -> bool:
    """Whether nothing in a text can be this fact: then it was lost, and not put in other words.

    Only for facts whose core has a name in the vocabulary. A circumstance can always be put otherwise, a denial by
    saying nothing, and a tablet of several medicines by any name for it.
    """
    if fact.core.concept is None or fact.core.denied or fact.core.other or fact.worded or _is_mixture(fact):
        return False
    return _echoes(fact).isdisjoint(loose_stems(document)) and not _shares_figure(fact, document)


def _is_mixture(fact: Fact) -> bool:
    medicines = [s for s in (fact.core, *fact.details) if s.concept is not None and s.concept.kind == DRUG]
    return len(medicines) > 1 or any(s.concept is not None and s.concept.contains for s in medicines)


@lru_cache(maxsize=4096)
def _echoes(fact: Fact) -> frozenset[str]:
    """Stems of every telling word in the names of what the fact speaks of, and of all that it is a kind of."""
    echoes: set[str] = set()
    for slot in (fact.core, *fact.details):
        echoes.update(_telling(slot.text))
        if slot.concept is not None:
            above = (*slot.concept.ancestors, *slot.concept.implies, *slot.concept.contains)
            known = lexicon().concepts
            for concept in (slot.concept, *(known[i] for i in above if i in known)):
                echoes.update(_names(concept))
    return frozenset(echoes)


@lru_cache(maxsize=4096)
def _names(concept: Concept) -> frozenset[str]:
    listed = [concept.name]
    for key in ("synonyms", "lay", "brands", "abbreviations"):
        listed += map(str, concept.data.get(key, ()))
    return frozenset(stem for name in listed for stem in _telling(name))


def _telling(name: str) -> frozenset[str]:
    return frozenset(map(loose_stem, (w for w in tokenise(name) if len(w) >= _SHORTEST and w.isalpha()))) - _general()


@lru_cache(maxsize=1)
def _general() -> frozenset[str]:
    return frozenset(loose_stem(word) for word in words_of("filler") | words_of("general"))


def _shares_figure(fact: Fact, document: Document, besides: Sequence[tuple[int, int]] = ()) -> bool:
    """A date or a dose of the fact, outside of some places: whatever stands beside it may be the fact."""
    if not besides and any(wanted.agrees(date) for wanted in fact.dates for date in dates(document)):
        return True
    wanted = {(a.value, a.dimension) for a in amounts(fact.document) if a.unit is not None or a.ratio}
    others = [a for a in amounts(document) if not any(first <= a.first <= last for first, last in besides)]
    return any((a.value, a.dimension) in wanted for a in others)


_FRAMES: dict[str, Callable[[Fact, Document], list[Statement]]] = {
    MEDICATION: medications.statements,
    MEASURED: measured.statements,
    ALLERGY: allergies.statements,
    STATED: stated.statements,
}


@dataclass(frozen=True, slots=True)
class Span:
    quote: str
    start: int
    """Offset of its first character in the raw summary."""
    end: int


@dataclass(frozen=True, slots=True)
class Retention:
    entity: str
    """The fact as it was given."""
    status: str
    """retained, partial, contradicted or absent."""
    evidence: tuple[Span, ...]
    """The words that decided; empty when nothing in the summary speaks of the fact."""
    reason: str
    """Why it is not plainly retained; empty when it is."""
    certain: bool = True
    """False where the rules found it unclear; the status is then the likelier one."""
    rule: str = ""
    """The rule that decided."""


def assess_retention(summary: str, entities: Sequence[str | CriticalEntity]) -> list[Retention]:
    """The status of each fact in a summary; nothing is certain in one that is not in English."""
    document = read(summary)
    assessed = assess_document(document, entities)
    document.cache.clear()
    if not rules_read(summary):
        return [replace(found, reason=ENGLISH_ONLY, certain=False, rule=NOT_ENGLISH) for found in assessed]
    return assessed


def assess_document(document: Document, entities: Sequence[str | CriticalEntity]) -> list[Retention]:
    """As `assess_retention`, on a summary that has been read already.

    A second value beside a plain statement leaves it plain where that value is another fact: "hydrocortisone 20 mg
    daily" and "hydrocortisone 100 mg as an emergency injection".
    """
    outcomes = [_assess(document, entity) for entity in entities]
    stated = [outcome for outcome in outcomes if outcome.status == RETAINED]
    plain = {span for outcome in stated for span in outcome.spans if span not in outcome.rival}
    retentions = []
    for entity, outcome in zip(entities, outcomes, strict=True):
        if outcome.rival and plain.issuperset(outcome.rival):
            outcome = Outcome(RETAINED, outcome.spans, "", "plain")
        if not isinstance(entity, str) and entity.essential:
            outcome = hold_to_essential(entity.text, entity.essential, document, outcome)
        text = entity if isinstance(entity, str) else entity.text
        outcome = unsure_of_person(text, document, outcome)
        places = [(document.starts[first], document.ends[last]) for first, last in sorted(set(outcome.spans))]
        evidence = tuple(Span(document.raw[start:end], start, end) for start, end in places)
        retentions.append(Retention(text, outcome.status, evidence, outcome.reason, outcome.certain, outcome.rule))
    return retentions


def _assess(document: Document, entity: str | CriticalEntity) -> Outcome:
    """The outcome of a fact by its text, or by one of its aliases where that says more."""
    wordings, kind = ([entity], None) if isinstance(entity, str) else ([entity.text, *entity.aliases], entity.kind)
    outcome = Outcome(ABSENT)
    for wording in wordings:
        if outcome.status != RETAINED:
            other = _outcome(parse_fact(wording, kind), document)
            if outcome.status == ABSENT or other.status == RETAINED:
                outcome = other
    return outcome


def _outcome(fact: Fact, document: Document) -> Outcome:
    statements = _FRAMES[fact.frame](fact, document)
    for number, statement in enumerate(statements):
        cues = [context_at(document, *span).cues for span in statement.spans]
        # "Does she have a penicillin allergy?" tells nobody that she has one
        if statement.said in (Said.PLAIN, Said.PART) and all((HYPOTHETICAL, "?") in found for found in cues):
            statements[number] = replace(statement, said=Said.DOUBT, reason="only asked about", rule="not-asserted")
    outcome = decide(statements, unnamed=not statements and is_unnamed(fact, document))
    if outcome.rule == "other-figure" and outcome.certain and _shares_figure(fact, document, besides=outcome.spans):
        return replace(outcome, certain=False)  # "missed lamotrigine (150 mg) for six days. Restart: 25 mg once daily"
    return outcome
