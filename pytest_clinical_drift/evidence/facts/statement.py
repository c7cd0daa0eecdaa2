"""Diagnoses, findings, circumstances: every essential part of a fact, in any wording, around one place of the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.condition import DENIED, EXCLUDED, FULL, NONE, VAGUE, Finding, find_condition
from pytest_clinical_drift.evidence.facts.details import Surroundings
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import (
    ABSENT,
    CONTRADICTED,
    PARTIAL,
    RETAINED,
    Outcome,
)
from pytest_clinical_drift.evidence.facts.social import assess_words
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document


def assess_statement(fact: Fact, document: Document) -> Outcome:
    """Status of a fact that names conditions, or only circumstances."""
    if not fact.conditions:
        return assess_words(fact, document)
    if fact.words and fact.kind != "family" and all(c.id in fact.of_others for c in fact.conditions):
        return _with_other_person(fact, document)
    findings = [_find(fact, document, number) for number in range(len(fact.conditions))]
    core = findings[0]
    omission = any("word:missed" in part.ids for part in fact.words)
    if omission and core.state == DENIED:
        return Outcome(RETAINED, _places(core.clash))
    clash = next(
        (f for f in findings if f.state in (DENIED, EXCLUDED) and (f is core or core.state in (FULL, VAGUE))), None
    )
    if clash is not None:
        return Outcome(
            CONTRADICTED, _places(clash.clash), "denied" if clash.state == DENIED else "another one is stated"
        )
    if core.state not in (FULL, VAGUE):
        return _without_core(fact, document, findings)
    around = Surroundings(document, [term for f in findings if f.state in (FULL, VAGUE) for term in f.mentions])
    around.evidence += _places(core.mentions[:1])
    vague = core.state == VAGUE
    if vague and fact.inner_qualifiers:
        # "AF | paroxysmal": the general name with the qualifier apart from it.
        own = Surroundings(document, core.mentions)
        states = [own.qualifier(q) for q in fact.inner_qualifiers]
        around.evidence += own.evidence
        against = [state for state in states if state not in ("", "missing")]
        if against:
            return Outcome(CONTRADICTED, tuple(around.evidence), against[0])
        vague = "missing" in states
    for concept, finding in zip(fact.conditions[1:], findings[1:], strict=True):
        if concept.name == "pregnancy" and fact.conditions[0].group == "obstetric":
            continue  # "pre-eclampsia in a previous pregnancy": where else
        if finding.state == FULL:
            around.evidence += _places(finding.mentions[:1])
        else:
            around.missing.append(concept.name)
    conflict = around.check(fact)
    evidence = tuple(around.evidence)
    if conflict:
        return Outcome(CONTRADICTED, evidence, conflict)
    if fact.kind == "family" and _another_relative(fact, around):
        return Outcome(ABSENT, evidence, "of another relative")
    if around.nothing_specific(fact):
        return Outcome(ABSENT, evidence, "only in general terms")
    if vague:
        only = core.mentions[0].concept
        named = only is fact.conditions[0] or fact.conditions[0].id in only.ancestors
        return Outcome(PARTIAL, evidence, "only as likely or as past" if named else f"only {only.name}")
    if around.missing:
        return Outcome(PARTIAL, evidence, "missing: " + ", ".join(around.missing))
    return Outcome(RETAINED, evidence)


def _another_relative(fact: Fact, around: Surroundings) -> bool:
    """The fact names a relative ("mother") and the text another one."""
    index = term_index(around.document)
    relatives = [part for part in fact.words if "word:family" in part.broader and part.text in around.missing]
    general = any(around.near(t.first) for t in index.exact.get("word:family", ()))
    return bool(relatives) and not general


def _find(fact: Fact, document: Document, number: int) -> Finding:
    """The state of one condition of the fact; by its everyday words where the vocabulary's names do not occur."""
    concept = fact.conditions[number]
    other = fact.kind == "family" or concept.id in fact.of_others
    finding = find_condition(document, concept, other_person=other, past=fact.past, planned=lies_ahead(fact))
    clusters = fact.condition_words[number]
    if finding.state not in (NONE, FULL) or not clusters or other:
        return finding
    places = [part.places(document) for part in clusters]
    worded = []
    for token in places[0]:
        sentence = document.sentences[token]
        together = all(any(document.sentences[p] == sentence for p in others) for others in places[1:])
        if together and reading(document, token, token).affirmed:
            worded.append(Term(concept, token, token))
    return Finding(FULL, (*finding.mentions, *worded)) if worded else finding


_AHEAD = word_set("statement", "ahead")


def lies_ahead(fact: Fact) -> bool:
    """Whether the fact itself is a plan ("awaiting knee replacement") or has a date, which may be ahead."""
    return bool(fact.dates) or not _AHEAD.isdisjoint(fact.document.words)


def _with_other_person(fact: Fact, document: Document) -> Outcome:
    """ "main carer for his wife, who has dementia": the patient's part decides, the other's condition completes it."""
    outcome = assess_words(replace(fact, conditions=(), qualifiers=()), document)
    if outcome.status != RETAINED:
        return outcome
    for concept in fact.conditions:
        if find_condition(document, concept, other_person=True).state != FULL:
            return Outcome(PARTIAL, outcome.evidence, f"missing: {concept.name}")
    return outcome


def _places(terms: Iterable[Term]) -> tuple[tuple[int, int], ...]:
    return tuple((term.first, term.last) for term in terms)


def _without_core(fact: Fact, document: Document, findings: list[Finding]) -> Outcome:
    """The core is not stated: another condition of the fact makes it partial, else it is absent."""
    rest = [f for f in findings[1:] if f.state == FULL and f.mentions[0].concept.group not in ("obstetric",)]
    if rest and not fact.past:
        return Outcome(PARTIAL, _places(rest[0].mentions[:1]), f"missing: {fact.conditions[0].name}")
    if fact.kind == "social" and not any(f.mentions for f in findings):
        return assess_words(replace(fact, words=fact.plain_words, conditions=()), document)
    named = [m for f in findings for m in f.mentions]
    reason = "named, but not as a fact about the patient" if named else "not stated"
    return Outcome(ABSENT, _places(named[:1]), reason)
