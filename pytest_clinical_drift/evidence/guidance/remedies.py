"""What becomes of a remedy ("clopidogrel stays for a year") and what it will do ("will soon have you right")."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import HARD, Hit, advice_words, listed

_REMEDIES = frozenset(("drug", "class", "treatment"))
_NEAR = 2
_NEGATIONS = frozenset(["not", "never", "no", "hardly", "nor"])
_PRONOUNS = frozenset(["it", "this", "these", "those"])
_TRANSITIVE = frozenset(["stop", "stops", "end", "ends", "finish", "finishes"])
_OPENS_OBJECT = frozenset(["the", "your", "a", "an", "his", "her", "their", "you", "him", "them", "it"])


class RemedyReader:
    """Adds statements with a remedy as their subject to the drafts of one sentence."""

    def __init__(self, sentence: Sentence, drafts: list[Draft]) -> None:
        self._sentence = sentence
        self._words = sentence.view.words
        self._drafts = drafts
        self._adverbs = advice_words().adverbs

    def read(self) -> None:
        """Find both."""
        if "subject_acts" in self._sentence.categories:
            self._subject_acts()
        self._promised()

    def _claimed(self, at: int) -> bool:
        return any(draft.first <= at < draft.end for draft in self._drafts)

    def _subject_acts(self) -> None:
        """ "Clopidogrel stays for a year", "the statin has had its day": what becomes of a thing."""
        sentence = self._sentence
        for hit in sentence.hits:
            if hit.category != "subject_acts" or sentence.limited(hit.first) or self._claimed(hit.first):
                continue
            at = hit.first
            while at > sentence.first and (self._words[at - 1] in self._adverbs or self._words[at - 1] == "and"):
                at -= 1
            subject = [m for m in sentence.mentions if m.kind in _REMEDIES and m.end <= at and at - m.end <= _NEAR]
            if (
                not subject
                or self._acts_on_something(hit)
                or not self._things_only(subject[-1].end, at)
                or any(h.category == "subject_acts" and h.first < hit.first < h.end for h in sentence.hits)
            ):
                continue
            action, effect = ("continue", "for") if hit.value == "for" else ("stop", "against")
            targets = (subject[-1],)
            self._drafts.append(Draft(hit.first, hit.end, action, effect, Mood(), targets, "subject", statement=True))
            return

    def _acts_on_something(self, hit: Hit) -> bool:
        """ "can stop the cells dividing": what a thing does, not what becomes of it."""
        following = self._words[hit.end : hit.end + 1]
        return self._words[hit.end - 1] in _TRANSITIVE and bool(following) and following[0] in _OPENS_OBJECT

    def _things_only(self, first: int, last: int) -> bool:
        """Whether nothing but plain nouns ("capsules", "injection") stands between a thing and what becomes of it."""
        between = self._words[first:last]
        stop = listed("copulas") | listed("persons") | listed("adjunct") | _NEGATIONS | _PRONOUNS
        return stop.isdisjoint(between) and not any(mark & HARD for mark in self._sentence.view.marks[first : last + 1])

    def _promised(self) -> None:
        """ "Loperamide after each motion will soon have you right": what a remedy will do speaks for it."""
        words, sentence = self._words, self._sentence
        if self._drafts or "will" not in words[sentence.first : sentence.end]:
            return
        at = words.index("will", sentence.first, sentence.end)
        subject = [m for m in sentence.subject(at) if m.medicine]
        if not subject or subject[0].first - sentence.clause_first(at) > 3 or sentence.limited(at):
            return
        if listed("speaks_against").isdisjoint(words[sentence.clause_first(at) : sentence.end]):
            targets = tuple(subject[:1])
            draft = Draft(at, at + 1, "take", "for", Mood("may"), targets, "will", statement=True, weak=True)
            self._drafts.append(draft)
