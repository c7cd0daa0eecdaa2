"""What must not be recommended: substances a fact rules out, and acts given as short directives ("stop warfarin")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_clinical_drift.evidence.advice import advice_of
from pytest_clinical_drift.evidence.guidance.objects import covers, forbidden_by, mentions_of, stem
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import advice_words, listed, spelled_out, view_of
from pytest_clinical_drift.evidence.lexicon import find_terms, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS
from pytest_clinical_drift.evidence.text import read

_NSAID = f"{DRUG_CLASS}:nsaid"
_WORD = re.compile(r"[a-z]+")
_CONSUMES = frozenset(("take", "start", "continue", "eat"))
_USES = frozenset(("take", "start", "continue", "eat", "increase", "practise", "drive"))
_ALLERGY_WORDS = frozenset(
    ["allergy", "allergic", "allergies", "anaphylaxis", "anaphylactic", "hypersensitivity", "intolerance", "intolerant"]
)
_ALLERGIC_KINDS = frozenset(("allergy", "intolerance"))
_COUNTERFACTUAL = ("were not", "was not", "had not", "did not have", "weren", "wasn")
_AFTER_BIRTH = frozenset(["born", "birth", "delivery", "delivered", "breastfeeding", "postpartum", "postnatal"])
_LITTLE = frozenset(
    [
        "a",
        "an",
        "the",
        "to",
        "of",
        "your",
        "his",
        "her",
        "him",
        "them",
        "it",
        "their",
        "my",
        "for",
        "until",
        "till",
        "after",
        "and",
        "at",
        "in",
        "on",
        "up",
        "with",
        "you",
        "how",
        "we",
        "i",
    ]
)


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Something that must not be recommended."""

    why: str
    ids: frozenset[str] = frozenset()
    """Objects (drugs, classes, foods …) that it is about."""
    stance: int = 1
    """+1: having it is forbidden; -1: going without it."""
    direction: str = ""
    """more or less, when a change of amount is forbidden."""
    effect: str = "for"
    action: str = "take"
    words: frozenset[str] = frozenset()
    """Stems that a reply's directive has to share when the object is no vocabulary entry."""
    per_day: tuple[float, float] | None = None
    dose: float | None = None
    swallowed: bool = False
    """Only what works on the whole body counts: a gel is no breach for an ulcer, but it is for an allergy."""
    lifted_by: frozenset[str] = frozenset()
    """Words of a condition under which it no longer holds ("once she's born")."""

    def recommended_by(self, item: Advice, all_advice: Sequence[Advice]) -> bool:
        """Whether a directive recommends it, and nothing in the reply takes that back."""
        if item.weak or not self._matches(item) or item.deferred or _counterfactual(item):
            return False
        if self.swallowed and _on_the_skin(item):
            return False
        if self.lifted_by and self.lifted_by & set((item.condition or "").lower().split()):
            return False
        return not (item.verb in _WEAK_VERBS and self._warned(all_advice)) and not _sentence_warns(
            item, all_advice, self
        )

    def _matches(self, item: Advice) -> bool:
        if not self._same_object(item):
            return False
        if self.direction:
            return item.effect == self.direction and item.polarity == "do"
        if self.ids and self.effect == "for" and self.stance > 0 and item.effect == "more" and item.polarity == "do":
            # "double the diazepam"
            return self._same_amounts(item)
        if self.effect in ("for", "against"):
            return item.stance == self.stance and self._same_use(item) and self._same_amounts(item)
        return item.polarity == "do" and item.effect == self.effect

    def _same_use(self, item: Advice) -> bool:
        """Whether the action is one of using, or, where only words tell the object, the very same action."""
        if self.stance < 0:
            return True
        if self.ids:
            kept = item.action == "carry" and (item.object or "").startswith("food:")
            return kept or item.action in _USES or item.action == self.action
        return item.action == self.action or {item.action, self.action} <= _CONSUMES

    def _same_object(self, item: Advice) -> bool:
        if self.ids:
            return any(covers(self.ids, name) for name in item.objects)
        return bool(self.words) and self.words <= _stems_of(item)

    def _same_amounts(self, item: Advice) -> bool:
        if self.per_day is not None:
            given = item.amounts.per_day
            if given is None or not (given[0] <= self.per_day[1] * 1.1 and self.per_day[0] <= given[1] * 1.1):
                return False
        if self.dose is not None:
            amount = item.amounts.dose
            if amount is None or not amount.low * 0.999 <= self.dose <= amount.high * 1.001:
                return False
        return True

    def _warned(self, all_advice: Sequence[Advice]) -> bool:
        return any(other.stance == -self.stance and self._same_object(other) for other in all_advice)


# Judgements such as "ibuprofen can help" yield to a warning elsewhere in the reply; an instruction does not.
_WEAK_VERBS = frozenset(
    [
        "is",
        "help",
        "helps",
        "ease",
        "eases",
        "relieve",
        "relieves",
        "work",
        "works",
        "soothe",
        "settle",
        "reduce",
        "treat",
        "control",
        "bring",
        "clear",
        "fine",
        "safe",
        "option",
        "options",
        "useful",
        "suitable",
    ]
)


