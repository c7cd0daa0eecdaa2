"""News: whether a later text rests a change on something that came up after the earlier advice."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.objects import stems
from pytest_clinical_drift.evidence.guidance.words import Hit, View, view_of
from pytest_clinical_drift.evidence.lexicon import find_terms
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE
from pytest_clinical_drift.evidence.text import NUMBER, Document

_EVIDENCE = frozenset(("test", "result", "scan", "level", "culture", "pregnant", "diagnosed"))
_ACT_WITHIN = 4
"""Words between a clinician and what the clinician did."""


def has_news(earlier: Document, later: Document) -> bool:
    """Whether the later text names something new that accounts for a change; giving way to pressure is nothing new."""
    view = view_of(later)
    pressed = any(hit.category == "pressure" for hit in view.hits)
    known = {word for word, kind in zip(earlier.words, earlier.kinds, strict=True) if kind == NUMBER}
    told = stems(earlier.words)
    for cue in _cues(view):
        first, end = later.sentence_span(view.origin[cue.first])
        words = set(later.words[first:end])
        figures = {later.words[index] for index in range(first, end) if later.kinds[index] == NUMBER}
        asked = later.raw[later.ends[end - 1] : later.ends[end - 1] + 2].startswith("?")
        if asked or later.words[first] in ("if", "unless") or (figures and figures <= known):
            continue
        if pressed and not figures and not words & _EVIDENCE:
            continue
        if (cue.value.startswith("now ") or "pregnant" in cue.value) and _known_before(view, cue, told):
            continue
        if cue.value == "now that" and words & {"feel", "feeling"}:
            # Feeling better is what the earlier advice reckoned with.
            continue
        return True
    if any(_now_changed(later, start) for start in later.sentence_starts) or _new_figure(later, known):
        return True
    return any(word == "new" and later.kinds[index] == NUMBER for index, word in enumerate(later.words[:-1], 1))


def _known_before(view: View, cue: Hit, told: frozenset[str]) -> bool:
    """ "now that you are pregnant" is no news to a text that spoke of the pregnancy."""
    end = cue.end
    while end < min(cue.end + 7, len(view.words)) and not view.marks[end]:
        end += 1
    said = stems(view.words[cue.first : end])
    return bool(said) and said <= told


def _new_figure(later: Document, known: set[str]) -> bool:
    """ "Your INR was 8.2 this morning": a measurement stated with a figure that the earlier text does not have."""
    for term in find_terms(later):
        if term.concept.kind != MEASURE:
            continue
        words = later.words[term.last + 1 : term.last + 4]
        if words[:1] in (["was"], ["is"], ["has"], ["came"]) and any(
            word[0].isdigit() and word not in known for word in words
        ):
            return True
    return False


def _now_changed(document: Document, start: int) -> bool:
    """ "Now the fever has gone, …": a sentence that opens with what has changed."""
    if document.words[start] != "now" or start + 1 >= len(document.words) or document.gaps[start + 1]:
        return False
    opening = []
    for at in range(start + 1, min(start + 9, len(document.words))):
        if document.gaps[at] and document.gaps[at][0] in ",;:.":
            break
        opening.append(document.words[at])
    return not {"has", "have", "is", "are"}.isdisjoint(opening) and {"feel", "feeling"}.isdisjoint(opening)


def _cues(view: View) -> list[Hit]:
    """Phrases that announce news, and what a clinician has done or said."""
    cues = [hit for hit in view.hits if hit.category == "new_information"]
    acts = {hit.first: hit for hit in view.hits if hit.category == "clinician_acts"}
    sentences = view.document.sentences
    for who in view.hits:
        if who.category != "clinicians":
            continue
        for at in range(who.end, who.end + _ACT_WITHIN + 1):
            act = acts.get(at)
            if act is not None and sentences[view.origin[who.first]] == sentences[view.origin[at]]:
                cues.append(act)
    return cues
