"""Facts that state an absence: by an opening "no", or by a word that denies what they name."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_clinical_drift.evidence.context import context_at
from pytest_clinical_drift.evidence.facts.kinds import word_lists
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import TermIndex, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, WORD
from pytest_clinical_drift.evidence.text import Document, read


def covered(terms: Iterable[Term]) -> set[int]:
    """The tokens of some terms."""
    return {token for term in terms for token in range(term.first, term.last + 1)}


def is_negative(document: Document, index: TermIndex) -> bool:
    """Whether a fact states an absence."""
    words = document.words
    opening = words[:3]
    denials = [i for i, word in enumerate(opening) if word in _OPENING_DENIALS and (i == 0 or word == "not")]
    if not denials or {"yet", "only"} & set(words[:5]):
        return _denies_itself(document, index)
    # "no fixed abode", "does not smoke": the denial is part of what the vocabulary names.
    named = (*index.by_kind.get(CONDITION, ()), *index.by_kind.get(WORD, ()))
    return not any(t.first <= denials[0] <= t.last and t.last > t.first for t in named)


def _denies_itself(document: Document, index: TermIndex) -> bool:
    """ "anti-Ro antibody negative": the fact's own words deny what it names."""
    conditions = [t for t in index.by_kind.get(CONDITION, ()) if not t.weak]
    if not conditions:
        return False
    if document.words[conditions[0].last + 1 : conditions[0].last + 3] in (["ruled", "out"], ["excluded", "by"]):
        return True
    if document.words[conditions[0].last + 1 :][:1] == ["excluded"]:
        return True
    context = context_at(document, conditions[0].first, conditions[0].last)
    if not context.negated:
        return False
    # "wife unaware of the debts": the word is what the fact says, not a denial of the rest.
    named = [t.span(document) for t in index.by_kind.get(WORD, ()) if not t.weak]
    cues = [cue for cue in context.cues if cue.role == "negated"]
    return not all(any(start < cue.end and cue.start < end for start, end in named) for cue in cues)


_OPENING_DENIALS = frozenset(("no", "nil", "never", "denies", "denied", "without", "not", "non", "unmedicated"))


# Words that name no finding by themselves: "no appetite" is a finding, not the absence of one.
NEUTRAL = frozenset(
    f"word:{name}"
    for name in [
        "appetite",
        "motivation",
        "sleep",
        "concentration",
        "support",
        "friends",
        "self-esteem",
        "exercise",
        "diet",
        "work",
        "live",
    ]
)


def denied_body(document: Document, index: TermIndex) -> Document | None:
    """ "no alcohol use": what is denied, when the vocabulary also has a name that begins with the "no"."""
    if not document.words or document.words[0] not in ("no", "never"):
        return None
    if not any(t.first == 0 and t.last >= 1 for kind in (CONDITION, WORD) for t in index.by_kind.get(kind, ())):
        return None
    body = read(document.raw[document.ends[0] :])
    terms = [t for kind in (CONDITION, WORD) for t in term_index(body).by_kind.get(kind, ()) if not t.weak]
    terms = [t for t in terms if t.concept.id not in NEUTRAL]
    known = covered(terms)
    return (
        body if known and all(i in known or body.words[i] in word_lists()["filler"] for i in range(len(body))) else None
    )
