"""Numbers of facts about a patient's life: another count, amount or interval than the fact's contradicts it."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.endings import whole_statements
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.intervals import counted, rates_beside
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.dates import dates
from pytest_clinical_drift.evidence.reading.frequencies import MOST_DAYS, Frequency, frequencies
from pytest_clinical_drift.evidence.reading.quantities import Amount, amounts, same
from pytest_clinical_drift.evidence.reading.wording import loose_stem
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import QUALIFIER, word_set
from pytest_clinical_drift.evidence.text import CELL, Document

_FAR = 25  # tokens within which an interval agrees with the fact, though another may stand nearer
_NEAR = 8  # tokens from the words that state the fact within which an interval is its own


def with_figures(fact: Fact, document: Document, outcome: Outcome) -> Outcome:
    """The outcome once the fact's own numbers and intervals have been compared with those beside its statement."""
    side = _other_side(fact, document, outcome)
    if side is not None:
        return Outcome(CONTRADICTED, ((side.first, side.last),), f"{side.concept.name} instead of the other side")
    day = _other_weekdays(fact, document, outcome)
    if day is not None:
        return Outcome(CONTRADICTED, ((day, day),), "another day of the week")
    aged = _other_ages(fact, document, outcome)
    if aged is not None:
        return Outcome(CONTRADICTED, ((aged, aged + 1),), "other ages")
    for wanted in fact.numbers:
        other = _other_amount(fact, document, outcome, wanted)
        if other is not None:
            said, meant = document.quote(other.first, other.last), fact.document.quote(wanted.first, wanted.last)
            return Outcome(CONTRADICTED, ((other.first, other.last),), f"{said} instead of {meant}")
    other_date = _other_date(fact, document, outcome)
    if other_date is not None:
        return Outcome(CONTRADICTED, (other_date,), "another date")
    rates = [f for f in frequencies(fact.document) if f.per_day > 0 and not (_in_amount(fact, f) or _in_name(fact, f))]
    if len(rates) != 1:
        return outcome
    places = [*outcome.evidence, *((token, token) for token in whole_statements(fact, document))]
    for concept in fact.conditions[:1]:
        index = term_index(document)
        stated_at = (*index.exact.get(concept.id, ()), *index.within.get(concept.id, ()))
        own = (t for t in stated_at if reading(document, t.first, t.last).affirmed)
        places += [(term.first, term.last) for term in own]
    timed = bool(rates[0].time)
    stated = rates_beside(document, places, _NEAR, timed=timed)
    wanted_rates = {rates[0].per_day, *(rate.per_day for rate in counted(fact.document, rates[0]))}
    near_and_far = (*stated, *rates_beside(document, places, _FAR, timed=timed))
    if any(_agree(rate.per_day, wanted) for rate in near_and_far for wanted in wanted_rates):
        return outcome
    rare = None if stated else _rarely(document, outcome)
    if rare is not None:
        return Outcome(CONTRADICTED, ((rare, rare),), "only rarely")
    if stated:
        return Outcome(CONTRADICTED, ((stated[0].first, stated[0].last),), "another interval")
    if outcome.status == RETAINED:
        return Outcome(PARTIAL, outcome.evidence, "missing: how often")
    return outcome


def _other_side(fact: Fact, document: Document, outcome: Outcome) -> Term | None:
    """The other side straight beside the words that state a fact of one side, where the fact's own is not given."""
    wanted = [q for q in fact.qualifiers if q.group == "side" and q.name in ("left", "right")]
    if fact.conditions or not wanted or outcome.status != PARTIAL:
        return None
    sides = [t for t in term_index(document).by_kind.get(QUALIFIER, ()) if t.concept.group == "side" and not t.weak]
    near = [t for t in sides for first, last in outcome.evidence if first - 3 <= t.first <= last + 3]
    near = [t for t in near if document.sentences[t.first] == document.sentences[outcome.evidence[0][0]]]
    other = all(t.concept.name in ("left", "right") and t.concept not in wanted for t in near)
    return near[0] if near and other else None


def _agree(stated: float, wanted: float) -> bool:
    rough = MOST_DAYS in (stated, wanted)  # "most nights" is about every night
    return same(stated, wanted, (0.3 if rough else 0.02) * wanted)


_AFTER_DAY = frozenset(
    ["centre", "center", "hospital", "unit", "programme", "program", "care", "service", "off", "out"]
)


