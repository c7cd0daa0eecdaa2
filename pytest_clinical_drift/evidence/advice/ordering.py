"""Whether a verb orders or permits: in the imperative, after "you should" or "fine to", or after a denial."""

from __future__ import annotations

from pytest_clinical_drift.evidence.advice.clause import DENIERS, Clause, broken
from pytest_clinical_drift.evidence.terms.vocabulary import word_set

_OBJECTS = frozenset(("the", "your", "it", "them", "any", "him", "her", "this", "that", "a", "an", "some", "all"))
_BEFORE_GERUNDS = frozenset(
    ("avoid", "stop", "keep", "recommend", "suggest", "consider", "on", "without", "from", "against", "no", "with")
)
_CALLS = frozenset(("ring", "call", "phone", "contact", "telephone"))
_NO_GERUNDS = frozenset(("ring", "bring"))
_ADDRESSED = frozenset(("", "you", "he", "she"))
_ADVERBS = frozenset(
    ("always", "probably", "safely", "still", "only", "generally", "certainly", "usually", "really", "now")
)
_OTHERS = word_set("advice", "others")


class Ordering(Clause):
    """Finds the verbs of a sentence that order something."""

    def _verb_at(self, position: int) -> tuple[tuple[str, ...], str] | None:
        if self._words[position] == "do" and self._words[position + 1 : position + 2] == ["not"]:
            return None
        if self._words[position : position + 2] == ["double", "vision"]:
            return None
        for phrase, kind in self._lists.verbs.get(self._words[position], ()):
            if tuple(self._words[position : position + len(phrase)]) == phrase and position + len(phrase) <= self._stop:
                return phrase, kind
        return None

    def _orders(self, position: int, verb: str, denied: bool) -> bool:
        """Whether a verb orders or permits: in the imperative, after "you should" or "fine to", or after a denial."""
        document, lists = self._document, self._lists
        place = position - 1
        gerund = verb.endswith("ing") and verb not in _NO_GERUNDS
        light = lists.openers | DENIERS | _ADVERBS
        while (
            place >= self._first
            and self._words[place] in light
            and not broken(document, place + 1)
            and document.gaps[place + 1] != ","
        ):
            place -= 1
        opened = place < self._first or broken(document, place + 1) or (document.gaps[place + 1] == "," and not gerund)
        if gerund:
            leading = [w for w in self._words[max(self._first, position - 2) : position] if w not in _ADVERBS]
            return leading[-1:] != [] and leading[-1] in _BEFORE_GERUNDS
        if opened or self._continues(position) or self._arranges(position):
            return True
        for length in (1, 2, 3):
            tail = tuple(self._words[max(self._first, place - length + 1) : place + 1])
            if tail in lists.modals or tail in lists.advising:
                subject = self._words[max(self._first, place - length - 3) : place - length + 1]
                thing = tail in lists.modals and bool(subject) and not self._is_addressed(place - length)
                return not thing and not any(w in _OTHERS for w in subject)
            if len(tail) == length and (*tail, self._words[place + 1]) in lists.advising:
                return True
        if not denied or self._words[position - 1] not in ("not", "never"):
            return False
        helper = position - 2
        if self._words[helper : helper + 1] in (["does"], ["did"], ["has"], ["is"], ["was"], ["were"], ["would"]):
            return False
        doer = self._words[helper - 1] if helper - 1 >= self._first and not broken(document, helper) else ""
        return doer in _ADDRESSED or doer in lists.openers

    def _arranges(self, position: int) -> bool:
        """ "Ring the surgery to put off the vaccine": what the call is for is an order too."""
        begin = self._clause(position)[0]
        said = self._words[begin:position]
        return said[-1:] == ["to"] and not _CALLS.isdisjoint(said) and DENIERS.isdisjoint(said)

    def _is_addressed(self, place: int) -> bool:
        """Whether the patient does it: not in "iron can reduce the absorption"."""
        word = self._words[place]
        named = place > self._first and self._document.spelled(place)[:1].isupper()
        return (
            word in _ADDRESSED
            or word in self._lists.openers
            or named
            or word in ("we", "i", "her", "him", "also", "who")
        )

    def _continues(self, position: int) -> bool:
        """ "Use the new dose and return the old tablets": a second imperative after "and", with its object."""
        verb = self._verb_at(position)
        last = position + len(verb[0]) if verb else position + 1
        after = self._words[last : last + 1]
        return (
            position - 1 > self._first
            and self._words[position - 1] in ("and", "then")
            and bool(after)
            and after[0] in _OBJECTS
        )
