"""Openings that govern a thing without any verb ("there's no harm in a beer"), and swaps of one thing for another."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import COLON, HARD, Hit, listed

_GOVERNED = frozenset(("drug", "class", "food", "treatment", "activity"))
_WITHIN = 6
"""Words from an opening to the thing it governs."""
_SWAPS = frozenset(["swap", "replace", "switch", "exchange", "change", "substitute"])
_BETWEEN = frozenset(["for", "with", "to"])


class NounReader:
    """Adds what openings before a thing and swaps advise to the drafts of one sentence."""

    def __init__(self, sentence: Sentence, drafts: list[Draft]) -> None:
        self._sentence = sentence
        self._words = sentence.view.words
        self._drafts = drafts

    def read(self) -> None:
        """Find both."""
        self._swaps()
        for hit in self._sentence.hits:
            if hit.category == "noun_frames" and not self._sentence.limited(hit.first) and not self._claimed(hit):
                draft = self._governed(hit)
                if draft is not None:
                    self._drafts.append(draft)

    def _claimed(self, hit: Hit) -> bool:
        return any(hit.first <= draft.first <= hit.end + 1 for draft in self._drafts)

    def _governed(self, hit: Hit) -> Draft | None:
        thing = self._next_thing(hit.end)
        if thing is None:
            return None
        before = self._words[max(self._sentence.first, hit.first - 3) : hit.first]
        negated = "not" in before or "never" in before
        if hit.value == "against":
            mood = Mood("should", negated)
            return Draft(hit.first, thing.end, "avoid", "against", mood, (thing,), "against", statement=True)
        mood = Mood("may" if hit.value == "may" else "should", negated)
        return Draft(hit.first, thing.end, "take", "for", mood, (thing,), "offer", statement=True)

    def _next_thing(self, at: int) -> Mention | None:
        """The first thing from a place on, when no verb and no mark stands before it."""
        marks = self._sentence.view.marks
        for mention in self._sentence.mentions:
            if mention.first < at or mention.kind not in _GOVERNED:
                continue
            if mention.first - at > _WITHIN or any(mark & (COLON | HARD) for mark in marks[at : mention.first + 1]):
                return None
            verbs = {hit.first for hit in self._sentence.hits if hit.category == "verb"}
            governed = any(index in verbs and self._words[index].endswith("ing") for index in range(at, mention.first))
            return None if governed or listed("persons") & set(self._words[at : mention.first]) else mention
        return None

    def _swaps(self) -> None:
        """ "Swap the ibuprofen for paracetamol": one goes, the other comes."""
        for draft in list(self._drafts):
            if draft.verb not in _SWAPS or draft.effect != "act" or draft.mood.negated or draft.mood.no_need:
                continue
            things = [m for m in self._sentence.mentions if m.kind in _GOVERNED and m.first >= draft.end]
            if len(things) < 2 or things[0].first - draft.end > 3 or things[0].id == things[1].id:
                continue
            between = self._words[things[0].end : things[1].first]
            if len(between) <= 4 and between and between[0] in _BETWEEN:
                draft.action, draft.effect, draft.targets = "stop", "against", (things[0],)
                place = things[1].first, things[1].end
                self._drafts.append(Draft(*place, "start", "for", draft.mood, (things[1],), "swap"))
