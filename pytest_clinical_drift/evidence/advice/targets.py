"""What must or must not be said: whether a reply says it, lets it pass, or has no wording of it."""

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice.orders import is_question
from pytest_clinical_drift.evidence.advice.words import AWAY, OTHER, TOWARD, words
from pytest_clinical_drift.evidence.facts.fact import ALLERGY, FUNCTION, content_of, words_of
from pytest_clinical_drift.evidence.facts.places import Span, together
from pytest_clinical_drift.evidence.facts.slots import named_medicines, parse_fact
from pytest_clinical_drift.evidence.mentions.context import context_at
from pytest_clinical_drift.evidence.mentions.regimen import Regimen, read_regimen
from pytest_clinical_drift.evidence.reading.text import Document, read, tokenise
from pytest_clinical_drift.evidence.terms.index import phrases_between, term_index
from pytest_clinical_drift.evidence.terms.lexicon import lexicon
from pytest_clinical_drift.evidence.terms.words import loose_stem, stem, stems_of


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
    forms = words().verbs.get(document.words[0], ()) if document.words else ()
    form = next((f for f in forms if tuple(document.words[: len(f[0])]) == f[0]), None)
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
    allergy = fact.frame == ALLERGY and not (fact.core.denied or fact.core.other)
    if allergy and concept is not None and concept.kind in ("drug", "class"):
        known = lexicon().concepts
        spreading = {i for i in concept.ancestors if i in known and known[i].data.get("allergy_spreads")}
        targets.append(Target(concept.name, frozenset((concept.id, *spreading)), frozenset(), True, "", TOWARD))
    return tuple(targets)


_OPENING = 3
"""Sentences at the start of a reply that answer what the patient asked."""
_DENIALS = frozenset(("no", "not", "never", "neither", "don", "stop", "wait"))


def agreement(document: Document) -> Span | None:
    """The sentence by which a reply opens with agreement, unless it denies something there too."""
    opening = [document.sentence_span(first) for first in document.sentence_starts[:_OPENING]]
    if any(not _DENIALS.isdisjoint(document.words[slice(*span)]) for span in opening[: _OPENING - 1]):
        return None
    return next((span for span in opening if _agrees(document, span)), None)


def _agrees(document: Document, span: Span) -> bool:
    """Whether a sentence agrees: "yes" opens it; "is not right" and "is right to worry" are none."""
    if is_question(document, span[1]):
        return False
    for phrase in phrases_between(document, "agreement", *span):
        opens = phrase.first == span[0] or phrase.last > phrase.first
        denied = "not" in document.words[max(span[0], phrase.first - 1) : phrase.first]
        if opens and not denied and document.words[phrase.last + 1 : phrase.last + 2] != ["to"]:
            return True
    return False


_NEGATIVE = frozenset(("not", "no", "never", "without", "nor", "neither", "hardly", "cannot"))


@lru_cache(maxsize=8192)
def _phrase(text: str) -> tuple[frozenset[str], bool]:
    """Stems of a wanted phrase, and whether it is a denial itself."""
    said = tokenise(text)
    kept = [word for word in said if word not in FUNCTION] or said
    return frozenset(map(stem, kept)), not _NEGATIVE.isdisjoint(said)


def states(document: Document, wording: str) -> bool:
    """Whether the words of a phrase stand close together in one clause, and nothing denies them."""
    wanted, denying = _phrase(wording)
    places = together(document, wanted, stems_of)
    if not places and "not" in wanted:
        places = together(document, (wanted - {"not"}) | {"never"}, stems_of)
    return any(denying or not _is_denied(document, *place) for place in places)


def _is_denied(document: Document, first: int, last: int) -> bool:
    """ "not to drive", and "no need to keep taking it"."""
    before = document.words[max(document.clause_span(first)[0], first - 4) : first]
    unneeded = "need" in before and not _NEGATIVE.isdisjoint(before)
    return unneeded or context_at(document, first, last).negated
