"""Facts that a medicine, or any medicine, is not taken."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.intake import Taking, taking
from pytest_clinical_drift.evidence.facts.no_words import NONE
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.facts.permission import Stance, stance
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.phrases import cues_of
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, word_set
from pytest_clinical_drift.evidence.text import Document

_MEDICATION = word_set("negative", "medication")


def no_medicine(fact: Fact, document: Document) -> Outcome:
    index = term_index(document)
    wanted = fact.medicines[0] if fact.medicines else None
    denied: list[tuple[int, int]] = []
    narrower: list[tuple[int, int]] = []
    undecided = [t for t in index.exact.get(wanted.id, ()) if t.weak] if wanted is not None else []
    for mention in (*index.medicines, *undecided):
        if mention.concept.kind != DRUG and _of_other_drug(document, mention):
            continue
        covered = wanted is None or mention.concept.id == wanted.id or wanted.id in mention.concept.ancestors
        wider = wanted is not None and mention.concept.id in wanted.ancestors
        if not covered and not wider:
            continue
        state = taking(document, mention)
        forbidden = state is Taking.NOW and stance(document, mention.first, mention.last) is Stance.FORBIDDEN
        past = reading(document, mention.first, mention.last).historical
        if state is Taking.NOW and covered and not past and not forbidden:
            return Outcome(CONTRADICTED, ((mention.first, mention.last),), f"{mention.concept.name} is taken")
        if forbidden or state is Taking.DENIED or (state is Taking.STOPPED and mention.concept.kind != DRUG):
            exact = wider or (wanted is not None and mention.concept.id == wanted.id)
            (denied if exact else narrower).append((mention.first, mention.last))
    if not denied:
        denied = all_medication_denied(document)
    if denied:
        return Outcome(RETAINED, (denied[0],))
    if narrower:
        return Outcome(PARTIAL, (narrower[0],), "denied only in part")
    return NOTHING


def _of_other_drug(document: Document, mention: Term) -> bool:
    """ "dipyridamole is his one blood thinner": the class word is said of a drug that is no member of it."""
    first = max(document.clause_span(mention.first)[0], mention.first - 6)
    before = term_index(document).medicines_between(first, mention.first)
    return (
        bool(before)
        and before[-1].concept.kind == DRUG
        and mention.concept.id not in before[-1].concept.ancestors
        and "only" in document.words[before[-1].last : mention.first]
        and "no" not in document.words[before[-1].last : mention.first]  # "paracetamol only, no NSAIDs"
    )


_NOT_THE_MEDICINE = word_set("negative", "not_the_medicine")
_PURPOSES = word_set("negative", "purposes")


def all_medication_denied(document: Document) -> list[tuple[int, int]]:
    """ "takes no medication", "Medications: none", "unmedicated"."""
    cues = cues_of(document, STATUS_FILE).between("unmedicated", 0, len(document))
    found = [(c.first, c.last) for c in cues if reading(document, c.first, c.last).affirmed]
    for position, word in enumerate(document.words):
        if word in _MEDICATION:
            after = position + 1
            if after < len(document) and not document.gaps[after] and document.words[after] in _NOT_THE_MEDICINE:
                continue  # "no known drug allergies", "no medication changes"
            none_follows = (
                after < len(document)
                and document.words[after] in NONE
                and document.lines[after] == document.lines[position]
            )
            before = document.words[max(0, position - 3) : position]
            if before and before[-1] in _PURPOSES:
                continue  # "no fever medicine": one sort, not all
            naive = after < len(document) and document.words[after] in ("naive", "free")
            if {"other", "further", "additional", "new"} & set(before):
                continue
            if (
                naive
                or reading(document, position, position).denied
                or (none_follows and document.gaps[after] not in ("", ","))
            ):
                found.append((position, position))
    return found
