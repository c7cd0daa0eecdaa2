"""Rescue medicines that are carried: kits and auto-injectors."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, PARTIAL, Outcome
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.quantities import amounts, same
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_KIT_WORDS = word_set("medication", "kit_words")
_KIT_IDS = frozenset({"word:carry", "word:emergency kit", "word:autoinjector"})


def is_kit(fact: Fact) -> bool:
    """Whether the fact is about a rescue medicine that is carried, not about one taken regularly."""
    if any(part.ids & _KIT_IDS for part in fact.words) or not _KIT_WORDS.isdisjoint(fact.document.words):
        return True
    return any(names_kit(fact.document, term) for term in term_index(fact.document).medicines)


def names_kit(document: Document, mention: Term) -> bool:
    """A name that is a device by itself ("EpiPen")."""
    return "pen" in document.words[mention.first] or document.words[mention.first] in ("jext", "emerade", "anapen")


def in_kit(document: Document, mention: Term) -> bool:
    first, stop = document.clause_span(mention.first)
    near = document.words[max(first, mention.first - 5) : min(stop, mention.last + 7)]
    return not _KIT_WORDS.isdisjoint(near)


def kit_alone(document: Document) -> Outcome | None:
    """The kit without the name of the medicine."""
    for term in term_index(document).exact.get("word:emergency kit", ()):
        context = reading(document, term.first, term.last)
        if context.denied:
            return Outcome(CONTRADICTED, ((term.first, term.last),), "stated as not there")
        if context.affirmed:
            return Outcome(PARTIAL, ((term.first, term.last),), "missing: the medicine and its dose")
    return None


def carries_none(document: Document, mention: Term) -> bool:
    """ "carries none at the moment", in the sentence of the mention or the next."""
    index = term_index(document)
    return any(
        abs(document.sentences[t.first] - document.sentences[mention.first]) <= 1
        and (
            document.words[t.last + 1 : t.last + 2] in (["none"], ["neither"], ["no"])
            or reading(document, t.first, t.last).denied
            or document.words[max(0, t.first - 2) : t.first] == ["no", "longer"]
        )
        for t in index.exact.get("word:carry", ())
    )


def carries_others(fact: Fact, document: Document, mention: Term) -> bool:
    """ "carries one EpiPen" for "carries two EpiPens"."""
    before = [a for a in amounts(document) if a.last + 1 == mention.first and a.unit is None]
    return bool(before and fact.numbers) and not same(before[-1].value, fact.numbers[0].value)
