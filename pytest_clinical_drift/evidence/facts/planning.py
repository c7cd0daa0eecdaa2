"""Medicines that are only wished for, planned or offered: "consider X", "X was offered", "suggested X"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.facts.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.phrases import Cue, cues_of
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document


def is_planned(document: Document, mention: Term) -> bool:
    """A wish, plan or offer, not a prescription: "consider X", "X was offered", "change to X under consideration"."""
    clause_first, clause_stop = document.clause_span(mention.first)
    first = max(clause_first, mention.first - 8)
    if _is_ordered(document, mention, clause_first):
        return True
    cues = cues_of(document, STATUS_FILE)
    own_now = cues.between("started", max(clause_first, mention.first - 3), mention.first)
    for cue in cues.between("planned", first, min(clause_stop, mention.last + 12)):
        if not {"no", "not", "without"}.isdisjoint(document.words[max(clause_first, cue.first - 3) : cue.first]):
            continue  # "no change planned"
        leads = cue.first < mention.first
        if leads and any(started.first > cue.last for started in own_now):
            continue
        if _plan_before(document, cue, mention) if leads else _plan_after(document, cue, mention):
            return True
    return False


_ORDERS = frozenset(("start", "commence", "initiate", "begin", "introduce", "prescribe"))


def _is_ordered(document: Document, mention: Term, clause_first: int) -> bool:
    """ "Plan: start X 5 mg": the plain form of a verb that opens its clause."""
    for place in range(mention.first - 1, max(clause_first, mention.first - 4) - 1, -1):
        if document.words[place] in _ORDERS:
            return place == clause_first or document.gaps[place] not in ("", "-", "'s")
    return False


def _plan_before(document: Document, cue: Cue, mention: Term) -> bool:
    """ "consider X"; not "consider Y and X", nor a plan about the amount only."""
    if term_index(document).medicines_between(cue.last + 1, mention.first):
        return False
    if _taken_up(document, mention):
        return False
    return mention.first - cue.last <= 5 and _DOSE_PLANS.isdisjoint(document.words[cue.first : mention.first])


def _taken_up(document: Document, mention: Term) -> bool:
    """ "was suggested X, which she now takes": the plan has been carried out."""
    stop = min(document.sentence_span(mention.first)[1], mention.last + 14)
    return any(
        document.words[cue.first] in _TAKES and document.words[cue.first - 1] not in ("to", "not", "never", "before")
        for cue in cues_of(document, STATUS_FILE).between("started", mention.last + 1, stop)
    )


_TAKES = frozenset(("takes", "taking", "started", "now", "continues", "currently", "uses", "using", "commenced"))


_AFTERWARDS = frozenset(
    (
        "worth",
        "might",
        "possible",
        "possibility",
        "option",
        "under",
        "considered",
        "offered",
        "discussed",
        "proposed",
        "suggested",
        "planned",
        "being",
        "recommended",
        "one",
        "an",
        "as",
        "brought",
    )
)


def _plan_after(document: Document, cue: Cue, mention: Term) -> bool:
    """ "X was offered", "X 5 mg under consideration"."""
    if document.words[cue.first] not in _AFTERWARDS or cue.first - mention.last > 9:
        return False
    if term_index(document).medicines_between(mention.last + 1, cue.first):
        return False
    if document.words[cue.last + 1 : cue.last + 2] and document.words[cue.last + 1] in _JUDGED:
        return False  # "is considered safe": a judgement on what is taken
    if "as" in document.words[max(mention.last, cue.first - 4) : cue.first]:
        return False  # "takes it, as was recommended", "as your consultant recommended"
    return not any(gap[:1] in (";", "(") for gap in document.gaps[mention.last + 1 : cue.first + 1])


_JUDGED = frozenset(("compatible", "safe", "suitable", "appropriate", "acceptable", "effective", "adequate"))
# Plans about the amount leave the medicine as it is: "increase sertraline to 100 mg".
_DOSE_PLANS = word_set("intake", "dose_plans")
