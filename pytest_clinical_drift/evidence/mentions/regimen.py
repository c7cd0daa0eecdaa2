"""How a medicine is taken, as stated beside one mention: amounts, how often, what was before, what is planned."""

from dataclasses import dataclass

from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts, same
from pytest_clinical_drift.evidence.quantities.frequencies import MOST_DAYS, Frequency, frequencies_between
from pytest_clinical_drift.evidence.reading.text import RATIO, Document, once
from pytest_clinical_drift.evidence.terms.lexicon import Term, TermIndex, between, phrases_between, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set

_REACH = 60  # tokens on either side that are looked at, so that a text without full stops stays linear
_FILLERS = word_set("regimen", "fillers")
# These mark the amount they stand before as an earlier one whatever else is said …
_EARLIER = word_set("regimen", "earlier")
# … and these only beside another, current amount.
_PERHAPS_EARLIER = word_set("regimen", "perhaps_earlier")
_EARLIER_AFTER = frozenset({"until", "before", "previously", "initially", "originally"})
_UNSURE = frozenset(("if", "whether", "should", "could", "might", "may")) | word_set("regimen", "change_orders")
_ASKED = frozenset(("whether", "asked", "asks", "asking", "wondered", "wonders", "wondering"))
_LIGHT = word_set("regimen", "light") | word_set("medication", "regimen_labels") | {"freq"}


@dataclass(frozen=True, slots=True)
class Regimen:
    """What one mention of a medicine says about how it is taken now."""

    strengths: tuple[Amount, ...]
    """Current amounts with a dose unit, or bare numbers where a dose is due."""
    ratios: tuple[str, ...]
    """Current two-part strengths ("100/6")."""
    counts: tuple[Amount, ...]
    """Current puffs, tablets, drops."""
    times: tuple[Frequency, ...]
    aside: tuple[Amount, ...]
    """Doses that do not hold now: earlier, planned or asked about."""
    once: bool
    """Whether it says "once", so that a daily amount is one dose."""
    last: int
    """Last token that belongs to the statement."""
    first: int
    certain: bool
    """The frequency stands with the name or an amount, so that another one contradicts it."""

    @property
    def per_day(self) -> float | None:
        """Doses per day, None when the text does not say."""
        fixed = [f for f in self.times if not f.time]
        if fixed:
            return min(f.per_day for f in fixed) and fixed[0].per_day  # "every four hours as needed" is as needed
        parts = {f.time for f in self.times}
        return float(len(parts)) if parts else None


@once
def read_regimen(document: Document, mention: Term) -> Regimen:
    """The regimen that stands with a mention of a medicine."""
    index = term_index(document)
    first, end = document.row_span(mention.first)
    begin = _own_start(document, index, mention, max(first, mention.first - _REACH))
    end = _own_end(document, index, mention, min(end, mention.last + 1 + _REACH))
    own = [a for a in between(amounts(document), begin, end) if not (mention.first <= a.first <= mention.last)]
    rates = frequencies_between(document, begin, end)
    now = _current_amounts(document, mention, own, end)
    aside = [a for a in own if a not in now]
    dosed = [a for a in own if _is_dose(document, mention, a)]
    counts = [a for a in now if a.unit is not None and a.unit.data["kind"] == "count"]
    times = tuple(f for f in rates if not _belongs_to(f, aside, own))
    if not (dosed or counts):
        # Without an amount only a frequency beside the name is its own ("clozapine … a blood count every four weeks").
        times = tuple(f for f in times if f.first - mention.last <= 5)
    return Regimen(
        strengths=tuple(a for a in dosed if a in now and not a.ratio),
        ratios=tuple(a.ratio for a in dosed if a in now and a.ratio),
        counts=tuple(counts),
        times=times,
        aside=tuple(a for a in dosed if a in aside),
        once="once" in document.words[begin:end],
        last=min(max([mention.last, *(a.last for a in own), *(f.last for f in rates)]), end - 1),
        first=min([mention.first, *(a.first for a in own)]),
        certain=all(_stands_with_its_own(document, rate, mention, own) for rate in times[:1]),
    )


