"""Diagnoses, findings, circumstances: every essential part of a fact, in any wording, around one place of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE
from pytest_clinical_drift.evidence.facts.condition import (
    DENIED,
    EXCLUDED,
    FULL,
    NONE,
    OTHER,
    OUTSIDERS,
    VAGUE,
    Finding,
    find_condition,
    named,
)
from pytest_clinical_drift.evidence.facts.denials import never_there, straight_denial
from pytest_clinical_drift.evidence.facts.details import Surroundings
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.loose_names import loosely_named
from pytest_clinical_drift.evidence.facts.losses import of_the_fact
from pytest_clinical_drift.evidence.facts.outcome import (
    ABSENT,
    CONTRADICTED,
    NOTHING,
    PARTIAL,
    RETAINED,
    Outcome,
)
from pytest_clinical_drift.evidence.facts.recency import asks_when
from pytest_clinical_drift.evidence.facts.refusals import assess_refused
from pytest_clinical_drift.evidence.facts.social import assess_words
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.frequencies import frequencies
from pytest_clinical_drift.evidence.reading.wording import WordPart
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import QUALIFIER, Concept, word_set
from pytest_clinical_drift.evidence.text import Document


def assess_statement(fact: Fact, document: Document) -> Outcome:
    """Status of a fact that names conditions, or only circumstances."""
    if not fact.conditions:
        return assess_words(fact, document)
    refused = assess_refused(fact, document)
    if refused is not None:
        return refused
    ideation = fact.conditions[0].name == "suicidal ideation"
    if any(part.ids & _SPEAKING for part in fact.words) and not fact.numbers and not ideation:
        return assess_words(_in_words(fact), document)
    if any(part.ids & _SELF_DENYING for part in fact.plain_words):
        worded = assess_words(_in_words(fact), document)
        if worded.status == RETAINED:
            return worded
    if fact.words and fact.kind != "family" and all(c.id in fact.of_others for c in fact.conditions):
        return _with_other_person(fact, document)
    findings = [_find(fact, document, number) for number in range(len(fact.conditions))]
    core = findings[0] = of_the_fact(fact, document, findings[0])
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
    qualified = _denied_as_qualified(fact, document)
    if qualified is not None:
        return qualified
    anchors = [term for f in findings if f.state in (FULL, VAGUE) for term in f.mentions]
    if any(qualifier.group == "side" for qualifier in fact.qualifiers):
        # "an ulcer on his right foot … a foot ulcer": the side may stand with the looser name.
        anchors += [
            t for t in loosely_named(document, fact.conditions[0]) if reading(document, t.first, t.last).affirmed
        ]
    around = Surroundings(document, anchors)
    around.evidence += _places(core.mentions[:1])
    vague = core.state == VAGUE
    if vague and fact.inner_qualifiers:
        # "AF | paroxysmal": the general name with the qualifier apart from it.
        own = Surroundings(document, core.mentions)
        stated = core.mentions[0].concept.name
        states = [own.qualifier(q) for q in fact.inner_qualifiers if q.name not in stated]
        around.evidence += own.evidence
        against = [state for state in states if state not in ("", "missing")]
        if against:
            return Outcome(CONTRADICTED, tuple(around.evidence), against[0])
        vague = "missing" in states or not states
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
    if fact.kind == "family" and _without_the_death(fact, around):
        return Outcome(ABSENT, evidence, "without the death")
    if around.nothing_specific(fact):
        return Outcome(ABSENT, evidence, "only in general terms")
    wanted = fact.conditions[0].id
    exact = any(t.concept.id == wanted for t in named(document, fact.conditions[0]))
    counted = bool(fact.numbers) and fact.numbers[0].first == 0 and not fact.numbers[0].dimension
    if not exact and counted and f"{fact.numbers[0].value:g}" in around.missing:
        # "three panic attacks a week": how many is the point, and the general name does not say it.
        return Outcome(ABSENT, evidence, "only in general terms")
    if vague:
        only = core.mentions[0].concept
        called_so = only is fact.conditions[0] or fact.conditions[0].id in only.ancestors
        return Outcome(PARTIAL, evidence, "only as likely or as past" if called_so else f"only {only.name}")
    if around.missing:
        return Outcome(PARTIAL, evidence, "missing: " + ", ".join(around.missing))
    return Outcome(RETAINED, evidence)


# Clusters that turn the rest of the fact around: "unaware of the debts", "waiting for CBT".
_SPEAKING = frozenset(f"word:{name}" for name in word_set("statement", "speaking"))
# Clusters whose everyday wordings contain a denial: "hopes not to wake up".
_SELF_DENYING = frozenset(f"word:{name}" for name in word_set("statement", "self_denying"))


def _without_the_death(fact: Fact, around: Surroundings) -> bool:
    """ "son was killed in a car accident", and the text has only the accident."""
    if not any(part.text in around.missing and part.text.lower() in _FATAL for part in fact.words):
        return False
    spans = {around.document.sentence_span(anchor.first) for anchor in around.anchors}
    return all(_DEATH.isdisjoint(around.document.words[first:stop]) for first, stop in spans)


def _another_relative(fact: Fact, around: Surroundings) -> bool:
    """The fact names a relative ("mother") and the text another one."""
    index = term_index(around.document)
    relatives = [part for part in fact.words if "word:family" in part.broader and part.text in around.missing]
    general = any(around.near(t.first) for t in index.exact.get("word:family", ()))
    return bool(relatives) and not general


def _denied_as_qualified(fact: Fact, document: Document) -> Outcome | None:
    """ "knows her hypos well and has had no severe hypos": what the fact states is denied, whatever else is there."""
    index = term_index(document)
    for wanted in fact.qualifiers:
        for term in index.exact.get(fact.conditions[0].id, ()):
            beside = index.between(QUALIFIER, term.first - 2, term.first)
            if any(q.concept is wanted for q in beside) and reading(document, term.first, term.last).denied:
                return Outcome(CONTRADICTED, ((term.first, term.last),), "denied")
    return None


def _find(fact: Fact, document: Document, number: int) -> Finding:
    """The state of one condition of the fact; by its everyday words where the vocabulary's names do not occur."""
    concept = fact.conditions[number]
    other = fact.kind == "family" or concept.id in fact.of_others
    finding = find_condition(
        document,
        concept,
        other_person=other,
        past=fact.past or asks_when(fact),
        planned=lies_ahead(fact),
        ongoing=_goes_on(fact, concept),
        outsider=not OUTSIDERS.isdisjoint(fact.document.words),
    )
    clusters = fact.condition_words[number]
    if finding.state == FULL and concept.group in _LIFE and not other:
        plain = tuple(t for t in finding.mentions if not straight_denial(document, t.first))
        if not plain:
            return Finding(DENIED, (), finding.mentions)
        finding = replace(finding, mentions=plain)
    if finding.state not in (NONE, FULL) or not clusters or other:
        return finding
    places = [part.places(document) for part in clusters]
    worded = []
    for token in places[0]:
        sentence = document.sentences[token]
        together = all(any(document.sentences[p] == sentence for p in others) for others in places[1:])
        if together and reading(document, token, token).affirmed and not never_there(document, token):
            worded.append(Term(concept, token, token))
    if not worded and finding.state == NONE:
        worded = [Term(concept, t.first, t.last) for t in _opposites_denied(document, clusters)]
    return Finding(FULL, (*finding.mentions, *worded)) if worded else finding


