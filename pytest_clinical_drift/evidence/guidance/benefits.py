"""Praise of a remedy: "naproxen will bring the swelling down", "half a tablet won't hurt"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.draft import Draft, Mood
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import Hit, advice_words

_MODALS = frozenset(["will", "should", "would", "may", "can", "might", "could"])
_JUDGED = frozenset(("drug", "class", "food", "activity", "treatment", "test"))


def read_benefit(sentence: Sentence, hit: Hit) -> Draft | None:
    """ "naproxen will bring the swelling down"."""
    words = sentence.view.words
    at = hit.first - 1
    negated = False
    while at >= sentence.first and (words[at] in advice_words().adverbs or words[at] == "not"):
        negated = negated or words[at] == "not"
        at -= 1
    if at < sentence.first or _plain_do(sentence, hit):
        return None
    harmless = _harmless(sentence, hit)
    if harmless and not negated:
        return None
    if words[at] not in _MODALS and not words[hit.first].endswith("s") and words[hit.end - 1] != "well":
        return None
    subject = tuple(m for m in sentence.subject(at) if m.kind in _JUDGED)
    if not subject:
        return None
    mood = Mood("may", False, negated and not harmless)
    return Draft(hit.first, hit.end, "take", "for", mood, subject[:1], words[hit.first], statement=True)


def _harmless(sentence: Sentence, hit: Hit) -> bool:
    """ "won't hurt", "won't do any harm"."""
    words = sentence.view.words
    if words[hit.first] in ("hurt", "harm"):
        return True
    return words[hit.first] == "do" and "harm" in words[hit.end : min(hit.end + 6, sentence.end)]


def _plain_do(sentence: Sentence, hit: Hit) -> bool:
    """ "will do the shopping" praises nothing; "will do", "would do your skin good" do."""
    if sentence.view.words[hit.first : hit.end] != ["do"] or hit.end >= sentence.end:
        return False
    after = sentence.view.words[hit.end : hit.end + 6]
    return after[0] not in ("for", "on", "with", "in", "at") and "good" not in after and "harm" not in after