def _on_the_skin(item: Advice) -> bool:
    """Whether it is an anti-inflammatory to rub on: hardly any of it reaches the blood."""
    words = set(_WORD.findall(item.quote.lower()))
    return bool(words & listed("topical")) and all(covers((_NSAID,), name) for name in item.objects)


def _counterfactual(item: Advice) -> bool:
    return item.condition is not None and any(phrase in item.condition.lower() for phrase in _COUNTERFACTUAL)


def _sentence_warns(item: Advice, all_advice: Sequence[Advice], forbidden: Forbidden) -> bool:
    """Whether the same sentence also says the opposite ("can help, but isn't safe for you")."""
    return any(
        other.sentence == item.sentence
        and other.start == item.start
        and other.stance == -forbidden.stance
        and forbidden._same_object(other)
        for other in all_advice
    )


def _stems_of(item: Advice) -> frozenset[str]:
    return _stems(tuple(item.said))


@lru_cache(maxsize=4096)
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(stem(word) for word in words)


@lru_cache(maxsize=4096)
def forbidden_by_fact(text: str, kind: str | None, forbids: tuple[str, ...]) -> tuple[Forbidden, ...]:
    """What a fact of the patient rules out."""
    found: list[Forbidden] = []
    words = set(read(text).words)
    allergic = kind in _ALLERGIC_KINDS or (kind is None and bool(words & _ALLERGY_WORDS))
    if allergic and not words & {"no", "nil", "none", "nkda", "denies"}:
        ids: set[str] = set()
        for term in find_terms(text):
            if term.concept.kind in (DRUG, DRUG_CLASS):
                ids |= forbidden_by(term.concept.id) if kind != "intolerance" else {term.concept.id}
        things = {m.id for m in mentions_of(view_of(read(text))) if m.kind == "food"}
        if ids or things:
            found.append(Forbidden(f"{text} rules it out", frozenset(ids or things)))
    lifted_by = _AFTER_BIRTH if kind == "pregnancy" or "pregnant" in words else frozenset()
    found.extend(
        replace(_forbidden_entry(entry, text), lifted_by=lifted_by, swallowed=not allergic) for entry in forbids
    )
    return tuple(found)


def _forbidden_entry(entry: str, fact: str) -> Forbidden:
    """One `forbids` entry: a drug, a class, a thing, or an act."""
    why = f"{fact} rules out {entry}"
    known = lexicon()
    concepts = [concept for concept in known.lookup(entry) if concept.kind in (DRUG, DRUG_CLASS)]
    if concepts:
        return Forbidden(why, frozenset(concept.id for concept in concepts))
    first = spelled_out(entry)[0] if spelled_out(entry) else ""
    vocabulary = advice_words()
    if first in vocabulary.base_forms and first not in _NOUNS:
        act = forbidden_act(entry)
        return replace(act, why=why)
    things = frozenset(
        m.id for m in mentions_of(view_of(read(entry))) if m.kind not in ("service", "condition", "measure")
    )
    content = frozenset(stem(word) for word in spelled_out(entry) if word not in _LITTLE)
    return (
        Forbidden(why, things)
        if things and len(content) <= 2 and not _qualified(entry, things)
        else Forbidden(why, words=content)
    )


_NOUNS = frozenset(("exercise", "smoke", "drive"))


def _qualified(entry: str, things: frozenset[str]) -> bool:
    """ "plain water", "aged cheese": a word beside the thing narrows it down."""
    return len(spelled_out(entry)) > 1 and any(
        name.partition(":")[2] in ("fluids", "dairy", "sugar") for name in things
    )


@lru_cache(maxsize=4096)
def forbidden_act(text: str) -> Forbidden:
    """A directive in few words ("take ibuprofen", "wait until morning") as something forbidden."""
    sentence = text[:1].upper() + text[1:] + "."
    advice = advice_of(sentence)
    if not advice:
        words = frozenset(stem(word) for word in spelled_out(text) if word not in _LITTLE)
        return Forbidden(text, words=words)
    item = next(
        (entry for entry in advice if any(name.startswith((DRUG, DRUG_CLASS)) for name in entry.objects)), advice[0]
    )
    medicines = frozenset(name for name in item.objects if name.startswith((DRUG, DRUG_CLASS)))
    direction = item.effect if item.effect in ("more", "less") else ""
    # Of an everyday act the verb itself is part of what is forbidden.
    said = item.said if item.action == "practise" else item.said - {item.verb} or item.said
    words = frozenset(stem(word) for word in said if word not in _LITTLE)
    amount = item.amounts.dose
    dose = amount.low if amount is not None and amount.dimension in ("mg", "unit", "tablet") else None
    return Forbidden(
        text,
        medicines,
        item.stance or 1,
        direction,
        item.effect,
        item.action,
        frozenset() if medicines else words or frozenset({stem(spelled_out(text)[0])}),
        item.amounts.per_day,
        dose,
    )
