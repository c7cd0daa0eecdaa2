"""How a medicine is taken, as stated beside one mention: amounts, how often, what was before, what is planned."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from pytest_clinical_drift.evidence.mentions.dose_roles import CURRENT, PLANNED, PREVIOUS, amount_roles, is_dose
from pytest_clinical_drift.evidence.mentions.rate_owner import of_something_else, stands_with
from pytest_clinical_drift.evidence.quantities.amounts import SPOKEN, Amount, amounts, duration_hours, same
from pytest_clinical_drift.evidence.quantities.frequencies import Frequency, frequencies_between
from pytest_clinical_drift.evidence.reading.text import CELL, Document
from pytest_clinical_drift.evidence.terms.index import TermIndex, term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import word_set

_REACH = 60  # tokens on either side of a mention that are looked at, so that a text without full stops stays linear

_RATE_REACH = 12  # tokens between an amount and the first statement of how often


_FILLERS = word_set("regimen", "fillers")


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
    hours: tuple[float, ...]
    """Durations of a course."""
    earlier: tuple[Amount, ...]
    planned: tuple[Amount, ...]
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

    @property
    def parts_of_day(self) -> frozenset[str]:
        """Parts of the day that are named; evening and night are one."""
        return frozenset("night" if f.time == "evening" else f.time for f in self.times if f.time)


def scope_of(document: Document, mention: Term) -> tuple[int, int]:
    """Tokens in which a mention's regimen may stand: its sentence, or its whole row in a table."""
    first, stop = document.sentence_span(mention.first)
    if document.segment_kinds[document.segments[mention.first]] == CELL:
        line = document.lines[mention.first]
        first = bisect_left(document.lines, line)
        stop = bisect_left(document.lines, line + 1)
    return max(first, mention.first - _REACH), min(stop, mention.last + 1 + _REACH)


def read_regimen(document: Document, mention: Term, *, stop: int | None = None) -> Regimen:
    """The regimen that stands with a mention of a medicine; `stop` moves the end of what is looked at."""
    known: dict[tuple[Term, int | None], Regimen] = document.cache.setdefault("regimens", {})
    found = known.get((mention, stop))
    if found is None:
        found = known[(mention, stop)] = _read(document, mention, stop)
    return found


def _read(document: Document, mention: Term, stop: int | None) -> Regimen:
    index = term_index(document)
    first, end = scope_of(document, mention)
    end = stop if stop is not None else end
    begin = _own_start(document, index, mention, first)
    end = _own_end(document, index, mention, end)
    numbers = amounts(document)
    starts = _starts(document, numbers)
    own = numbers[bisect_left(starts, begin) : bisect_left(starts, end)]
    own = [a for a in own if not (mention.first <= a.first <= mention.last)]
    whole = scope_of(document, mention)[1]
    if "respectively" in document.words[mention.last : whole]:
        paired = _paired(document, index, mention, numbers, first, whole)
        if paired:
            own, end = paired, whole
    rates = _chain(document, mention, own, frequencies_between(document, begin, end))
    roles = amount_roles(document, mention, own, end)
    return _assemble(document, mention, own, roles, rates, begin, end)


_JOINED = word_set("regimen", "joined")


def _chain(document: Document, mention: Term, own: list[Amount], rates: list[Frequency]) -> list[Frequency]:
    """Frequencies that go with the amounts: near an amount or the name, or joined to one that is."""
    kept: list[Frequency] = []
    ends = [mention.last, *(a.last for a in own)]
    for rate in rates:
        before = max((end for end in ends if end < rate.first), default=rate.first - 1)
        after_amount = any(0 <= rate.first - a.last - 1 <= 2 and (a.unit is not None or not kept) for a in own)
        needed = bool(kept) and rate.per_day == 0 and rate.first - kept[-1].last <= 2
        if rate.first < mention.first or needed or (kept and _goes_on(document, kept[-1], rate)):
            kept.append(rate)
        elif of_something_else(document, before, rate, own):
            continue
        elif after_amount:
            kept.append(rate)
        elif not kept:
            if rate.first - before <= _RATE_REACH:
                kept.append(rate)
        elif _joins(document, kept[-1], rate):
            kept.append(rate)
    return kept


def _goes_on(document: Document, last: Frequency, rate: Frequency) -> bool:
    """ "in the morning and again at bedtime": one part of the day after another."""
    return bool(last.time and rate.time) and _joins(document, last, rate)


def _joins(document: Document, last: Frequency, rate: Frequency) -> bool:
    between = document.words[last.last + 1 : rate.first]
    between = [word for word in between if not (word[:1].isdigit() or word in SPOKEN)]  # "and two in the evening"
    return rate.first - last.last <= 4 and _JOINED.issuperset(between)


def _starts(document: Document, numbers: list[Amount]) -> list[int]:
    starts: list[int] | None = document.cache.get("amount starts")
    if starts is None:
        starts = [amount.first for amount in numbers]
        document.cache["amount starts"] = starts
    return starts


def _own_start(document: Document, index: TermIndex, mention: Term, first: int) -> int:
    """Where an amount before the mention still belongs to it: "50 mg of sertraline", "a 10 mg donepezil tablet"."""
    position = mention.first
    floor = max(first, mention.first - 8)
    while position > floor and document.gaps[position] in ("", "-") and not document.gaps[position].startswith(","):
        before = position - 1
        if document.words[before] in _FILLERS or _part_of_amount(document, before):
            position = before
            continue
        break
    earlier = index.medicines_between(max(first, position - 4), position)
    if earlier and earlier[-1].last == position - 1:
        return mention.first  # the amount follows another medicine directly and is that one's
    return position


def _part_of_amount(document: Document, token: int) -> bool:
    return any(a.first <= token <= a.last for a in _near_amounts(document, token)) or any(
        token <= f.last for f in frequencies_between(document, token - 7, token + 1)
    )