def _opposites_denied(document: Document, clusters: Sequence[WordPart]) -> list[Term]:
    """ "Smoking: never" says what "non-smoker" says."""
    exact = term_index(document).exact
    opposites = [term for part in clusters for other in sorted(part.excludes) for term in exact.get(other, ())]
    return [term for term in opposites if reading(document, term.first, term.last).denied]


def _goes_on(fact: Fact, concept: Concept) -> bool:
    """ "weekly CBT": a treatment that takes place again and again."""
    return concept.group == "procedure" and not fact.past and bool(frequencies(fact.document))


_AHEAD = word_set("statement", "ahead")


def lies_ahead(fact: Fact) -> bool:
    """Whether the fact itself is a plan ("awaiting knee replacement") or has a date, which may be ahead."""
    return bool(fact.dates) or not _AHEAD.isdisjoint(fact.document.words)


def _with_other_person(fact: Fact, document: Document) -> Outcome:
    """ "main carer for his wife, who has dementia": the patient's part decides, the other's condition completes it."""
    outcome = assess_words(replace(fact, conditions=(), qualifiers=()), document)
    if outcome.status not in (RETAINED, PARTIAL):
        return outcome
    for concept in fact.conditions:
        # A loss is the patient's own, whoever died.
        state = find_condition(document, concept, other_person=concept.id != _LOSS).state
        if state != FULL and all(part.ids & PEOPLE for part in fact.words):
            # "wife has dementia": the wife alone says nothing of it
            return Outcome(CONTRADICTED if state == DENIED else ABSENT, outcome.evidence, f"missing: {concept.name}")
        if state != FULL:
            if outcome.status == PARTIAL:
                return Outcome(ABSENT, outcome.evidence, "named in another connection")
            return Outcome(PARTIAL, outcome.evidence, f"missing: {concept.name}")
    return outcome


