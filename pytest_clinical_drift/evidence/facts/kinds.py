"""What sort of fact a string is, from the concepts and words that were found in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pytest_clinical_drift.evidence.facts.regimen import Regimen
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set

_ALLERGY_WORDS = word_set("facts", "allergy_words")
_CAUSING = word_set("facts", "causing")
_AVOIDING = frozenset(("avoid", "avoids", "avoiding", "contraindicated", "avoided", "avoidance"))
RELATIVES = word_set("facts", "relatives")
_MODIFIERS = word_set("facts", "kin_modifiers")
_FAMILY_EVENTS = frozenset(("parental separation", "bereavement", "family conflict", "parental pressure"))
_REACTION_GROUPS = ("reaction", "symptom", "respiratory", "dermatological")


@lru_cache(maxsize=1)
def word_lists() -> dict[str, frozenset[str]]:
    """Words that shape a fact's wording, by what they do."""
    return {label: frozenset(str(word) for word in words) for label, words in (load_data("fact_words") or {}).items()}


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a fact's text."""

    words: list[str]
    medicines: list[Term]
    conditions: list[Term]
    measured: bool
    regimen: Regimen | None
    negative: bool

    @property
    def dosed(self) -> bool:
        """Whether the text says how a medicine is taken."""
        taken = self.regimen
        return taken is not None and bool(taken.strengths or taken.ratios or taken.counts or taken.times)

    @property
    def named_intolerance(self) -> bool:
        """A condition of its own, such as lactose intolerance or sensitivity to noise."""
        return not self.medicines and any(
            ("intoleran" in t.concept.name or "sensitivity" in t.concept.name or self._is_illness(t))
            and t.concept.group != "reaction"
            for t in self.conditions
        )

    @property
    def denies_head(self) -> bool:
        """ "no TB drug resistance": the last word, straight after a name, is what is denied."""
        ends = {t.last for t in (*self.medicines, *self.conditions)}
        last = len(self.words) - 1
        return last - 1 in ends and last not in ends and self.words[last] not in word_lists()["filler"]

    def _is_illness(self, term: Term) -> bool:
        """An illness whose name has the word in it: allergic rhinitis."""
        inside = self.words[term.first : term.last + 1]
        return "allergic" in inside and "allerg" not in term.concept.name.removeprefix("allergic")


def infer_kind(found: Found, given: str | None) -> str:
    """The kind of a fact; what the case says decides where the text leaves room ("penicillin", an allergy)."""
    words = set(found.words)
    medicines, conditions = found.medicines, found.conditions
    if found.negative and (not (medicines and conditions) or found.denies_head):
        return "negative"
    first = next((word for word in found.words if word not in _MODIFIERS), "")
    of_relative = first in RELATIVES and bool(conditions)
    of_relative = of_relative and conditions[0].concept.name not in _FAMILY_EVENTS
    if {"family", "history"} <= words or of_relative:
        return "family"
    if given in ("allergy", "intolerance") and (medicines or conditions) and not found.dosed:
        return "allergy"
    if not _ALLERGY_WORDS.isdisjoint(words) and not found.named_intolerance:
        return "allergy"
    if medicines:
        kind = _kind_of_medicine(found, words)
        if kind:
            return kind
    reactions = [t for t in conditions if t.concept.group in _REACTION_GROUPS]
    if "latex" in words and reactions and not _CAUSING.isdisjoint(words):
        return "allergy"
    if found.measured and not conditions:
        return "measurement"
    if conditions and not all(t.concept.group == "social-risk" for t in conditions):
        return "diagnosis"
    return "social"


def _stopped_doing(words: list[str]) -> bool:
    """ "stopped breathing after methadone": not the medicine was stopped."""
    return any(word == "stopped" and after.endswith("ing") for word, after in pairwise(words))


def _within_the_past(words: list[str]) -> bool:
    """ "two courses in the past year": a stretch of time, not something that is over."""
    return any(word == "past" and (after[:1].isdigit() or after in _STRETCHES) for word, after in pairwise(words))


_STRETCHES = frozenset(
    ("day", "days", "week", "weeks", "fortnight", "month", "months", "year", "years", "few", "couple", "two", "three",
     "four", "six", "twelve")
)  # fmt: skip
_WISHES = word_set("social", "wishes")
_TAKES = frozenset(("takes", "taking", "uses", "using", "on", "prescribed"))
_CAUSED = frozenset(("caused", "causes", "triggered", "triggers", "induced", "precipitated"))
_STOPPING = word_set("facts", "stopping")


def _wishes_to_stop(words: list[str]) -> bool:
    """ "wants to come off sertraline": a wish, while the medicine is taken."""
    wished = [i for i, word in enumerate(words) if word in _WISHES]
    return bool(wished) and not _STOPPING.isdisjoint(words[wished[0] : wished[0] + 4])


def _kind_of_medicine(found: Found, words: set[str]) -> str:
    """The kind of a fact that names a medicine; empty when the medicine is not its point."""
    reactions = [t for t in found.conditions if t.concept.group in _REACTION_GROUPS]
    if found.negative and found.words[0] == "no" and found.medicines[0].first <= 1:
        return "avoid"  # "no opioids because of past addiction"
    if _wishes_to_stop(found.words) and not found.dosed:
        return "social"
    ended = word_lists()["stopped"] & (words - {"past"} if _within_the_past(found.words) else words)
    if ended and "taking" not in words and not _stopped_doing(found.words):
        return "stopped"
    if word_lists()["tried"] & words and not found.dosed and not found.conditions and not found.negative:
        return "stopped"
    if reactions and found.words[0] in ("no", "without"):
        return "negative"  # "no side effects from sertraline"
    weighed = any(t.concept.name in ("weight gain", "weight loss") for t in reactions)
    if reactions and not _CAUSING.isdisjoint(words) and not found.dosed and not weighed:
        return "allergy"
    straight = found.words[found.medicines[0].last + 1 :][:1]
    if found.conditions and straight and straight[0] in _CAUSED and not found.dosed and not weighed:
        return "allergy"  # "azathioprine caused pancreatitis": an illness that it brought about
    if not _AVOIDING.isdisjoint(words):
        return "avoid"
    medicine = found.medicines[0]
    treats = set(found.words[: medicine.first]) <= _TAKES and found.words[medicine.last + 1 :][:1] == ["for"]
    return "medication" if found.dosed or treats or not found.conditions else ""
