"""Praise of a remedy: "naproxen will bring the swelling down", "half a tablet won't hurt"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.completions import completed
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
    if words[hit.first] == "doing":
        # "I can't see it doing any harm"
        before = words[max(sentence.first, hit.first - 9) : hit.first]
        negated = "not" in before and "see" in before
    if at < sentence.first or _plain_do(sentence, hit):
        return None
    harmless = _harmless(sentence, hit)
    if harmless and not negated:
        return None
    praises = words[at] in _MODALS or words[hit.first].endswith("s") or words[hit.end - 1] == "well"
    if not harmless and not praises:
        return None
    subject = tuple(m for m in sentence.subject(at) if m.kind in _JUDGED)
    if not subject:
        return None
    mood = Mood("may", False, negated and not harmless)
    if harmless:
        act = _act(sentence, at)
        if act is not None:
            # "leaving out a dose won't matter"
            action, effect = completed(sentence, act) or (act.value, act.effect)
            return Draft(act.first, act.end, action, effect, mood, subject[:1], words[act.first])
    return Draft(hit.first, hit.end, "take", "for", mood, subject[:1], words[hit.first], statement=True)


def _act(sentence: Sentence, at: int) -> Hit | None:
    """The act that opens the clause, as in "skipping one won't hurt"."""
    start = sentence.clause_first(at)
    for hit in sentence.hits:
        if hit.category == "verb" and hit.first == start and sentence.view.words[start] in advice_words().gerunds:
            return hit
    return None


def _harmless(sentence: Sentence, hit: Hit) -> bool:
    """ "won't hurt", "won't do any harm"."""
    words = sentence.view.words
    if words[hit.first] in ("hurt", "harm", "matter", "doing"):
        return True
    return words[hit.first] == "do" and "harm" in words[hit.end : min(hit.end + 6, sentence.end)]


def _plain_do(sentence: Sentence, hit: Hit) -> bool:
    """ "will do the shopping" praises nothing; "will do", "would do your skin good" do."""
    if sentence.view.words[hit.first : hit.end] != ["do"] or hit.end >= sentence.end:
        return False
    after = sentence.view.words[hit.end : hit.end + 6]
    return after[0] not in ("for", "on", "with", "in", "at") and "good" not in after and "harm" not in after
