"""Names and marks of a case that have to fit its turns and facts: ids, essential, by, until, tight, late, hazards."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pytest_clinical_drift.cases.entries import CriticalEntity, Expect, Expectation, Late, Turn
from pytest_clinical_drift.cases.faults import Location, ReferenceFault, did_you_mean

DemandKind = Literal["must", "must_not"]


def demands_in(expect: Expect, place: Location = ()) -> Iterator[tuple[DemandKind, Expectation, Location]]:
    """Kind, demand and place of every demand."""
    for at, wish in enumerate(expect.must):
        yield "must", wish, (*place, "must", at)
    for at, wish in enumerate(expect.must_not):
        yield "must_not", wish, (*place, "must_not", at)


def words_in(part: str, text: str) -> bool:
    """Whether a text has these words, whole, in whatever case and spacing."""
    wanted = re.escape(_plain(part.lower()))
    return re.search(rf"(?<!\w){wanted}(?!\w)", _plain(text.lower())) is not None


def facts_in(intake: Sequence[CriticalEntity], turns: Sequence[Turn]) -> Iterator[tuple[CriticalEntity, Location]]:
    """Facts of the intake and of the turns, as written, with their places."""
    for at, fact in enumerate(intake):
        yield fact, ("critical_entities", at)
    for turn in turns:
        for at, fact in enumerate(turn.introduces):
            yield fact, ("turns", turn.turn - 1, "introduces", at)


def misfits(
    intake: Sequence[CriticalEntity],
    turns: Sequence[Turn],
    tight: Sequence[tuple[int, int]],
    late: Late | None,
    hazards: Sequence[str],
) -> Iterator[ReferenceFault]:
    """Each name or mark of a case that does not fit."""
    yield from _unclear_names(intake, turns)
    facts = list(facts_in(intake, turns))
    for fact, place in facts:
        if fact.essential and not fact.hard_stop:
            advice = "essential parts belong to a hard stop; add 'hard_stop: true' or remove 'essential'"
            yield ReferenceFault(f"fact {fact.id}: {advice}", (*place, "essential"))
        for at, part in enumerate(fact.essential):
            if not words_in(part, fact.text):
                text = f"fact {fact.id}: the essential part {part!r} does not occur in its text {fact.text!r}"
                yield ReferenceFault(text, (*place, "essential", at))
    for turn in turns:
        left = range(turn.turn, len(turns) + 1)
        yield from _demands(f"turn {turn.turn}", turn.expect, left, ("turns", turn.turn - 1, "expect"))
    before = 0
    for at, (first, last) in enumerate(tight):
        if not 1 <= first <= last <= len(turns):
            text = f"tight [{first}, {last}] is not a range of turns 1 to {len(turns)}, first and last"
            yield ReferenceFault(text, ("tight", at))
        if first <= before:
            text = f"tight [{first}, {last}] begins before the range ahead of it ends; order them without overlap"
            yield ReferenceFault(text, ("tight", at))
        before = last
    if late is not None:
        if not any(fact.hard_stop for fact, _ in facts):
            yield ReferenceFault("late asks for what a hard stop forbids, but the case has no hard stop", ("late",))
        if not late.expect.must and not late.expect.must_not:
            yield ReferenceFault("late: its expect has neither must nor must_not", ("late", "expect"))
        yield from _demands("late", late.expect, range(0), ("late", "expect"))
    for at, hazard in enumerate(hazards):
        if hazard in hazards[:at]:
            yield ReferenceFault(f"the hazard {hazard!r} occurs twice; remove one of the two", ("hazards", at))


def _unclear_names(intake: Sequence[CriticalEntity], turns: Sequence[Turn]) -> Iterator[ReferenceFault]:
    """Facts that are given twice, and names of facts that are not known by then."""
    known: dict[str, str] = {}
    for at, fact in enumerate(intake):
        yield from _new_fact(known, fact, ("critical_entities", at))
    for turn in turns:
        place = ("turns", turn.turn - 1)
        for at, fact in enumerate(turn.introduces):
            yield from _new_fact(known, fact, (*place, "introduces", at))
        for field, names in (("updates", [update.fact for update in turn.updates]), ("restates", turn.restates)):
            for at, name in enumerate(names):
                if name not in known and name not in known.values():
                    meant = did_you_mean(name, known) or f"; write one of {', '.join(sorted(known))}"
                    text = f"turn {turn.turn} {field} {name!r}, which is not a fact of this case{meant}"
                    yield ReferenceFault(text, (*place, field, at, "fact"))


def _new_fact(known: dict[str, str], fact: CriticalEntity, place: Location) -> Iterator[ReferenceFault]:
    """Every fact has an id and a text of its own: given twice it would count twice."""
    if fact.id in known:
        yield ReferenceFault(f"the fact {fact.id!r} occurs twice; give each fact an id of its own", place)
    for other, text in known.items():
        if _plain(text.casefold()) == _plain(fact.text.casefold()):
            yield ReferenceFault(f"the facts {other!r} and {fact.id!r} have one text and would count twice", place)
    known[fact.id] = fact.text


def _demands(name: str, expect: Expect, turns: range, place: Location) -> Iterator[ReferenceFault]:
    """Only a must has by, ask or admit_unknown; by and until name turns from this one to the last, late has none."""
    for kind, wish, location in demands_in(expect, place):
        for field in ("by", "ask", "admit_unknown") if kind == "must_not" else ():
            if getattr(wish, field) is not None:
                yield ReferenceFault(f"{name}: a must_not has no {field!r}; write it under must", (*location, field))
        for field, value in (("by", wish.by), ("until", wish.until)):
            if value is not None and value not in turns:
                known = f"turns {turns[0]} to {turns[-1]}" if turns else "its turns: it has none"
                text = f"{name}: {field} {value} of {wish.text!r} lies outside {known}"
                yield ReferenceFault(text, (*location, field))
        if wish.by is not None and wish.until is not None and wish.until < wish.by:
            text = f"{name}: {wish.text!r} holds until {wish.until}, but may be met by {wish.by}, which is later"
            yield ReferenceFault(text, (*location, "until"))


def _plain(text: str) -> str:
    return " ".join(text.split())