def _in_name(fact: Fact, rate: Frequency) -> bool:
    """ "a day centre" is a place, not how often."""
    return not _AFTER_DAY.isdisjoint(fact.document.words[rate.last + 1 : rate.last + 2])


_RARE = frozenset(("rarely", "seldom", "occasionally", "infrequently"))


def _rarely(document: Document, outcome: Outcome) -> int | None:
    """ "rarely cries" for "cries every day"."""
    for first, last in outcome.evidence:
        start, stop = document.clause_span(first)
        near = range(max(start, first - 3), min(stop, last + 4))
        found = next((i for i in near if document.words[i] in _RARE), None)
        if found is not None:
            return found
    return None


def _other_date(fact: Fact, document: Document, outcome: Outcome) -> tuple[int, int] | None:
    """Another year straight beside the words that state an event of a given year, which is nowhere in the text."""
    days = [date for date in fact.dates if date.day and date.month]
    if days and not any(day.agrees(date) for day in days for date in dates(document)):
        for first, last in outcome.evidence:
            stop = min(document.sentence_span(first)[1], last + 8)
            beside = [d for d in dates(document) if last < d.first < stop and d.day and d.month]
            if len(beside) == 1 and all(day.clashes(beside[0]) for day in days):
                return beside[0].first, beside[0].last
    years = {date.year for date in fact.dates if date.year}
    if len(years) != 1 or any(years & {date.year} for date in dates(document)):
        return None
    for first, last in outcome.evidence:
        beside = [
            d
            for d in dates(document)
            if d.year
            and (0 < d.first - last <= 3 or (0 < first - d.last <= 3 and "and" not in document.words[d.last : first]))
        ]
        if beside and document.sentences[beside[0].first] == document.sentences[first]:
            return beside[0].first, beside[0].last
    return None


def _in_amount(fact: Fact, rate: Frequency) -> bool:
    """ "4 units a week": the interval belongs to an amount and is compared with it."""
    return any(0 <= rate.first - number.last <= 3 for number in fact.numbers) or bool(fact.medicines)


def _ages(document: Document) -> list[tuple[int, frozenset[float]]]:
    """The ages that a text lists: "two daughters aged 4 and 7"."""
    found = []
    for place, word in enumerate(document.words):
        if word not in ("aged", "ages"):
            continue
        listed = []
        expected = place + 1
        for amount in amounts(document):
            if amount.first >= expected and set(document.words[expected : amount.first]) <= {"and"}:
                listed.append(amount.value)
                expected = amount.last + 1
        if len(listed) > 1:
            found.append((place, frozenset(listed)))
    return found


_WEEKDAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")


def _weekdays(words: list[str]) -> dict[str, int]:
    """The days of the week among some words, with where they stand."""
    return {
        day: place for place, word in enumerate(words) for day in _WEEKDAYS if word.removesuffix("s") == f"{day}day"
    }


def _other_weekdays(fact: Fact, document: Document, outcome: Outcome) -> int | None:
    """Where only other days of the week than the fact's stand in the sentence that states it."""
    wanted = _weekdays(fact.document.words) if "day" in fact.text.lower() else {}
    for first, _ in outcome.evidence if wanted else ():
        start, stop = document.sentence_span(first)
        stated = _weekdays(document.words[start:stop])
        if stated and wanted.keys().isdisjoint(stated):
            return start + min(stated.values())
    return None


def _other_ages(fact: Fact, document: Document, outcome: Outcome) -> int | None:
    """Where a list of as many other ages stands in the sentence that states the fact."""
    wanted = _ages(fact.document)
    sentences = {document.sentences[first] for first, _ in outcome.evidence}
    for place, ages in _ages(document) if wanted else ():
        if document.sentences[place] in sentences and len(ages) == len(wanted[0][1]) and ages != wanted[0][1]:
            return place
    return None


