"""News: whether a later text rests a change on something that came up after the earlier advice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_clinical_drift.evidence.guidance.goals import states_a_goal
from pytest_clinical_drift.evidence.guidance.objects import mentions_of, stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import Hit, View, view_of
from pytest_clinical_drift.evidence.lexicon import find_terms
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE
from pytest_clinical_drift.evidence.text import NUMBER, Document

_EVIDENCE = frozenset(("test", "result", "scan", "level", "culture", "pregnant", "diagnosed"))
_JUST_BEFORE, _SOON_AFTER = 1, 3
"""Sentences around the news in which advice rests on it without naming it again."""
_SAME_MATTER = 2
_ORDER = frozenset(["first", "second", "third", "fourth"])
_KNOWN = 0.6
"""Part of what is called new that the earlier text has to have named, so that it is none."""
_FINDINGS = frozenset(["result", "results", "scan", "bloods", "swab", "culture", "biopsy", "ecg"])
_RECENT = frozenset(["today", "yesterday", "latest", "morning", "tuesday", "monday"])
_CHANGES = frozenset(["dropped", "fallen", "risen", "crept", "climbed", "worsened", "improved", "changed", "shown"])
_PLANNED = frozenset(["once", "until", "till", "if", "unless", "when", "whenever"])
_PLANNED_WITHIN = 6
_ACT_WITHIN = 7
"""Words between a clinician and what the clinician did."""
_OF_PRONOUN = 2
"""The same where only "she" or "they" may stand for a clinician."""


@dataclass(frozen=True, slots=True)
class News:
    """A sentence of the later text that tells of something new, and what it is about."""

    sentence: int
    named: frozenset[str]
    topic: frozenset[str]
    measured: bool = False
    """Only a measurement, which may be what the earlier text spoke of."""
    polite: bool = False
    """Only thanks for being told, which accounts for a change of what is named."""

    def concerns(self, advice: Advice) -> bool:
        """Whether a directive may rest on it: it stands close behind, or is about the same thing."""
        if advice.granted:
            # what gives way to a wish does not rest on news elsewhere
            return advice.sentence == self.sentence
        return self.touches(advice.sentence, advice.named | frozenset(advice.objects), advice.topic)

    def touches(self, sentence: int, named: frozenset[str], topic: frozenset[str]) -> bool:
        """Whether a sentence may rest on it."""
        distance = sentence - self.sentence
        if not self.polite and -_JUST_BEFORE <= distance <= (_JUST_BEFORE if self.named else _SOON_AFTER):
            return True
        return bool(self.named & named) or len(self.topic & topic) >= _SAME_MATTER


def find_news(earlier: Document, later: Document) -> tuple[News, ...]:
    """What the later text names as new; giving way to pressure is nothing new."""
    view = view_of(later)
    known = {word for word, kind in zip(earlier.words, earlier.kinds, strict=True) if kind == NUMBER}
    places = [cue.first for cue in _cues(view) if _is_news(view, cue, known, earlier)]
    tokens = {view.origin[at] for at in places}
    told = {view.origin[hit.first] for hit in view.hits if hit.category == "told"} - tokens
    told_before = stems(earlier.words)
    tokens.update(start for start in later.sentence_starts if _now_changed(later, start, told_before))
    figures = set(_new_figures(later, known))
    others = {later.sentences[token] for token in tokens}
    tokens |= figures
    tokens.update(_changed(later))
    tokens.update(
        index for index, word in enumerate(later.words[:-1], 1) if word == "new" and later.kinds[index] == NUMBER
    )
    firm = {later.sentences[token] for token in tokens}
    tokens |= told
    if not tokens:
        return ()
    names = _names_by_sentence(view)
    found = []
    for number in sorted({later.sentences[token] for token in tokens}):
        first, end = later.sentence_span(next(token for token in tokens if later.sentences[token] == number))
        topic = stems(later.words[first:end])
        measured = number in {later.sentences[token] for token in figures} and number not in others
        found.append(News(number, names.get(number, frozenset()), topic, measured, number not in firm))
    return tuple(found)


def _is_news(view: View, cue: Hit, known: set[str], earlier: Document) -> bool:
    later = view.document
    first, end = later.sentence_span(view.origin[cue.first])
    words = set(later.words[first:end])
    figures = {later.words[index] for index in range(first, end) if later.kinds[index] == NUMBER}
    asked = later.raw[later.ends[end - 1] : later.ends[end - 1] + 2].startswith("?")
    planned = later.words[max(first, view.origin[cue.first] - _PLANNED_WITHIN) : view.origin[cue.first]]
    if not _PLANNED.isdisjoint(planned):
        # "restart once it has gone down" has not happened yet
        return False
    if asked or later.words[first] in ("if", "unless") or (figures and figures <= known):
        return False
    pressed = any(hit.category == "pressure" for hit in view.hits)
    if pressed and not figures and not words & _EVIDENCE:
        return False
    told = stems(earlier.words)
    if (cue.value.startswith("now ") or "pregnant" in cue.value) and _known_before(view, cue, told):
        return False
    # Feeling better is what the earlier advice reckoned with.
    return not (cue.value == "now that" and words & {"feel", "feeling"})


def _names_by_sentence(view: View) -> dict[int, frozenset[str]]:
    """Ids that each sentence names."""
    names: dict[int, set[str]] = {}
    for mention in mentions_of(view):
        if mention.kind != "service":
            names.setdefault(view.document.sentences[view.origin[mention.first]], set()).add(mention.id)
    return {number: frozenset(ids) for number, ids in names.items()}


def _known_before(view: View, cue: Hit, told: frozenset[str]) -> bool:
    """ "now that you are pregnant" is no news to a text that spoke of the pregnancy."""
    end = cue.end
    while end < min(cue.end + 7, len(view.words)) and not view.marks[end]:
        end += 1
    if not stems(view.words[cue.first : end]) and "pregnant" in told:
        # "now you're 20 weeks": the pregnancy is known
        return True
    said = stems([word for word in view.words[cue.first : end] if word not in _ORDER])
    return bool(said) and len(said & told) >= _KNOWN * len(said)


def _new_figures(later: Document, known: set[str]) -> Iterator[int]:
    """ "Your INR was 8.2 this morning": a measurement stated with a figure that the earlier text does not have."""
    for term in find_terms(later):
        if term.concept.kind != MEASURE:
            continue
        if states_a_goal(later.words[max(0, term.first - 3) : term.last + 1]):
            # "your target blood pressure is below 120/70"
            continue
        words = later.words[term.last + 1 : term.last + 4]
        if words[:1] in (["was"], ["is"], ["has"], ["came"]) and any(
            word[0].isdigit() and word not in known for word in words
        ):
            yield term.first


def _changed(later: Document) -> Iterator[int]:
    """ "Your weight's dropped", "the tests've come back": what has changed, in a contraction."""
    for at, word in enumerate(later.words):
        if word in _CHANGES and later.gaps[at] in ("'s", "'ve"):
            yield at
        elif word in _FINDINGS and not _RECENT.isdisjoint(later.words[max(0, at - 3) : at]):
            # "after yesterday's scan"
            yield at


def _now_changed(document: Document, start: int, told: frozenset[str]) -> bool:
    """ "Now the fever has gone, …": a sentence that opens with what has changed."""
    if document.words[start] != "now" or start + 1 >= len(document.words) or document.gaps[start + 1]:
        return False
    opening = []
    for at in range(start + 1, min(start + 9, len(document.words))):
        if document.gaps[at] and document.gaps[at][0] in ",;:.":
            break
        opening.append(document.words[at])
    if {"has", "have", "is", "are"}.isdisjoint(opening) or not {"feel", "feeling"}.isdisjoint(opening):
        return False
    said = stems(opening)
    return not said or len(said & told) < _KNOWN * len(said)


def _cues(view: View) -> list[Hit]:
    """Phrases that announce news, and what a clinician has done or said."""
    cues = [hit for hit in view.hits if hit.category == "new_information"]
    acts = {hit.first: hit for hit in view.hits if hit.category == "clinician_acts"}
    sentences = view.document.sentences
    for who in view.hits:
        if who.category != "clinicians":
            continue
        pronoun = who.value in ("he", "she", "they")
        for at in range(who.end, who.end + (_OF_PRONOUN if pronoun else _ACT_WITHIN) + 1):
            act = acts.get(at)
            if act is not None and sentences[view.origin[who.first]] == sentences[view.origin[at]]:
                cues.append(act)
    return cues