def _near_amounts(document: Document, token: int) -> list[Amount]:
    numbers = amounts(document)
    place = bisect_left(_starts(document, numbers), token + 1)
    return numbers[max(0, place - 2) : place]


def _own_end(document: Document, index: TermIndex, mention: Term, end: int) -> int:
    """The text up to the next other medicine belongs to the mention (brand or class in brackets is the same one)."""
    joined = mention.last
    for other in index.medicines_between(mention.last + 1, end):
        if other.first == joined + 1 and document.gaps[other.first] == "/":
            joined = other.last  # "tenofovir/lamivudine 300/300 mg" is one tablet
            continue
        same_one = other.concept is mention.concept or other.concept.id in mention.concept.ancestors
        same_one = same_one or mention.concept.id in other.concept.ancestors
        if not same_one and other.concept.id not in mention.concept.contains:
            # Its own amount may stand before it.
            start = other.first
            while start - 1 > mention.last and document.gaps[start] == "" and _part_of_amount(document, start - 1):
                start -= 1
            cut_before = start < other.first and document.words[start - 1] in ("and", "plus", "with", "of", "a")
            return start if cut_before else other.first
    return end


def _paired(
    document: Document, index: TermIndex, mention: Term, numbers: list[Amount], first: int, stop: int
) -> list[Amount]:
    """ "A and B, 75 mg and 5 mg respectively": the n-th amount belongs to the n-th medicine."""
    medicines = index.medicines_between(first, stop)
    doses = [a for a in numbers if first <= a.first < stop and a.unit is not None and a.unit.data["kind"] == "dose"]
    medicines = [m for m in medicines if doses and m.first < doses[0].first]
    for place, medicine in enumerate(medicines):
        if medicine.first == mention.first and place < len(doses) and len(doses) == len(medicines):
            return [doses[place]]
    return []


def _assemble(
    document: Document, mention: Term, own: list[Amount], roles: list[str], rates: list[Frequency], begin: int, end: int
) -> Regimen:
    strengths: list[Amount] = []
    counts: list[Amount] = []
    earlier: list[Amount] = []
    planned: list[Amount] = []
    ratios: list[str] = []
    hours: list[float] = []
    for amount, role in zip(own, roles, strict=True):
        if is_dose(document, mention, amount):
            bucket = {CURRENT: strengths, PREVIOUS: earlier, PLANNED: planned}[role]
            if amount.ratio and role == CURRENT:
                ratios.append(amount.ratio)
            else:
                bucket.append(amount)
        elif amount.unit is not None and amount.unit.data["kind"] == "count" and role == CURRENT:
            counts.append(amount)
        else:
            length = duration_hours(document, amount)
            lasting = not _EVENT_LENGTHS.isdisjoint(document.words[max(0, amount.first - 4) : amount.first])
            if length is not None and role == CURRENT and not lasting and not _is_interval(document, amount, rates):
                hours.append(length)
    if not (strengths or ratios or earlier or planned):
        # "60 ml daily": a liquid by its volume alone.
        volumes = [a for a, role in zip(own, roles, strict=True) if a.dimension == "volume" and role == CURRENT]
        strengths = [a for a in volumes if a.first > mention.last][:1]
    if "a" in document.words[begin:end]:
        hours += _spoken_durations(document, begin, end)
    aside = [a for a, role in zip(own, roles, strict=True) if role != CURRENT]
    times = tuple(f for f in rates if not _belongs_to(f, aside, own))
    if not (strengths or ratios or counts or planned or earlier):
        # Without an amount only a frequency beside the name is its own ("clozapine … a blood count every four weeks").
        times = tuple(f for f in times if f.first - mention.last <= 5)
    last = max([mention.last, *(a.last for a in own), *(f.last for f in rates)])
    first = min([mention.first, *(a.first for a in own)])
    return Regimen(
        tuple(strengths), tuple(ratios), tuple(counts), times, tuple(hours),
        tuple(earlier), tuple(planned), "once" in document.words[begin:end], min(last, end - 1), first,
        all(f.first < mention.first or stands_with(document, _end_before(f, mention, own), f.first) for f in times[:1]),
    )  # fmt: skip


def _end_before(rate: Frequency, mention: Term, own: list[Amount]) -> int:
    """The last token of the name or the amount that a frequency follows."""
    return max(end for end in (mention.last, *(a.last for a in own)) if end < rate.first or end == mention.last)


# "a seizure lasting over five minutes": how long the event is, not the course.
_EVENT_LENGTHS = frozenset(("lasting", "lasts", "lasted", "longer"))


def _is_interval(document: Document, amount: Amount, rates: list[Frequency]) -> bool:
    return any(f.first <= amount.first <= f.last for f in rates)


def _spoken_durations(document: Document, begin: int, end: int) -> list[float]:
    lengths = {"week": 168.0, "month": 730.5, "day": 24.0, "fortnight": 336.0, "year": 8766.0}
    words = document.words
    return [
        lengths[words[i + 2]]
        for i in range(begin, min(end, len(words) - 2))
        if words[i] == "for" and words[i + 1] in ("a", "one") and words[i + 2] in lengths
    ]


def _belongs_to(rate: Frequency, aside: list[Amount], own: list[Amount]) -> bool:
    """Whether a frequency goes with an amount that is not current: the nearest amount before it decides."""
    before = [a for a in own if a.last < rate.first]
    return bool(before) and before[-1] in aside and len(own) > 1


def same_amount(left: Amount, right: Amount) -> bool:
    """Whether two doses are the same; a bare number agrees with any unit."""
    if left.unit is None or right.unit is None:
        return same(left.value, right.value)
    return left.dimension == right.dimension and same(left.base, right.base)
