"""What must not be ordered: a short directive, a bare name, or what an allergy rules out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice.words import AWAY, OTHER, TOWARD, words
from pytest_clinical_drift.evidence.facts.fact import REACTS, content_of, words_of
from pytest_clinical_drift.evidence.facts.frames import named_medicines
from pytest_clinical_drift.evidence.facts.slots import parse_fact
from pytest_clinical_drift.evidence.mentions.regimen import Regimen, read_regimen
from pytest_clinical_drift.evidence.mentions.state import reading
from pytest_clinical_drift.evidence.reading.text import Document, read
from pytest_clinical_drift.evidence.terms.index import ids_above, term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term, lexicon
from pytest_clinical_drift.evidence.terms.stems import loose_stem


@dataclass(frozen=True, slots=True)
class Target:
    """Something that must not be ordered."""

    text: str
    ids: frozenset[str]
    """Medicines and classes that it is about; empty for other things."""
    stems: frozenset[str]
    """Stems of the words, where the vocabulary has no name for it."""
    wanted: bool
    """True: having or doing it is forbidden; False: going without it."""
    verb: str
    kind: str
    """What its verb does: toward, away, care, wait or other."""
    regimen: Regimen | None = None
    """A dose narrows what is forbidden."""
    together: bool = False
    """Two medicines that must not be taken together."""


@lru_cache(maxsize=2048)
def target_of(text: str) -> Target:
    """A short directive ("take ibuprofen", "wait until morning") or a bare name ("nsaid") as something forbidden."""
    document = read(text)
    form = (
        next((f for f in words().verbs.get(document.words[0], ()) if tuple(document.words[: len(f[0])]) == f[0]), None)
        if document.words
        else None
    )
    named = term_index(document).medicines_between(0, 1)
    bare = form is None and (bool(named) or len(document) <= 1)
    verb, kind = (" ".join(form[0]), form[1]) if form else ("", TOWARD) if bare else (document.words[0], OTHER)
    begin = len(verb.split())
    medicines = [t for t in named_medicines(term_index(document)) if t.first >= begin]
    content = [w for w in content_of(document.words[begin:]) if w not in words_of("filler")]
    regimen = read_regimen(document, medicines[0]) if medicines else None
    return Target(
        text,
        frozenset(t.concept.id for t in medicines),
        frozenset() if medicines else frozenset(map(loose_stem, content)),
        kind != AWAY,
        verb,
        kind,
        regimen if regimen and (regimen.strengths or regimen.times) else None,
        together=len({t.concept for t in medicines}) > 1,
    )


@lru_cache(maxsize=2048)
def forbidden_by(text: str, kind: str | None, forbids: tuple[str, ...]) -> tuple[Target, ...]:
    """What a fact forbids: what its case lists, and the substance of an allergy with the class that shares it."""
    targets = [target_of(name) for name in forbids]
    fact = parse_fact(text, kind)
    concept = fact.core.concept
    if (
        fact.frame == REACTS
        and concept is not None
        and not (fact.core.denied or fact.core.other)
        and concept.kind in ("drug", "class")
    ):
        known = lexicon().concepts
        spreading = {i for i in concept.ancestors if i in known and known[i].data.get("allergy_spreads")}
        targets.append(Target(concept.name, frozenset((concept.id, *spreading)), frozenset(), True, "", TOWARD))
    return tuple(targets)


def is_a(term: Term, ids: frozenset[str]) -> bool:
    return term.concept.id in ids or not ids.isdisjoint(ids_above(term.concept))


def is_meant(document: Document, term: Term) -> bool:
    return not reading(document, term.first, term.last).other_person
