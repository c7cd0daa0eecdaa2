"""Which of the amounts beside a medicine holds now: "increased from 50 to 100 mg", "target 20 mg", "until March"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.quantities.amounts import Amount
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies_between
from pytest_clinical_drift.evidence.reading.text import RATIO, Document
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.phrases import Cues, cues_of
from pytest_clinical_drift.evidence.terms.vocabulary import word_set

STATUS_FILE = "medication_status"
_REACH = 60  # tokens on either side of an amount that are looked at, so that a text without full stops stays linear

CURRENT, PREVIOUS, PLANNED = "current", "previous", "planned"
# These mark the amount they stand before as an earlier one whatever else is said …
_EARLIER = word_set("regimen", "earlier")
# … and these only beside another, current amount.
_PERHAPS_EARLIER = word_set("regimen", "perhaps_earlier")
_EARLIER_AFTER = frozenset({"until", "before", "previously", "initially", "originally"})
_UNSURE = frozenset(("if", "whether", "should", "could", "might", "may"))
_ASKED = frozenset(("whether", "asked", "asks", "asking", "wondered", "wonders", "wondering"))
_CHANGE_ORDERS = word_set("regimen", "change_orders")


def amount_roles(document: Document, mention: Term, own: list[Amount], end: int) -> list[str]:
    """For each amount beside a mention whether it is current, previous or planned."""
    cues = cues_of(document, STATUS_FILE)
    roles: list[str] = []
    boundary = mention.last + 1
    for number, amount in enumerate(own):
        following = own[number + 1].first if number + 1 < len(own) else end
        roles.append(_role(document, mention, amount, boundary, following, cues))
        boundary = amount.last + 1
    current = [n for n, role in enumerate(roles) if role == CURRENT and is_dose(document, mention, own[n])]
    if len(current) > 1:
        for n in current:
            before = document.words[max(0, own[n].first - 2) : own[n].first]
            if not _PERHAPS_EARLIER.isdisjoint(before):
                roles[n] = PREVIOUS
        marked = [n for n in current if roles[n] == CURRENT and _is_new(document, mention, own[n], cues)]
        if marked:
            for n in current:
                if n < marked[0]:
                    roles[n] = PREVIOUS
    return roles


def _is_new(document: Document, mention: Term, amount: Amount, cues: Cues) -> bool:
    """Whether an amount is what a change arrived at: "converted to 40 mg", "now 20 mg"."""
    before = document.words[amount.first - 1] if amount.first else ""
    if before in ("now", "currently", "→", "⇒", "➡"):
        return True
    return before == "to" and bool(cues.between("change", max(0, amount.first - 12), amount.first))


def _role(document: Document, mention: Term, amount: Amount, boundary: int, following: int, cues: Cues) -> str:
    words, gaps = document.words, document.gaps
    before = words[amount.first - 1] if amount.first > 0 else ""
    clause_first, clause_stop = document.clause_span(amount.first)
    clause_first, clause_stop = max(clause_first, amount.first - _REACH), min(clause_stop, amount.last + _REACH)
    two_before = words[max(0, amount.first - 3) : amount.first]
    if before in _EARLIER or (len(two_before) > 1 and two_before[-2] == "from" and before in ("about", "around", "a")):
        return PREVIOUS
    after = amount.last + 1
    # "50 → 100 mg", "50 mg to 100 mg" after "from" or a change word: the first is the earlier one.
    if after < len(words) and words[after] in ("→", "⇒", "➡") and not gaps[after].strip("(-"):
        return PREVIOUS
    for position in range(after, min(after + 4, clause_stop, following)):
        if gaps[position][:1] in ("(", ",", ";"):
            break  # "100 mg (previously 50 mg)": what follows is about the next amount
        if words[position] in _EARLIER_AFTER:
            return PREVIOUS
    lead_from = max(clause_first, boundary if amount.first > mention.last else amount.first - 12)
    plans = [c for c in cues.between("planned", lead_from, amount.first) if words[c.first - 1] not in ("no", "not")]
    # "may go up to 100 mg", "suggested going up to 100 mg"
    straight = any(c.last == amount.first - 1 or words[c.last + 1].endswith("ing") for c in plans)
    if (plans and (straight or not cues.between("now", amount.first - 1, amount.first))) or (
        _planned_after(document, amount, following, clause_stop, cues)
    ):
        return PLANNED
    if words[amount.last + 1 : amount.last + 2] and words[amount.last + 1] in ("less", "more", "lower", "higher"):
        return PLANNED  # "1 mg less every week": a step, not the dose
    leading = words[lead_from : amount.first]
    if before == "to" and not _UNSURE.isdisjoint(words[clause_first : amount.first]):
        return PLANNED
    if not _ASKED.isdisjoint(leading):
        return PLANNED
    if before == "to" and not _CHANGE_ORDERS.isdisjoint(words[clause_first : amount.first]):
        return PLANNED
    return CURRENT


def _planned_after(document: Document, amount: Amount, following: int, clause_stop: int, cues: Cues) -> bool:
    stop = min(clause_stop, following, amount.last + 9)
    return any(
        document.words[cue.first] not in ("may", "might", "on")
        for cue in cues.between("planned", amount.last + 1, stop)
        if not {";", ",", "("} & set(document.gaps[cue.first])
        and "as" not in document.words[cue.first - 4 : cue.first]  # "as was recommended", "as her doctor advised"
        and following - cue.last > 4  # "50 mg with a target dose of 100 mg": the cue goes with the next amount
    )


def is_dose(document: Document, mention: Term, amount: Amount) -> bool:
    """Whether an amount says how much of a medicine is taken."""
    if amount.ratio:
        return amount.first == mention.last + 1 or amount.unit is not None
    if amount.unit is not None:
        return bool(amount.unit.data["kind"] == "dose") and amount.dimension != "volume"
    # A bare number counts straight after the name, or where a frequency follows it.
    if document.kinds[amount.first] == RATIO or 1900 <= amount.value <= 2100:
        return False
    after = amount.last + 1
    if frequencies_between(document, after, after + 1):
        return document.words[amount.first] not in ("once", "twice", "thrice")
    arrow = (
        after < len(document) and document.words[after] in ("→", "to") and document.words[amount.first - 1] == "from"
    )
    return bool(arrow) and document.words[amount.first].replace(".", "").isdigit()
