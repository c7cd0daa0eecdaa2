"""Whether a medicine is taken: now, no longer, never, by someone else, or only asked about."""

from __future__ import annotations

from pytest_clinical_drift.evidence.mentions.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.mentions.regimen import read_regimen
from pytest_clinical_drift.evidence.mentions.state import reading
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.phrases import Cue, cues_of
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, word_set

NOW, STOPPED, PAST, DENIED_NOW = "now", "stopped", "past", "not taken"
ASKED, ANOTHER, ALLERGEN = "asked", "other", "allergen"
_TAKING = frozenset(("takes", "taking", "on", "prescribed", "uses", "using"))
_ALLERGY = ("allerg", "anaphyla", "intoleran", "hypersens")
_LINKS = word_set("facts", "links_to_an_allergy")
_MODIFIED = word_set("facts", "modified_by_a_medicine")
_HOLDS = frozenset(("held", "withheld", "hold", "paused", "suspended", "on"))
_VOID = word_set("facts", "voids_an_ending")
_BE = frozenset(("was", "were", "been", "be", "is", "are", "being", "got", "has", "have", "had"))
LIGHT = frozenset(("the", "her", "his", "their", "all", "any", "of", "a", "an", "taking", "using", "own"))


def intake(document: Document, mention: Term) -> str:
    """What a mention says about taking the medicine."""
    known: dict[tuple[int, int], str] = document.cache.setdefault("intakes", {})
    key = (mention.first, mention.last)
    if key not in known:
        known[key] = _decide(document, mention)
    return known[key]


def _decide(document: Document, mention: Term) -> str:
    context = reading(document, mention.first, mention.last)
    if context.other_person:
        return ANOTHER
    if _is_allergen(document, mention) or is_modifier(document, mention.last):
        return ALLERGEN
    if context.open:
        return ASKED
    if _replaced(document, mention) or ended(document, (mention.first, mention.last), "stopped"):
        return ASKED if context.hypothetical else STOPPED
    if ended(document, (mention.first, mention.last), "declined"):
        return DENIED_NOW
    if context.negated:
        return DENIED_NOW
    if context.hypothetical:
        return ASKED
    if context.historical and not context.dated:
        return PAST
    return NOW


def _is_allergen(document: Document, mention: Term) -> bool:
    labels = document.labels_of(mention.first)[:2]
    first, stop = document.clause_span(mention.first)
    listed = any("allerg" in label or "intoleran" in label or "reaction" in label for label in labels)
    if (
        listed
        and _TAKING.isdisjoint(document.words[first : mention.first])
        and not read_regimen(document, mention).times
    ):
        return True  # but not in "Allergies: penicillin. Takes metformin."
    for place in range(mention.last + 1, min(stop, mention.last + 4)):
        if document.words[place].startswith(_ALLERGY):
            return True
        if document.words[place] not in _LINKS:
            break
    medicines = term_index(document).medicines_between(max(first, mention.first - 12), mention.first)
    for place in range(mention.first - 1, max(first, mention.first - 12) - 1, -1):
        if document.words[place].startswith(_ALLERGY):
            return not any(other.last == place - 1 for other in medicines)  # "penicillin allergy and metformin"
        if document.words[place] not in _LINKS and not any(t.first <= place <= t.last for t in medicines):
            return False
    return False


def is_modifier(document: Document, last: int) -> bool:
    """ "clozapine clinic", "clozapine-related neutropenia": the medicine only says which."""
    after = last + 1
    return after < len(document) and document.gaps[after] in ("", "-") and document.words[after] in _MODIFIED


def ended(document: Document, span: tuple[int, int], label: str) -> bool:
    """Whether "stopped" (or "declined") is said of this very thing, in its clause."""
    begin, end = span
    first, stop = document.clause_span(begin)
    first, stop = max(first, begin - 12), min(stop, end + 16)
    index = term_index(document)
    for cue in cues_of(document, STATUS_FILE).between(label, first, stop):
        before = document.words[max(0, cue.first - 2) : cue.first]
        if document.words[cue.first] in _HOLDS or not _VOID.isdisjoint(before[-1:]) or "now" in before:
            continue
        if cue.first > end and (
            document.words[cue.last] == "on" or document.words[cue.last + 1 : cue.last + 2] == ["for"]
        ):
            continue  # "is not on file", "was on 12 January", "stopping for a rest"
        if cue.first > end and any("(" in gap for gap in document.gaps[end + 1 : cue.first - 2]):
            continue  # "150 mg (up from 100 mg, a change completed in May)"
        if cue.last < begin:
            between = document.words[cue.last + 1 : begin]
            light = all(word in LIGHT or word[:1].isdigit() or len(word) < 3 for word in between)
            light = light and not any(mark in gap for gap in document.gaps[cue.last + 1 : begin + 1] for mark in ";:()")
            if light and document.words[cue.last] not in ("to", "for", "with", "by"):
                return True
        elif cue.first > end:
            others = index.medicines_between(end + 1, cue.first)
            following = index.medicines_between(cue.last + 1, min(stop, cue.last + 4))
            links = document.words[cue.last] in ("for", "to", "with", "by")
            active = bool(following) and bool(before) and before[-1] not in _BE and not links
            if not others and not active and not (links and not following) and not _new_subject(document, end, cue):
                return True
    return False


def _new_subject(document: Document, last: int, cue: Cue) -> bool:
    """Something else was stopped: a word between that is no verb form, amount or light word."""
    between = document.words[last + 1 : cue.first]
    if any(word in ("when", "after", "because", "since", "while", "smoking", "and", "but") for word in between):
        return True
    return bool(term_index(document).between(MEASURE, last + 1, cue.first))


def _replaced(document: Document, mention: Term) -> bool:
    """ "switched from X to Y", "Y instead of X": X is the former one."""
    first = max(document.sentence_span(mention.first)[0], mention.first - 6)
    for cue in cues_of(document, STATUS_FILE).between("switch_from", first, mention.first):
        between = document.words[cue.last + 1 : mention.first]
        if any(mark in gap for gap in document.gaps[cue.last + 1 : mention.first + 1] for mark in ";:()"):
            continue
        if not {"no", "not", "never"}.isdisjoint(document.words[max(0, cue.first - 3) : cue.first]):
            continue  # "no cetirizine in place of adrenaline"
        passive = (
            document.words[cue.last] in ("replaced", "replaces", "replacing") and document.words[cue.first - 1] in _BE
        )
        if (
            cue.last < mention.first
            and not passive
            and all(w in LIGHT or w[:1].isdigit() or len(w) < 4 for w in between)
        ):
            return True
    return False
