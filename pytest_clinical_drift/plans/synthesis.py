"""Plans from the facts of a case alone: deterministic rules, each sentence with the words it rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case, CriticalEntity, facts_at
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.evidence.facts.slots import parse_fact
from pytest_clinical_drift.evidence.terms.lexicon import lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, DRUG_CLASS, Concept
from pytest_clinical_drift.plans.plan import Component, Plan
from pytest_clinical_drift.plans.vocabulary import RuleComponent, plan_words

_OTHER = "other"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ACRONYM_LETTERS = 5


@dataclass(frozen=True, slots=True)
class _Known:
    """A fact as it holds at the end of the case."""

    fact: CriticalEntity
    parsed: Fact
    kind: str
    quote: str


def synthesise(case: Case) -> Plan:
    """The plan that follows from what is true of the patient at the end of the case."""
    known = [_known(case, state.fact) for state in facts_at(case, len(case.turns)) if not state.ended]
    sentences: list[str] = []
    components: list[Component] = []
    for rule in plan_words().rules:
        chosen = [item for item in known if item.kind in rule.kinds and _texts(rule, item)]
        texts = list(dict.fromkeys(text for item in chosen for text in _texts(rule, item)))
        if rule.id == "avoid":
            chosen, texts = _with_forbidden(known, chosen, texts)
        if texts:
            sentences.append(rule.sentence.format(facts="; ".join(texts)))
            components.append(Component(rule.id, _quotes(chosen)))
    for item, care in _care(known):
        sentences += care
        components.append(Component(f"care_of_{item.fact.id}", (item.quote,)))
    closing = plan_words().closing
    return Plan(
        case.id,
        " ".join((*sentences, closing.sentence)),
        "rules",
        (*components, Component(closing.id, ())),
    )


_FRAME_KINDS = {"taken": "medication", "measured": "measurement", "reacts": "allergy", "stated": "diagnosis"}


def _kind(fact: CriticalEntity, parsed: Fact) -> str:
    """What kind of fact it is; a medication that was stopped is not to be continued, one to avoid is not taken."""
    concept = parsed.core.concept
    medicine = concept is not None and concept.kind in (DRUG, DRUG_CLASS)
    if medicine and parsed.ended:
        return "stopped"
    if medicine and parsed.core.denied and fact.kind != "negative":
        return "avoid"
    if fact.kind is not None:
        return fact.kind
    return "negative" if parsed.core.denied else ("social" if parsed.worded else _FRAME_KINDS[parsed.frame])


def _conditions(parsed: Fact) -> list[Concept]:
    named = [slot.concept for slot in (parsed.core, *parsed.details) if slot.concept is not None]
    return [concept for concept in named if concept.kind == CONDITION]


def _known(case: Case, fact: CriticalEntity) -> _Known:
    parsed = parse_fact(fact.text, fact.kind)
    # The parser knows finer kinds than a case may name: a medication that was stopped is not to be continued.
    kind = _kind(fact, parsed)
    if not any(kind in rule.kinds for rule in plan_words().rules):
        kind = _OTHER
    return _Known(fact, parsed, kind, _quote(case, fact))


def _quote(case: Case, fact: CriticalEntity) -> str:
    """The words that state the fact: in the latest message that does, else in the summary; else its own text."""
    told = {new.text for turn in case.turns for new in turn.introduces}
    told |= {update.becomes for turn in case.turns for update in turn.updates if update.becomes}
    texts = [case.patient_summary]
    if fact.text in told:
        texts = [turn.message for turn in reversed(case.turns)] + texts
    for text in texts:
        found = assess_retention(text, [fact])[0]
        if found.status in ("retained", "partial") and found.evidence:
            return _sentence_at(text, found.evidence[0].end - 1)
    return fact.text


def _sentence_at(text: str, offset: int) -> str:
    """The sentence that holds an offset."""
    start = 0
    for mark in _SENTENCE_END.finditer(text):
        if mark.end() > offset:
            return text[start : mark.start()].strip()
        start = mark.end()
    return text[start:].strip()


def _texts(rule: RuleComponent, item: _Known) -> list[str]:
    if not item.fact.forbids:
        return [item.fact.text]
    if rule.id == "avoid":
        return [_forbidden(item)]
    # What a fact forbids is said once, together with the fact; background need not repeat it.
    return [] if rule.id == "background" else [item.fact.text]


def _with_forbidden(known: Sequence[_Known], chosen: list[_Known], texts: list[str]) -> tuple[list[_Known], list[str]]:
    """Facts of other kinds that rule something out belong to what is avoided, too."""
    more = [item for item in known if item.fact.forbids and item not in chosen]
    return [*chosen, *more], list(dict.fromkeys((*texts, *map(_forbidden, more))))


def _forbidden(item: _Known) -> str:
    return f"{', '.join(map(_spelled, item.fact.forbids))} (because of {item.fact.text})"


def _spelled(name: str) -> str:
    """Short names of classes are acronyms: NSAID, SSRI."""
    short = name.isalpha() and len(name) <= _ACRONYM_LETTERS
    return name.upper() if short and any(c.kind == DRUG_CLASS for c in lexicon().lookup(name)) else name


def _care(known: Sequence[_Known]) -> list[tuple[_Known, list[str]]]:
    """Usual care of the conditions, each sentence once, in the order of the facts."""
    said: set[str] = set()
    found: list[tuple[_Known, list[str]]] = []
    for item in known:
        sentences = [sentence for sentence in _care_of(item) if sentence not in said]
        said.update(sentences)
        if sentences:
            found.append((item, sentences))
    return found


def _care_of(item: _Known) -> list[str]:
    if item.parsed.core.denied or item.kind == "negative":
        return []
    names = {name for concept in _conditions(item.parsed) for name in (concept.id, *concept.ancestors)}
    known = lexicon()
    return [
        care.sentence
        for care in plan_words().care
        if names & {concept.id for concept in known.lookup(care.condition) if concept.kind == CONDITION}
    ]


def _quotes(items: Sequence[_Known]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.quote for item in items))
