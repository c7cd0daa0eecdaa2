"""What has to stand with the core of a fact: qualifiers, words, quantities, how often, when."""

from __future__ import annotations

from pytest_clinical_drift.evidence.facts.fact import Fact, Slot
from pytest_clinical_drift.evidence.facts.places import Scope, Span, places_of, refuses, stated
from pytest_clinical_drift.evidence.mentions.state import reading
from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts, same
from pytest_clinical_drift.evidence.quantities.dates import Date, dates
from pytest_clinical_drift.evidence.quantities.frequencies import Frequency, frequencies_between
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import MEASURE, QUALIFIER

_BESIDE = 5


class Details:
    """Compares the details of a fact with the surroundings of one mention of its core."""

    def __init__(self, document: Document, fact: Fact, anchor: Span) -> None:
        self.document, self.fact, self.anchor = document, fact, anchor
        self.scope = Scope(document, anchor[0])
        self.missing: list[str] = []
        self.clash = ""
        self.rule = "other-figure"
        self.sure = True
        self.spans: list[Span] = [anchor]

    def compare(self) -> Details:
        """Fill `missing` and `clash`."""
        for slot in self.fact.details:
            if slot.concept is not None and slot.concept.kind == QUALIFIER:
                self._qualifier(slot)
            elif slot.concept is None or slot.concept.kind != MEASURE or not self.fact.amounts:
                self._slot(slot)
        for amount in self.fact.amounts:
            self._amount(amount)
        if self.fact.rates and not self.fact.amounts:
            self._rate()
        for date in self.fact.dates:
            self._date(date)
        if self.rule == "other-qualifier" and self.fact.dates and "date" in self.missing:
            self.sure = False  # the emergency operation of 2021 is not the planned one of August
        return self

    def _date(self, wanted: Date) -> None:
        near = [d for d in dates(self.document) if self.scope.holds(d.first)]
        agreeing = [d for d in near if wanted.agrees(d)]
        other = [
            d
            for d in near
            if wanted.clashes(d) and 0 < d.first - self.anchor[1] <= _BESIDE and self.scope.inside(d.first)
        ]
        if agreeing:
            self.spans.append((agreeing[0].first, agreeing[0].last))
        elif other and self.clash:
            self.sure = False
        elif other:
            self.clash, self.rule, self.sure = "another date", "other-date", False
            self.spans.append((other[0].first, other[0].last))
        else:
            self.missing.append("date")

    def _slot(self, slot: Slot) -> None:
        found = stated(self.document, slot, self.scope)
        if found is None and slot.concept is not None:
            found = stated(self.document, slot)  # what has a name of its own may stand elsewhere
        if found is not None:
            self.spans.append(found)
            return
        near = [p for p in places_of(self.document, slot) if slot.concept is not None or self.scope.inside(p[0])]
        contexts = [(place, reading(self.document, *place)) for place in near]
        turned = [p for p, c in contexts if (c.affirmed if slot.denied else c.denied)]
        if turned and not slot.denied and refuses(self.fact.document.words):
            self.spans.append(turned[0])
        elif turned:
            said = "stated, though the fact denies it" if slot.denied else "denied"
            self.clash, self.rule, self.sure = f"{slot.text}: {said}", "denied-detail", slot.concept is not None
            self.spans.append(turned[0])
        else:
            self.missing.append(slot.text)

    def _qualifier(self, slot: Slot) -> None:
        document = self.document
        wanted = slot.concept
        beside = []
        for term in term_index(document).by_kind.get(QUALIFIER, ()):
            if wanted is None or term.concept.group != wanted.group or term.weak or not self.scope.holds(term.first):
                continue
            if term.concept is wanted or wanted.name in term.concept.name.split("-"):
                self.spans.append((term.first, term.last))
                return
            if self._is_beside(term.first, term.last):
                beside.append(term)
        if places_of(document, slot) and wanted is None:
            return
        if beside:
            self.clash, self.rule = f"{beside[0].concept.name} instead of {slot.text}", "other-qualifier"
            self.spans.append((beside[0].first, beside[0].last))
        else:
            self.missing.append(slot.text)

    def _is_beside(self, first: int, last: int) -> bool:
        low, high = (last + 1, self.anchor[0]) if last < self.anchor[0] else (self.anchor[1] + 1, first)
        if not self.scope.inside(first) or high - low > _BESIDE:
            return False
        return not any(mark in gap for gap in self.document.gaps[low : high + 1] for mark in ";,.")

    def _amount(self, wanted: Amount) -> None:
        near = [a for a in amounts(self.document) if self.scope.holds(a.first)]
        equal = [a for a in near if _same(a, wanted)]
        if equal:
            self.spans.append((equal[0].first, equal[0].last))
            return
        rivals = [
            a for a in near if self.scope.inside(a.first) and wanted.dimension and a.dimension == wanted.dimension
        ]
        if wanted.dimension == "time":
            rivals = [a for a in rivals if a.unit is wanted.unit and self._same_span(wanted, a)]
        if rivals:
            self.sure = wanted.dimension != "time"
            self._clash(rivals[0], wanted)
        elif wanted.dimension != "time":
            self.missing.append(self.fact.document.quote(wanted.first, wanted.last))

    def _clash(self, stated_one: Amount | Frequency, wanted: Amount | Frequency) -> None:
        own = self.fact.document.quote(wanted.first, wanted.last)
        self.clash = f"{self.document.quote(stated_one.first, stated_one.last)} instead of {own}"
        self.spans.append((stated_one.first, stated_one.last))

    def _same_span(self, wanted: Amount, stated_amount: Amount) -> bool:
        """ "two weeks ago" against "three weeks ago", "28 weeks pregnant": times that are said in the same way."""
        behind = self.fact.document.words[wanted.last + 1 : wanted.last + 2]
        alike = bool(behind) and behind == self.document.words[stated_amount.last + 1 : stated_amount.last + 2]
        beside = stated_amount.first - self.anchor[1] in (1, 2) or self.anchor[0] - stated_amount.last in (1, 2)
        core = places_of(self.fact.document, self.fact.core)
        own = any(wanted.first - last in (1, 2) or first - wanted.last in (1, 2) for first, last in core)
        return alike or (beside and own)

    def _rate(self) -> None:
        wanted = self.fact.rates[0]
        near = frequencies_between(self.document, self.scope.first, self.scope.stop)
        if not near:
            self.missing.append("how often")
            return
        for rate in near:
            alike = same(rate.per_day, wanted.per_day, 0.06 * wanted.per_day)
            if alike and (not wanted.time or rate.time == wanted.time):
                self.spans.append((rate.first, rate.last))
                return
        close = [r for r in near if abs(r.first - self.anchor[1]) <= 3 or abs(self.anchor[0] - r.last) <= 2]
        if close:
            self.rule = "other-figure"
            self._clash(close[0], wanted)
        else:
            self.missing.append("how often")


def _same(stated_amount: Amount, wanted: Amount) -> bool:
    if wanted.ratio:
        return stated_amount.ratio == wanted.ratio
    if wanted.unit is None or stated_amount.unit is None:
        return same(stated_amount.value, wanted.value)
    return stated_amount.dimension == wanted.dimension and same(
        stated_amount.base, wanted.base, 1e-3 * abs(wanted.base)
    )