def _places(terms: Iterable[Term]) -> tuple[tuple[int, int], ...]:
    return tuple((term.first, term.last) for term in terms)


_LOSS = "condition:bereavement"
_FATAL = word_set("losses", "fatal")
_DEATH = _FATAL | word_set("losses", "death")
# Words that make what follows the content of what stands before: "voices telling him …".
_CONTENT = word_set("statement", "content")
_LIFE = frozenset(("symptom", "social-risk", "psychiatric"))


@lru_cache(maxsize=4096)
def _in_words(fact: Fact) -> Fact:
    """The fact by its everyday words alone, without the conditions that they name."""
    return replace(fact, words=fact.plain_words, conditions=())


def _core_named(findings: list[Finding]) -> bool:
    """Whether the fact's first condition is named at all, of whomever."""
    return bool(findings[0].mentions)


def _is_of_life(fact: Fact) -> bool:
    """Complaints and circumstances that everyday words can state; a disorder needs its name."""
    worded = any(part.ids for part in fact.plain_words)
    return worded and all(c.group in _LIFE for c in fact.conditions) and "disorder" not in fact.document.words


def _without_core(fact: Fact, document: Document, findings: list[Finding]) -> Outcome:
    """The core is not stated: another condition of the fact makes it partial, else it is absent."""
    beside = ("obstetric", "social-risk") if fact.conditions[0].group == "symptom" else ("obstetric",)
    if findings[0].state == OTHER and fact.conditions[0].id == _LOSS:
        return Outcome(ABSENT, _places(findings[0].mentions[:1]), "of someone else")
    rest = [f for f in findings[1:] if f.state == FULL and f.mentions[0].concept.group not in beside]
    if fact.conditions[0].group == "procedure" and "for" in fact.document.words:
        rest = []  # "CBT for insomnia": what a treatment is for does not state the treatment
    if rest and not fact.past and _CONTENT.isdisjoint(fact.document.words):
        return Outcome(PARTIAL, _places(rest[0].mentions[:1]), f"missing: {fact.conditions[0].name}")
    mentioned = [m for f in findings for m in f.mentions]
    if "not" in fact.document.words and not mentioned:
        return NOTHING  # "not working" is not "working" in other words
    if fact.kind == "social" and not mentioned:
        return assess_words(_in_words(fact), document)
    if not _core_named(findings) and _is_of_life(fact):
        worded = assess_words(_in_words(fact), document)
        if worded.status == RETAINED:
            return worded
    reason = "named, but not as a fact about the patient" if mentioned else "not stated"
    return Outcome(ABSENT, _places(mentioned[:1]), reason)
