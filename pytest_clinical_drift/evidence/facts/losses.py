"""Whom a bereavement is about: the fact's own person, not another one, and not someone else's."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.evidence.facts.alternatives import PEOPLE
from pytest_clinical_drift.evidence.facts.condition import FULL, OTHER, VAGUE, Finding
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, WORD, word_set
from pytest_clinical_drift.evidence.text import Document

_LOSS, _LOSS_WORD = "condition:bereavement", "word:bereavement"
_BEFORE, _AFTER = 5, 5  # tokens around a loss within which the one who died is named
_OTHERS = word_set("mentions", "others")
_RELATED = frozenset((*PEOPLE, *(f"word:{name}" for name in word_set("losses", "relatives"))))


def of_the_fact(fact: Fact, document: Document, finding: Finding) -> Finding:
    """A loss without the mentions that are about another person than the one the fact names."""
    concept = fact.conditions[0]
    if finding.state not in (FULL, VAGUE) or (concept.id != _LOSS and _LOSS not in concept.ancestors):
        return finding
    mentions = [m for m in finding.mentions if not _of_someone_else(document, m) and _tells_of_loss(document, m)]
    if any(word.startswith("widow") for word in fact.document.words):
        mentions = [m for m in mentions if _of_a_spouse(document, m)]
    wanted = [t for t in term_index(fact.document).by_kind.get(WORD, ()) if not t.weak and t.concept.id in _RELATED]
    if wanted:
        named = [m for m in mentions if _dead(document, m)]
        agreeing = [m for m in named if _agrees(wanted, _dead(document, m))]
        # "grief" is about the one whose death is told beside it.
        mentions = [] if named and not agreeing else [m for m in mentions if m in agreeing or m not in named]
    return replace(finding, mentions=tuple(mentions)) if mentions else Finding(OTHER, finding.mentions)


_SPOUSES = frozenset(("word:wife", "word:husband", "word:partner"))


def _of_a_spouse(document: Document, mention: Term) -> bool:
    """Whether a loss is that of a widow or a widower."""
    said = any(word.startswith("widow") for word in document.words[mention.first : mention.last + 1])
    spouses = {t.concept.id for t in _dead(document, mention)} & _SPOUSES
    return said or bool(spouses) or not _OWN_SPOUSE.isdisjoint(document.words[mention.first : mention.last + 1])


_OWN_SPOUSE = frozenset(("wife", "husband", "partner", "spouse"))


def _tells_of_loss(document: Document, mention: Term) -> bool:
    """A mention by the person alone ("her father died … her mother") has the word for the loss close by."""
    index = term_index(document)
    person = [t for t in index.between(WORD, mention.first, mention.first + 1) if t.concept.id in _RELATED]
    if not any(t.last == mention.last for t in person):
        return True
    near = (mention.first - _BEFORE, mention.last + _AFTER + 2)
    losses = [
        t for kind in (WORD, CONDITION) for t in index.between(kind, *near) if t.concept.id in (_LOSS_WORD, _LOSS)
    ]
    return any(document.sentences[t.first] == document.sentences[mention.first] for t in losses)


def _dead(document: Document, mention: Term) -> list[Term]:
    """The people named beside a loss, in its clause."""
    start, stop = document.clause_span(mention.first)
    around = term_index(document).between(
        WORD, max(start, mention.first - _BEFORE), min(stop, mention.last + 1 + _AFTER)
    )
    return [t for t in around if not t.weak and t.concept.id in _RELATED]


def _agrees(wanted: list[Term], named: list[Term]) -> bool:
    """Nobody is named, or one of the fact's people, in the same or in vaguer words."""
    if not named:
        return True
    ids = {t.concept.id for t in wanted}
    broader = {a for t in wanted for a in t.concept.ancestors}
    return any(t.concept.id in ids | broader or t.concept.ancestors & ids for t in named)


def _of_someone_else(document: Document, mention: Term) -> bool:
    """ "her friend, whose husband died": the friend's loss."""
    start = document.sentence_span(mention.first)[0]
    for place in range(max(start, mention.first - 3), mention.last):
        owner = document.words[place] in _OTHERS and document.gaps[place + 1].startswith("'s")
        if owner and document.words[place + 1] in _OTHERS:
            return True  # "her sister's baby died"
    words = document.words[max(start, mention.first - 3) : mention.first + 1]
    if "whose" not in words:
        return False
    whose = max(start, mention.first - 3) + words.index("whose")
    return not _OTHERS.isdisjoint(document.words[max(start, whose - 4) : whose])
