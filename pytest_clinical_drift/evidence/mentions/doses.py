"""Which amount and which frequency beside a medicine are its own, and which of the amounts holds now."""

from pytest_clinical_drift.evidence.quantities.amounts import Amount
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies_between
from pytest_clinical_drift.evidence.reading.text import RATIO, Document
from pytest_clinical_drift.evidence.terms.index import phrases_between
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import word_set

_REACH = 60  # tokens on either side of an amount that are looked at, so that a text without full stops stays linear

# These mark the amount they stand before as an earlier one whatever else is said …
_EARLIER = word_set("regimen", "earlier")
# … and these only beside another, current amount.
_PERHAPS_EARLIER = word_set("regimen", "perhaps_earlier")
_EARLIER_AFTER = frozenset({"until", "before", "previously", "initially", "originally"})
_UNSURE = frozenset(("if", "whether", "should", "could", "might", "may")) | word_set("regimen", "change_orders")
_ASKED = frozenset(("whether", "asked", "asks", "asking", "wondered", "wonders", "wondering"))


def current_amounts(document: Document, mention: Term, own: list[Amount], end: int) -> list[Amount]:
    """Amounts beside a mention that hold now, and are not earlier, planned or only asked about."""
    stops = [*(amount.first for amount in own[1:]), end]
    starts = [mention.last + 1, *(amount.last + 1 for amount in own)]
    spans = zip(own, starts, stops, strict=False)
    current = [amount for amount, *span in spans if _holds(document, mention, amount, *span)]
    doses = [amount for amount in current if is_dose(document, mention, amount)]
    leading = {a: document.words[max(0, a.first - 2) : a.first] for a in doses if len(doses) > 1}
    return [amount for amount in current if _PERHAPS_EARLIER.isdisjoint(leading.get(amount, ()))]


def _holds(document: Document, mention: Term, amount: Amount, boundary: int, following: int) -> bool:
    """Whether an amount holds now; the amounts before and behind it end at `boundary` and begin at `following`."""
    words, gaps = document.words, document.gaps
    clause_first, clause_stop = document.clause_span(amount.first)
    clause_first, clause_stop = max(clause_first, amount.first - _REACH), min(clause_stop, amount.last + _REACH)
    before = words[amount.first - 1] if amount.first > 0 else ""
    if before in ("about", "around", "a") and amount.first > 1 and words[amount.first - 2] == "from":
        before = "from"
    after = amount.last + 1
    arrow = words[after : after + 1] in (["→"], ["⇒"], ["➡"]) and not gaps[after].strip("(-")  # "50 → 100 mg"
    if before in _EARLIER or arrow:
        return False
    for position in range(after, min(after + 4, clause_stop, following)):
        if gaps[position][:1] in ("(", ",", ";"):
            break  # "100 mg (previously 50 mg)": what follows is about the next amount
        if words[position] in _EARLIER_AFTER:
            return False
    lead_from = max(clause_first, boundary if amount.first > mention.last else amount.first - 12)
    plans = [
        c
        for c in phrases_between(document, "planned", lead_from, amount.first)
        if words[c.first - 1] not in ("no", "not")
    ]
    # "may go up to 100 mg", "suggested going up to 100 mg"
    straight = any(c.last == amount.first - 1 or words[c.last + 1].endswith("ing") for c in plans)
    if plans and (straight or not phrases_between(document, "now", amount.first - 1, amount.first)):
        return False
    unsure = before == "to" and not _UNSURE.isdisjoint(words[clause_first : amount.first])
    return not unsure and _ASKED.isdisjoint(words[lead_from : amount.first])


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
    counted = document.words[amount.first] in ("once", "twice", "thrice")
    return bool(frequencies_between(document, after, after + 1)) and not counted


_LIGHT = word_set("regimen", "light") | word_set("medication", "regimen_labels") | {"freq"}


def stands_with(document: Document, before: int, first: int) -> bool:
    """Whether nothing but light words stands between token `before` and `first`."""
    between = document.words[before + 1 : first]
    parted = any(mark in gap for gap in document.gaps[before + 1 : first + 1] for mark in ";–")
    return not parted and all(word in _LIGHT or word[:1].isdigit() for word in between)