def _other_amount(fact: Fact, document: Document, outcome: Outcome, wanted: Amount) -> Amount | None:
    """Another number of the same thing ("three children" for "two children"), where the fact's own is not given."""
    sentences = {document.sentences[first] for first, _ in outcome.evidence}
    for concept in fact.conditions[:1]:
        sentences |= {document.sentences[term.first] for term in term_index(document).exact.get(concept.id, ())}
    if _is_money(fact.document, wanted):
        sums = [a for a in amounts(document) if _is_money(document, a) and document.sentences[a.first] in sentences]
        agree = any(same(a.value, wanted.value) or a.value <= wanted.value <= a.high for a in sums)
        return sums[0] if sums and not agree else None
    alike = [a for a in amounts(document) if _of_same_thing(fact, document, wanted, a)]
    if not alike or any(
        same(a.base, wanted.base) or (a.unit is wanted.unit and a.value <= wanted.value <= a.high) for a in alike
    ):
        return None
    rows = {
        document.lines[first]
        for first, _ in outcome.evidence
        if document.segment_kinds[document.segments[first]] == CELL
    }
    others = [a for a in alike if document.sentences[a.first] in sentences or document.lines[a.first] in rows]
    if not others:
        return None
    context = reading(document, others[0].first, others[0].last)
    # "no periods for three months": the denial is the statement's own.
    denied = context.negated and not any(
        document.words[first] in ("no", "not", "without") for first, _ in outcome.evidence
    )
    return others[0] if not (denied or context.hypothetical or context.other_person) else None


_COUNTED = frozenset(map(loose_stem, ("sessions", "courses", "cycles", "attempts", "admissions", "episodes")))


def _is_money(document: Document, amount: Amount) -> bool:
    """ "£4,000", "4,000 pounds" of debts."""
    start = document.starts[amount.first]
    if document.raw[max(0, start - 1) : start] in ("£", "$", "€"):
        return True
    after = document.words[amount.last : amount.last + 2]
    named = not _CURRENCIES.isdisjoint(after)
    return named and ("pounds" not in after or not _MONEY_MATTERS.isdisjoint(document.words))


_CURRENCIES = frozenset(("pounds", "euros", "euro", "dollars", "dollar", "quid", "gbp", "eur", "usd"))
_MONEY_MATTERS = word_set("figures", "money")


def _of_same_thing(fact: Fact, document: Document, wanted: Amount, stated: Amount) -> bool:
    if wanted.dimension == "time":
        return stated.dimension == "time" and _same_stretch(fact, document, wanted, stated)
    if wanted.unit is not None:
        bare = wanted.dimension == "cigarette" and stated.unit is None and not stated.ratio
        return stated.dimension == wanted.dimension or (bare and _per_day(document, stated))
    if stated.unit is not None or stated.ratio or wanted.ratio:
        return False
    own = fact.document.words[wanted.last + 1 : wanted.last + 2]
    counted = bool(own) and loose_stem(own[0]) in _COUNTED  # "nine CBT sessions": one word may stand in between
    its = document.words[stated.last + 1 : stated.last + (3 if counted else 2)]
    return bool(own and its) and own[0].isalpha() and loose_stem(own[0]) in map(loose_stem, its)


def _per_day(document: Document, stated: Amount) -> bool:
    after = document.words[stated.last + 1 : stated.last + 3]
    return after in (["a", "day"], ["per", "day"]) or after[:1] == ["daily"]


_STRETCHES = frozenset(
    ("ago", "postpartum", "postnatal", "pregnant", "gestation", "old", "sober", "clean", "abstinent")
)


def _role(document: Document, amount: Amount) -> str:
    """What a stretch of time says: how long ago, how old, how long, how many hours of a day."""
    after = document.words[amount.last + 1 : amount.last + 3]
    if after[:1] and after[0] in _STRETCHES:
        return "for" if after[0] in _LASTING else after[0]
    if amount.unit is not None and amount.unit.name.startswith(("hour", "minute")):
        return "hours"
    before = document.words[max(0, amount.first - 2) : amount.first]
    return "for" if not _FOR.isdisjoint(before) else ""


_LASTING = frozenset(("sober", "clean", "abstinent"))
_FOR = frozenset(("for", "past", "last", "x", "over"))


def _same_stretch(fact: Fact, document: Document, wanted: Amount, stated: Amount) -> bool:
    """Both say how long ago, how old, or how far a pregnancy is."""
    role = _role(fact.document, wanted)
    its = document.words[stated.last + 1 : stated.last + 2]
    if role and role == _role(document, stated):
        return True
    weeks = wanted.unit is stated.unit and wanted.unit is not None and wanted.unit.name.startswith("week")
    return weeks and any(c.name == "pregnancy" for c in fact.conditions) and its != ["ago"]
