"""Names and marks of a case that have to fit its turns and facts: ids, essential, by, until, tight, late, hazards.

Each check raises ReferenceFault for the first mark that does not fit."""

import re
from collections.abc import Iterator, Sequence

from pytest_clinical_drift.cases.demands import Expect, Expectation, Late
from pytest_clinical_drift.cases.faults import Location, ReferenceFault

_ONLY_MUST = ("by", "ask", "admit_unknown")


def demands_in(expect: Expect, place: Location = ()) -> Iterator[tuple[str, Expectation, Location]]:
    """Kind, demand and place of every demand."""
    for kind, wishes in (("must", expect.must), ("must_not", expect.must_not)):
        for at, wish in enumerate(wishes):
            yield kind, wish, (*place, kind, at)


def words_in(part: str, text: str) -> bool:
    """Whether a text has these words, whole, in whatever case and spacing."""
    wanted = re.escape(" ".join(part.lower().split()))
    return re.search(rf"(?<!\w){wanted}(?!\w)", " ".join(text.lower().split())) is not None


def check_fact_is_new(known: dict[str, str], name: str, text: str, place: Location) -> None:
    """Every fact has an id and a text of its own; it joins the `known` ones. Given twice it would count twice."""
    if name in known:
        raise ReferenceFault(f"the fact {name!r} occurs twice; give each fact an id of its own", place)
    plain = " ".join(text.casefold().split())
    for other, told in known.items():
        if " ".join(told.casefold().split()) == plain:
            raise ReferenceFault(f"the facts {other!r} and {name!r} have one text and would count twice", place)
    known[name] = text


def check_essential(name: str, text: str, essential: Sequence[str], *, hard_stop: bool, place: Location) -> None:
    """Essential parts are words of a hard stop's text."""
    if essential and not hard_stop:
        advice = "essential parts belong to a hard stop; add 'hard_stop: true' or remove 'essential'"
        raise ReferenceFault(f"fact {name}: {advice}", (*place, "essential"))
    for at, part in enumerate(essential):
        if not words_in(part, text):
            fault = f"fact {name}: the essential part {part!r} does not occur in its text {text!r}"
            raise ReferenceFault(fault, (*place, "essential", at))


def check_demands(name: str, expect: Expect, turns: range, place: Location) -> None:
    """Only a must has by, ask or admit_unknown; by and until name turns from this one to the last, late has none."""
    for kind, wish, location in demands_in(expect, place):
        for field in _ONLY_MUST if kind == "must_not" else ():
            if getattr(wish, field) is not None:
                raise ReferenceFault(f"{name}: a must_not has no {field!r}; write it under must", (*location, field))
        for field, value in (("by", wish.by), ("until", wish.until)):
            if value is not None and value not in turns:
                known = f"turns {turns[0]} to {turns[-1]}" if turns else "its turns: it has none"
                raise ReferenceFault(
                    f"{name}: {field} {value} of {wish.text!r} lies outside {known}", (*location, field)
                )
        if wish.by is not None and wish.until is not None and wish.until < wish.by:
            text = f"{name}: {wish.text!r} holds until {wish.until}, but may be met by {wish.by}, which is later"
            raise ReferenceFault(text, (*location, "until"))


def check_tight(ranges: Sequence[tuple[int, int]], last_turn: int) -> None:
    """Ranges of turns, in order, without overlap."""
    before = 0
    for at, (first, last) in enumerate(ranges):
        if not 1 <= first <= last <= last_turn:
            text = f"tight [{first}, {last}] is not a range of turns 1 to {last_turn}, first and last"
            raise ReferenceFault(text, ("tight", at))
        if first <= before:
            text = f"tight [{first}, {last}] begins before the range ahead of it ends; order them without overlap"
            raise ReferenceFault(text, ("tight", at))
        before = last


def check_late(late: Late | None, *, hard_stop: bool) -> None:
    """A late message is about a hard stop, has demands, and names no turn."""
    if late is None:
        return
    if not hard_stop:
        raise ReferenceFault("late asks for what a hard stop forbids, but the case has no hard stop", ("late",))
    if not late.expect.must and not late.expect.must_not:
        raise ReferenceFault("late: its expect has neither must nor must_not", ("late", "expect"))
    check_demands("late", late.expect, range(0), ("late", "expect"))


def check_hazards(hazards: Sequence[str]) -> None:
    """Each id of the hazard log once."""
    for at, hazard in enumerate(hazards):
        if hazard in hazards[:at]:
            raise ReferenceFault(f"the hazard {hazard!r} occurs twice; remove one of the two", ("hazards", at))