def _own_start(document: Document, index: TermIndex, mention: Term, first: int) -> int:
    """Where an amount before the mention still belongs to it: "50 mg of sertraline", "a 10 mg donepezil tablet"."""
    position = mention.first
    floor = max(first, mention.first - 8)
    while position > floor and document.gaps[position] in ("", "-"):
        if document.words[position - 1] not in _FILLERS and not _part_of_amount(document, position - 1):
            break
        position -= 1
    earlier = index.medicines_between(max(first, position - 4), position)
    if earlier and earlier[-1].last == position - 1:
        return mention.first  # the amount follows another medicine directly and is that one's
    return position


def _part_of_amount(document: Document, token: int) -> bool:
    ends = [a.last for a in between(amounts(document), token - 4, token + 1)]
    ends += [f.last for f in frequencies_between(document, token - 7, token + 1)]
    return any(token <= end for end in ends)


def _own_end(document: Document, index: TermIndex, mention: Term, end: int) -> int:
    """The text up to the next other medicine belongs to the mention (brand or class in brackets is the same one)."""
    joined = mention.last
    concept = mention.concept
    for other in index.medicines_between(mention.last + 1, end):
        if other.first == joined + 1 and document.gaps[other.first] == "/":
            joined = other.last  # "tenofovir/lamivudine 300/300 mg" is one tablet
            continue
        same_one = other.concept is concept or concept.id in other.concept.ancestors
        if not same_one and other.concept.id not in (*concept.ancestors, *concept.contains):
            start = other.first  # its own amount may stand before it
            while start - 1 > mention.last and document.gaps[start] == "" and _part_of_amount(document, start - 1):
                start -= 1
            cut_before = start < other.first and document.words[start - 1] in ("and", "plus", "with", "of", "a")
            return start if cut_before else other.first
    return end


def _belongs_to(rate: Frequency, aside: list[Amount], own: list[Amount]) -> bool:
    """Whether a frequency goes with an amount that is not current: the nearest amount before it decides."""
    before = [a for a in own if a.last < rate.first]
    return bool(before) and before[-1] in aside and len(own) > 1


def _current_amounts(document: Document, mention: Term, own: list[Amount], end: int) -> list[Amount]:
    """Amounts beside a mention that hold now, and are not earlier, planned or only asked about."""
    stops = [*(amount.first for amount in own[1:]), end]
    starts = [mention.last + 1, *(amount.last + 1 for amount in own)]
    spans = zip(own, starts, stops, strict=False)
    current = [amount for amount, *span in spans if _holds(document, mention, amount, *span)]
    doses = [amount for amount in current if _is_dose(document, mention, amount)]
    leading = {a: document.words[max(0, a.first - 2) : a.first] for a in doses if len(doses) > 1}
    return [amount for amount in current if _PERHAPS_EARLIER.isdisjoint(leading.get(amount, ()))]


def _holds(document: Document, mention: Term, amount: Amount, boundary: int, following: int) -> bool:
    """Whether an amount holds now; the amounts before and behind it end at `boundary` and begin at `following`."""
    words = document.words
    gaps = document.gaps
    clause_first, clause_stop = document.clause_span(amount.first)
    clause_first = max(clause_first, amount.first - _REACH)
    clause_stop = min(clause_stop, amount.last + _REACH)
    before = words[amount.first - 1] if amount.first > 0 else ""
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
    if plans and not phrases_between(document, "now", amount.first - 1, amount.first):
        return False
    unsure = before == "to" and not _UNSURE.isdisjoint(words[clause_first : amount.first])
    return not unsure and _ASKED.isdisjoint(words[lead_from : amount.first])


def _is_dose(document: Document, mention: Term, amount: Amount) -> bool:
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


def _stands_with_its_own(document: Document, rate: Frequency, mention: Term, own: list[Amount]) -> bool:
    """Whether nothing but light words stands between a frequency and the name or the amount that it follows."""
    before = max([mention.last, *(a.last for a in own if a.last < rate.first)])
    parted = not {";", "–"}.isdisjoint("".join(document.gaps[before + 1 : rate.first + 1]))
    light = all(word in _LIGHT or word[:1].isdigit() for word in document.words[before + 1 : rate.first])
    return rate.first < mention.first or (light and not parted)


