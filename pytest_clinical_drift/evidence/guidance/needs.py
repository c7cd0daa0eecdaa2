"""What somebody needs ("that warrants an ambulance", "no need of antibiotics"), and what is in no hurry."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import COLON, HARD, advice_words, listed

_NEGATIONS = frozenset(["not", "never", "no", "hardly", "nor"])
_WHO = frozenset(
    [
        "longer",
        "you",
        "he",
        "she",
        "they",
        "which",
        "that",
        "it",
        "this",
        "will",
        "would",
        "does",
        "may",
        "might",
        "and",
    ]
)
_LEAVES_IT = frozenset(["no", "nothing", "will", "can", "could"])


class NeedReader:
    """Adds what a sentence says is needed, or can wait, to its drafts."""

    def __init__(self, sentence: Sentence, drafts: list[Draft], frame_starts: set[int]) -> None:
        self._sentence = sentence
        self._words = sentence.view.words
        self._drafts = drafts
        self._frame_starts = frame_starts
        self._adverbs = advice_words().adverbs

    def read(self) -> None:
        """Find needs and "no rush"."""
        self._needs()
        if "urgency" in self._sentence.categories:
            self._no_hurry()
        if not any(draft.effect == "wait" for draft in self._drafts):
            self._not_pressing()

    def _claimed(self, at: int) -> bool:
        return any(draft.first <= at < draft.end for draft in self._drafts)

    def _needs(self) -> None:
        """ "you need the 5 mg tablet", "that warrants an ambulance", "you won't need the second inhaler"."""
        words, sentence = self._words, self._sentence
        needs = listed("needs")
        self._is_emergency()
        for at in range(sentence.first, sentence.end - 1):
            if words[at] not in needs or sentence.limited(at) or self._claimed(at):
                continue
            no_need_for = words[at + 1] == "for" and (words[at - 1 : at] == ["no"] or words[at] == "calls")
            if not no_need_for and (words[at + 1] in ("to", "for", "not") or at + 1 in self._frame_starts):
                continue
            draft = self._needed(at)
            if draft is not None:
                self._drafts.append(draft)

    def _is_emergency(self) -> None:
        """ "That is a 999 emergency"."""
        words, sentence = self._words, self._sentence
        for at in range(sentence.first + 1, sentence.end):
            if words[at] != "emergency" or sentence.limited(at) or any(d.effect == "care" for d in self._drafts):
                continue
            before = words[max(sentence.first, at - 4) : at]
            if ("is" in before or "are" in before) and _NEGATIONS.isdisjoint(before) and not self._named_service(at):
                self._drafts.append(Draft(at, at + 1, "seek_care", "care", Mood(), (), "need"))
                return

    def _named_service(self, at: int) -> bool:
        return any(
            m.kind == "service" and m.first <= at < m.end and m.end - m.first > 1 for m in self._sentence.mentions
        )

    def _needed(self, at: int) -> Draft | None:
        words, sentence = self._words, self._sentence
        back = at
        while back > sentence.first and words[back - 1] in self._adverbs:
            back -= 1
        before = words[max(sentence.first, back - 2) : back]
        no_longer = words[max(0, at - 2) : at] == ["no", "longer"]
        negated = (
            no_longer or words[at + 1 : at + 2] == ["no"] or before[-1:] in (["not"], ["never"], ["hardly"], ["no"])
        )
        mood = Mood("should", False, negated)
        stop = at + 1
        while stop < min(at + 8, sentence.end) and not sentence.view.marks[stop] & (COLON | HARD):
            stop += 1
        near = [m for m in sentence.mentions if at < m.first < stop]
        services = tuple(m for m in near if m.kind == "service")
        if services or not listed("care_nouns").isdisjoint(words[at:stop]):
            return Draft(at, at + 1, "seek_care", "care", mood, services[:1], "need")
        things = tuple(m for m in near if m.kind in ("drug", "class", "treatment", "test"))
        who = before[-1:] == ["not"] or before[-1:] == [] or before[-1] in _WHO or before[-1] in advice_words().people
        if things and who and words[at] not in ("means", "warrant", "warrants", "deserves"):
            return Draft(at, at + 1, "take", "for", mood, things[:1], "need", statement=True)
        of_patient = words[at] in ("need", "needs") and before[-1:] in (["you"], ["not"])
        if of_patient and (negated or sentence.amounts().regimen):
            return Draft(at, at + 1, "take", "for", mood, None, "need", statement=True)
        return None

    def _no_hurry(self) -> None:
        """ "There's no rush over the lump": advice to leave it."""
        words = self._words
        for hit in self._sentence.hits:
            if hit.category != "urgency" or hit.value != "routine" or self._claimed(hit.first):
                continue
            if words[hit.first] in _LEAVES_IT or words[hit.end - 1] in ("urgent", "wait", "enough"):
                self._drafts.append(Draft(hit.first, hit.end, "wait", "wait", Mood(), (), "wait", statement=True))
                return

    def _not_pressing(self) -> None:
        """ "isn't something to rush about", "not an emergency"."""
        words, sentence = self._words, self._sentence
        for at in range(sentence.first, sentence.end):
            if words[at] not in ("rush", "hurry", "urgent", "emergency") or sentence.limited(at) or self._claimed(at):
                continue
            if not _NEGATIONS.isdisjoint(words[max(sentence.first, at - 4) : at]):
                self._drafts.append(Draft(at, at + 1, "wait", "wait", Mood(), (), "wait", statement=True))
                return
