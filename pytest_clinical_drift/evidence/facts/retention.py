"""Does a summary still state a fact? One status per fact, with the words that show it.

assess_retention("She takes Zoloft 50 mg o.d.", ["sertraline 50 mg once daily"])[0].status    'retained'
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, product

from pytest_clinical_drift.cases.model import CriticalEntity
from pytest_clinical_drift.evidence.facts import allergies, measured, medications, stated
from pytest_clinical_drift.evidence.facts.fact import ALLERGY, MEASURED, MEDICATION, STATED, Fact, parse_fact, words_of
from pytest_clinical_drift.evidence.facts.outcome import (
    ABSENT,
    RETAINED,
    Outcome,
    decide,
    hold_to_essential,
    unsure_of_person,
)
from pytest_clinical_drift.evidence.facts.statements import Said, Span, Statement
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.mentions.cues import HYPOTHETICAL
from pytest_clinical_drift.evidence.quantities.amounts import amounts
from pytest_clinical_drift.evidence.quantities.dates import dates
from pytest_clinical_drift.evidence.reading.text import Document, read, tokenise
from pytest_clinical_drift.evidence.terms.language import ENGLISH_ONLY, NOT_ENGLISH, rules_read
from pytest_clinical_drift.evidence.terms.lexicon import ids_above, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, Concept
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems

_FRAMES: dict[str, Callable[[Fact, Document], list[Statement]]] = {
    MEDICATION: medications.statements,
    MEASURED: measured.statements,
    ALLERGY: allergies.statements,
    STATED: stated.statements,
}
_SHORTEST = 4
"""Letters of a word that can be an echo of a name."""
_NAMES = ("synonyms", "lay", "brands", "abbreviations")


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a summary or reply, with their place in the raw text."""

    text: str
    start: int
    end: int

    @property
    def quote(self) -> str:
        """The text, by the name that callers of `assess_retention` know."""
        return self.text


@dataclass(frozen=True, slots=True)
class Retention:
    entity: str
    """The fact as it was given."""
    status: str
    """retained, partial, contradicted or absent."""
    evidence: tuple[Quote, ...]
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
    plain = set().union(*(set(outcome.spans).difference(outcome.rival) for outcome in stated))
    retentions = []
    for entity, outcome in zip(entities, outcomes, strict=True):
        if outcome.rival and plain.issuperset(outcome.rival):
            outcome = Outcome(RETAINED, outcome.spans, "", "plain")
        if not isinstance(entity, str) and entity.essential:
            outcome = hold_to_essential(entity.text, entity.essential, document, outcome)
        text = entity if isinstance(entity, str) else entity.text
        outcome = unsure_of_person(text, document, outcome)
        places = [(document.starts[first], document.ends[last]) for first, last in sorted(set(outcome.spans))]
        evidence = tuple(Quote(document.raw[start:end], start, end) for start, end in places)
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
            statements[number] = replace(statement, said=Said.DOUBT, reason="only asked about")
    outcome = decide(statements, unnamed=not statements and _is_unnamed(fact, document))
    if outcome.rule == "other-figure" and outcome.certain and _shares_figure(fact, document, besides=outcome.spans):
        return replace(outcome, certain=False)  # "missed lamotrigine (150 mg) for six days. Restart: 25 mg once daily"
    return outcome


def _is_unnamed(fact: Fact, document: Document) -> bool:
    """Whether nothing in a text can be this fact: then it was lost, and not put in other words.

    Only for facts whose core has a name in the vocabulary. A circumstance can always be put otherwise, a denial by
    saying nothing, and a tablet of several medicines by any name for it.
    """
    concepts = [slot.concept for slot in (fact.core, *fact.details) if slot.concept is not None]
    mixture = sum(concept.kind == DRUG for concept in concepts) > 1 or any(concept.contains for concept in concepts)
    if fact.core.concept is None or fact.core.denied or fact.core.other or fact.worded or mixture:
        return False
    dated = any(wanted.agrees(date) for wanted, date in product(fact.dates, dates(document)))
    return _echoes(fact).isdisjoint(loose_stems(document)) and not (dated or _shares_figure(fact, document))


@lru_cache(maxsize=4096)
def _echoes(fact: Fact) -> frozenset[str]:
    """Stems of every telling word in the names of what the fact speaks of, and of all that it is a kind of."""
    slots = (fact.core, *fact.details)
    known = lexicon().concepts
    names = {slot.text for slot in slots}
    for concept in (slot.concept for slot in slots if slot.concept is not None):
        for one in (concept, *(known[above] for above in ids_above(concept) if above in known)):
            names.update(_names_of(one))
    words = chain.from_iterable(map(tokenise, names))
    telling = {word for word in words if len(word) >= _SHORTEST and word.isalpha()}
    return frozenset(map(loose_stem, telling)).difference(map(loose_stem, words_of("filler") | words_of("general")))


def _names_of(concept: Concept) -> list[str]:
    """The preferred name of a concept and its others."""
    others = chain.from_iterable(concept.data.get(field, ()) for field in _NAMES)
    return [concept.name, *map(str, others)]


def _shares_figure(fact: Fact, document: Document, besides: Sequence[Span] = ()) -> bool:
    """A figure of the fact, outside of some places: whatever stands beside it may be the fact."""
    wanted = {(a.value, a.dimension) for a in amounts(fact.document) if a.unit is not None or a.ratio}
    others = [a for a in amounts(document) if not any(first <= a.first <= last for first, last in besides)]
    return any((a.value, a.dimension) in wanted for a in others)
