"""What must or must not be said: whether a reply says it, lets it pass, or has no wording of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.advice.orders import advice_of, is_question
from pytest_clinical_drift.evidence.advice.words import AWAY, OTHER, TOWARD, words
from pytest_clinical_drift.evidence.facts.fact import ALLERGY, content_of, words_of
from pytest_clinical_drift.evidence.facts.places import Span
from pytest_clinical_drift.evidence.facts.slots import named_medicines, parse_fact
from pytest_clinical_drift.evidence.mentions.context import context_flags
from pytest_clinical_drift.evidence.mentions.regimen import Regimen, read_regimen
from pytest_clinical_drift.evidence.reading.text import Document, read, tokenise
from pytest_clinical_drift.evidence.terms.index import ids_above, places_in, term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import load_data
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems, stem, stems_of


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


def is_a(term: Term, ids: frozenset[str]) -> bool:
    return term.concept.id in ids or not ids.isdisjoint(ids_above(term.concept))


def is_meant(document: Document, term: Term) -> bool:
    return not context_flags(document, term.first, term.last).other_person


_OPENING = 3
"""Sentences at the start of a reply in which "it" is what the patient asked about."""
_DENIALS = frozenset(("no", "not", "never", "neither", "don", "stop", "wait"))
_WARNED = frozenset(map(str, load_data("orders")["warned"]))


def condoned(document: Document, target: Target) -> tuple[str, Span] | None:
    """The rule and the sentence by which a reply lets something forbidden pass."""
    if target.regimen is not None or target.verb in load_data("orders")["more"] or not target.wanted:
        return None
    sentences = [document.sentence_span(first) for first in document.sentence_starts]
    named = [span for span in sentences if _names(document, span, target)]
    refused = _refuses(document, target, named)
    denied = any(not _DENIALS.isdisjoint(document.words[slice(*span)]) for span in sentences[: _OPENING - 1])
    agreeing = next((span for span in sentences[:_OPENING] if _agrees(document, span)), None)
    if agreeing is not None and not (refused and denied):
        return "agrees", agreeing
    return ("unrefused", named[0]) if named and not refused and not denied else None


def _names(document: Document, span: Span, target: Target) -> bool:
    """Whether a sentence names the medicine, or at least half of the words of another target."""
    if target.ids:
        terms = term_index(document).medicines_between(*span)
        return any(is_a(term, target.ids) and is_meant(document, term) for term in terms)
    said = target.stems & set(loose_stems(document)[span[0] : span[1]])
    return bool(said) and 2 * len(said) >= len(target.stems)


def _refuses(document: Document, target: Target, named: Sequence[Span]) -> bool:
    """An order the other way about what is named or "it" at the start, or a word of warning where it is named."""
    for order in advice_of(document.raw):
        opening = document.sentences[order.first] < _OPENING
        asked = opening and document.words[order.first] in ("it", "them", "that")
        if not order.wanted and (asked or any(first <= order.first < stop for first, stop in named)):
            return True
    return any(not _WARNED.isdisjoint(document.words[first:stop]) for first, stop in named)


@lru_cache(maxsize=1)
def _agreements() -> tuple[tuple[str, ...], ...]:
    return tuple(tokenise(str(phrase)) for phrase in load_data("orders")["agreement"])


def _agrees(document: Document, span: Span) -> bool:
    """Whether a sentence agrees: "yes" opens it; "is not right" and "is right to worry" are none."""
    for at in range(*span) if not is_question(document, span[1]) else ():
        for phrase in _agreements():
            after = at + len(phrase)
            said = tuple(document.words[at:after]) == phrase and document.words[after : after + 1] != ["to"]
            if said and (len(phrase) > 1 or at == span[0]) and "not" not in document.words[max(span[0], at - 1) : at]:
                return True
    return False


_NEGATIVE = frozenset(("not", "no", "never", "without", "nor", "neither", "hardly", "cannot"))
_LITTLE = frozenset(("a", "an", "the", "your", "his", "her", "their", "my", "this", "that", "it", "to", "of"))
_REACH = 5
"""A denial acts on the words up to this far behind it."""
_SKIPPED = 2
"""Little words that may stand between the words of a wanted phrase."""


@lru_cache(maxsize=8192)
def _phrase(text: str) -> tuple[tuple[str, ...], bool]:
    """Stems of a wanted phrase, and whether it is a denial itself."""
    words = tokenise(text)
    kept = [word for word in words if word not in _LITTLE or len(words) == 1]
    return tuple(_folded(word) for word in kept), not _NEGATIVE.isdisjoint(words)


def _folded(word: str) -> str:
    """The stem; "never" does what "not" does."""
    return "not" if word == "never" else stem(word)


def states(document: Document, wording: str) -> bool:
    """Whether the document says it in these words, and does not deny it."""
    wanted, denying = _phrase(wording)
    starts = places_in(stems_of(document), wanted[0]) if wanted else []
    starts += places_in(document.words, "never") if wanted[:1] == ("not",) else []
    return any(_follows(document, wanted, start) and (denying or not _denied(document, start)) for start in starts)


def _follows(document: Document, wanted: tuple[str, ...], start: int) -> bool:
    """Whether the other words of a phrase follow its first one, with few little words between them."""
    at = start
    for word in wanted[1:]:
        window = [_folded(w) if w not in _LITTLE else "" for w in document.words[at + 1 : at + 2 + _SKIPPED]]
        place = next((n for n, mention in enumerate(window) if mention), -1)
        if place < 0 or window[place] != word:
            return False
        at += place + 1
    return True


def _denied(document: Document, start: int) -> bool:
    """Whether a denial in the same clause stands closely before a phrase."""
    for place in range(start, max(0, start - _REACH), -1):
        if any(mark in document.gaps[place] for mark in ".;?!–\n:"):
            return False
        word = document.words[place - 1]
        if word in ("but", "so", "because", "and") or (word == "no" and document.gaps[place].startswith(",")):
            return False  # "No, keep taking it": the answer, not a denial of what follows
        if word in _NEGATIVE:
            return True
    return False