def same_amount(left: Amount, right: Amount) -> bool:
    """Whether two doses are the same; a bare number agrees with any unit."""
    if left.unit is None or right.unit is None:
        return same(left.value, right.value)
    return left.dimension == right.dimension and same(left.base, right.base)


def compare(wanted: Regimen, stated: Regimen, missing: list[str]) -> str:
    """What conflicts between two regimens, or ""; what is not stated is added to `missing`."""
    if wanted.ratios:
        if not stated.ratios:
            missing.append("strength")
        elif wanted.ratios[0] not in stated.ratios:
            return f"strength {stated.ratios[0]} instead of {wanted.ratios[0]}"
    compared = _compare_strength if wanted.strengths else _compare_rate
    conflict = compared(wanted, stated, missing)
    if conflict:
        return conflict
    if wanted.counts:
        alike = [c for c in stated.counts if c.dimension == wanted.counts[0].dimension]
        if not alike:
            missing.append(f"number of {wanted.counts[0].dimension}s")
        elif not any(same(c.value, wanted.counts[0].value) for c in alike):
            return f"{alike[0].value:g} instead of {wanted.counts[0].value:g} {wanted.counts[0].dimension}s"
    for amount in wanted.strengths[1:]:  # "1 unit per 10 g": a second amount of another dimension
        alike = [a for a in stated.strengths if a.dimension == amount.dimension != wanted.strengths[0].dimension]
        if alike and not any(same_amount(a, amount) for a in alike):
            return f"{alike[0].value:g} instead of {amount.value:g} {amount.dimension}"
    return ""


def _compare_strength(wanted: Regimen, stated: Regimen, missing: list[str]) -> str:
    goal = wanted.strengths[0]
    doses = stated.strengths
    if not doses:
        missing.append("dose")
        return _compare_rate(wanted, stated, missing) if stated.times else ""
    matching = [dose for dose in doses if same_amount(goal, dose)]
    rate = wanted.per_day
    times = stated.per_day
    daily = [d for d in doses if d.dimension == goal.dimension and same(d.base * (times or 1), goal.base * (rate or 1))]
    if matching:
        divided = rate == 1 and any(dose not in matching for dose in daily)  # "100 mg three times a day (300 mg daily)"
        return "" if divided else _compare_rate(wanted, stated, missing, times)
    if any(dose.unit is not None for dose in daily) and not (rate == 1 and wanted.once):
        missing.append("how the daily amount is divided")
        return ""
    weighed = goal.dimension in ("mass", "unit")
    comparable = [d for d in doses if d.unit is not None and (not weighed or d.dimension in ("mass", "unit"))]
    if not comparable:
        missing.append("dose")
        return ""
    return f"{_written(comparable[-1])} instead of {_written(goal)}"


def _written(dose: Amount) -> str:
    return f"{dose.value:g} {dose.unit.name if dose.unit else ''}".strip()


def _compare_rate(wanted: Regimen, stated: Regimen, missing: list[str], per_day: float | None = None) -> str:
    rate = wanted.per_day
    per_day = stated.per_day if per_day is None else per_day
    if rate is None:
        return ""
    # "takes it most days" says how well it is taken, not how it is prescribed
    if per_day is None or per_day == MOST_DAYS:
        missing.append("how often")
        return ""
    # A month counts as four weeks; how often something is used as needed says no more than that it is used.
    if not same(rate, per_day, 0.0011 + 0.06 * rate if rate < 0.5 else 0.0):
        if not stated.certain or (rate == 0 and per_day < 1):
            missing.append("how often")
            return ""
        if per_day == 0 or rate == 0:
            return "as needed instead of regularly" if per_day == 0 else "regularly instead of as needed"
        return f"{per_day:g} instead of {rate:g} times a day" if per_day >= 1 and rate >= 1 else "another interval"
    return ""
