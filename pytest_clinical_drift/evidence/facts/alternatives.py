"""Statements that cannot hold together with a fact about the patient's circumstances: other hours, another home."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, Outcome
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import QUALIFIER, WORD, word_set
from pytest_clinical_drift.evidence.text import Document

__all__ = ["PEOPLE", "find_alternative", "find_other_home"]

# Clusters that are against a fact only beside the rest of it.
_BESIDE = frozenset(f"word:{name}" for name in word_set("social", "beside"))
#: Clusters that name persons around the patient.
PEOPLE = frozenset(f"word:{name}" for name in word_set("social", "people"))


def find_alternative(fact: Fact, document: Document) -> Outcome | None:
    """A statement that cannot hold together with the fact: an excluded cluster, another value, another home."""
    index = term_index(document)
    for part in fact.words:
        for other in sorted(part.excludes):
            for term in index.exact.get(other, ()):
                context = reading(document, term.first, term.last)
                if (
                    context.affirmed
                    and not context.historical
                    and not term.weak
                    and _of_same_people(fact, document, term)
                    and (term.concept.id not in _BESIDE or _beside_rest(fact, document, term))
                ):
                    return Outcome(CONTRADICTED, ((term.first, term.last),), f"{term.concept.name} is stated")
    for qualifier in fact.qualifiers:
        for term in index.by_kind.get(QUALIFIER, ()):
            rival = term.concept.group == qualifier.group in _EXCLUSIVE and term.concept is not qualifier
            if rival and not term.weak and reading(document, term.first, term.last).affirmed:
                return Outcome(CONTRADICTED, ((term.first, term.last),), f"{term.concept.name} is stated")
    return None


def _beside_rest(fact: Fact, document: Document, term: Term) -> bool:
    """ "accepted the counselling" against "declined counselling": beside what the fact is about."""
    sentence = document.sentences[term.first]
    rest = [part for part in fact.words if term.concept.id not in part.excludes]
    return bool(rest) and all(any(document.sentences[p] == sentence for p in part.places(document)) for part in rest)


def _of_same_people(fact: Fact, document: Document, term: Term) -> bool:
    """ "close to her father" says nothing about the conflict with the mother."""
    people = [part for part in fact.words if part.ids & PEOPLE]
    sentence = document.sentences[term.first]
    return not people or any(document.sentences[p] == sentence for part in people for p in part.places(document))


# Dimensions of which only one value holds at a time.
_EXCLUSIVE = ("hours", "study year")
_HOMES = frozenset((*PEOPLE, "word:alone", "word:care home", "word:homeless"))
_DWELLING = ("lives", "living", "live", "resides", "moved", "stays", "staying", "stayed")


def find_other_home(fact: Fact, document: Document) -> Outcome | None:
    """Another home than the fact's: "lives with dad now" against "lives with his grandmother"."""
    wanted = {c for part in fact.words for c in part.ids}
    if "word:live" not in wanted or not wanted & _HOMES or fact.words[0].ids & PEOPLE:
        return None  # "daughter lives in Canada": the patient's own home says nothing of hers
    vaguer = {c for part in fact.words for c in part.broader}
    index = term_index(document)
    for verb in _DWELLING:
        for token in index.places(verb):
            named = _home_beside(document, token)
            # The fact's own home, a kind of it ("mother" of "parents") or a vaguer word for it ("family") agrees.
            agreeing = [t for t in named if t.concept.id in wanted | vaguer or t.concept.ancestors & wanted]
            if not named or (agreeing and not _by_oneself(document, named, wanted)):
                continue
            context = reading(document, token, token)
            if context.affirmed and not context.historical:
                return Outcome(CONTRADICTED, ((token, named[0].last),), f"lives: {named[0].concept.name}")
    return None


def _by_oneself(document: Document, named: list[Term], wanted: set[str]) -> bool:
    """ "lives alone since the break-up with her boyfriend"; not "alone with her son"."""
    first = min(named, key=lambda term: term.first)
    return (
        first.concept.id == "word:alone"
        and "word:alone" not in wanted
        and document.words[first.last + 1 : first.last + 2] != ["with"]
    )


def _home_beside(document: Document, token: int) -> list[Term]:
    """Whom or what a verb of dwelling names: up to the next comma, or before it after "with whom"."""
    start, stop = document.sentence_span(token)
    stop = min(stop, token + 8)
    breaks = [i for i in range(token + 3, stop) if document.gaps[i][:1] in (",", ";", "–", "(")]
    stop = breaks[0] if breaks else stop
    first = max(start, token - 7) if "whom" in document.words[max(start, token - 4) : token] else token + 1
    around = term_index(document).between(WORD, first, stop)
    return [t for t in around if not t.weak and t.concept.id in _HOMES]
