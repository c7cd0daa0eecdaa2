"""What has to be settled in one conversation: what readings and rules raised, and what is asked about in any case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import demands_at
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.entries import Entry
from pytest_clinical_drift.judging.opinions import Raised
from pytest_clinical_drift.judging.questions import About, Question
from pytest_clinical_drift.judging.readings import Reading, TurnLine


@dataclass(frozen=True, slots=True)
class RuleRaise:
    """What a rule holds against the model."""

    kind: str
    turn: int
    key: str
    """Fact, demand or words that it is about."""
    rule: str
    confirms: bool
    """The rule may confirm by itself."""
    earlier_turn: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to be settled."""

    about: About
    kind: str
    raised: Raised
    question: Question | None
    """None where nothing can be asked: a list that the reading should have had is missing."""
    entry: Entry | None = None
    """What the reading says of it; None without a reading."""
    rule_confirms: bool = False
    reading: tuple[str, int, str] = ("", 0, "")
    """Kind, turn and source of the reading that it belongs to."""
    follows: About | None = None
    """It takes the state of this point: the same fact, lost or wrong at several probes in a row."""


def about_entry(entry: Entry, source: str = "") -> About:
    """What an entry is about within its conversation; equal to the question's."""
    if entry.kind in ("conflict", "course"):
        return (entry.kind, *(entry.turns or (entry.turn, entry.turn)))
    if entry.kind in ("forbidden", "harm"):
        return entry.kind, entry.turn
    return (entry.kind, entry.turn, entry.key, *((source,) if source else ()))


def key_of(reading: Reading) -> tuple[str, int, str]:
    """Names a reading within its conversation."""
    return reading.kind, reading.turn, reading.source


def question_for(reading: Reading, entry: Entry, talk: Mapping[int, TurnLine] | None = None) -> Question | None:
    """The single question on an entry of a reading; `talk` is the whole conversation by turn, where it is known.

    None where the entry names nothing that could be asked about.
    """
    said = {line.turn: line for line in reading.turns} | dict(talk or {})
    common = Question(entry.kind, reading.case_id, entry.turn, reading.text, reading=reading.id, source=reading.source)
    if entry.kind == "fact":
        line = next(line for line in reading.facts if line.fact == entry.key)
        return replace(
            common, patient=reading.patient, fact=line.fact, statement=line.statement, replaced=line.replaced,
            essential=line.essential,
        )  # fmt: skip
    if entry.kind == "invented":
        if not entry.key:
            return None
        return replace(common, patient=reading.patient, record=reading.record, statement=entry.key)
    if entry.kind == "misreported":
        if not entry.key:
            return None
        advice = "\n\n".join(f"Turn {turn}: {reply}" for turn, (_, _, reply) in sorted(said.items()))
        return replace(common, text=reading.summary, record=reading.record, statement=entry.key, replies=advice)
    if entry.kind == "course":
        return _course(common, reading, entry, said)
    if entry.kind == "conflict":
        return _conflict(common, reading, entry, said)
    of_turn = replace(common, patient=_message_of(reading.patient, reading.turn), record=reading.record)
    if entry.kind == "forbidden":
        return replace(of_turn, forbidden=reading.forbidden)
    if entry.kind == "harm":
        return of_turn
    demand = next(line for line in reading.demands if line.id == entry.key)
    return replace(of_turn, demand=demand.demand, why=demand.why or None, demand_id=demand.id)


def _course(common: Question, reading: Reading, entry: Entry, said: Mapping[int, TurnLine]) -> Question | None:
    if entry.turns is None:
        return None
    first, last = entry.turns
    lines = [said[turn] for turn in sorted(said) if first <= turn <= last]
    replies = "\n\n".join(f"Turn {line.turn}\n{line.reply}" for line in lines)
    messages = "\n\n".join(f"Turn {line.turn}: {line.patient}" for line in lines)
    return replace(common, turn=last, text=replies, patient=messages, record=reading.record, turns=(first, last))


def _conflict(common: Question, reading: Reading, entry: Entry, said: Mapping[int, TurnLine]) -> Question | None:
    if reading.kind == "reply":
        return replace(
            common, patient=reading.patient, record=reading.record, earlier_turn=reading.earlier_turn,
            earlier=reading.earlier,
        )  # fmt: skip
    earlier, later = entry.turns or (0, 0)
    if earlier not in said or later not in said:
        return None
    between = "\n\n".join(f"Turn {turn}: {said[turn].patient}" for turn in sorted(said) if earlier < turn <= later)
    return replace(
        common, turn=later, text=said[later].reply, patient=between, record=reading.record, earlier_turn=earlier,
        earlier=said[earlier].reply,
    )  # fmt: skip


def _message_of(patient: str, turn: int) -> str:
    """The patient's message of one turn, out of several."""
    place = patient.rfind(f"Turn {turn}: ")
    return patient[place:] if place >= 0 else patient


# ---- which points there are


def points_of(
    case: Case,
    read: Sequence[tuple[Reading, Sequence[Entry]]],
    rules: Iterable[RuleRaise],
    quote_doubts: frozenset[About] = frozenset(),
    *,
    due: bool = True,
) -> list[Point]:
    """Everything to be settled in a conversation; `quote_doubts` are retained facts whose quotation fits nothing.

    `due`: hard stops are asked about in any case.
    """
    raises = {_rule_about(rule): rule for rule in rules}
    must_ask = _due(case)
    talk = {line.turn: line for reading, _ in read for line in reading.turns}
    points: dict[About, Point] = {}
    facts: dict[tuple[str, str, str], list[Point]] = {}
    for reading, entries in read:
        words = [raise_ for raise_ in raises.values() if raise_.kind == "invented" and raise_.turn == reading.turn]
        for entry in _held_back(case, read, reading, entries):
            about = about_entry(entry, reading.source)
            rule = raises.pop(about, None) if not reading.source else None
            raised = _reason(case, reading, entry, rule, about in quote_doubts, must_ask if due else frozenset())
            if raised is None:
                continue
            question = question_for(reading, entry, talk)
            confirms = bool(rule and rule.confirms)
            point = Point(about, entry.kind, raised, question, entry, confirms, key_of(reading))
            if entry.kind == "fact":
                # a loss that is none must not take a denial with it: each is a finding of its own
                claim = entry.answer if entry.raised else ""
                facts.setdefault((entry.key, reading.source, claim), []).append(point)
            known = points.get(about)
            if known is None or (known.raised is not Raised.READING and raised is Raised.READING):
                points[about] = point
            if entry.kind == "invented":
                for raise_ in words:
                    if same_words(raise_.key, entry.key):
                        raises.pop(_rule_about(raise_), None)
    points |= {point.about: point for point in _rule_alone(read, raises.values(), talk)}
    probes = sorted({reading.turn for reading, _ in read if reading.kind == "summary" and not reading.source})
    for timeline in facts.values():
        points |= {point.about: point for point in _followers(timeline, probes, case.horizon)}
    repeated: dict[str, list[Point]] = {}
    for point in points.values():
        if point.kind == "invented" and point.question is not None:
            repeated.setdefault(" ".join(words_of(str(point.about[2]))), []).append(point)
    for timeline in repeated.values():
        points |= {point.about: point for point in _followers(timeline, probes, case.horizon)}
    return list(points.values())


def _rule_about(rule: RuleRaise) -> About:
    if rule.kind == "conflict":
        return rule.kind, rule.earlier_turn or 0, rule.turn
    return (rule.kind, rule.turn) if rule.kind in ("forbidden", "harm") else (rule.kind, rule.turn, rule.key)


def _reason(
    case: Case,
    reading: Reading,
    entry: Entry,
    rule: RuleRaise | None,
    quote_doubt: bool,
    due: frozenset[tuple[int, str]],
) -> Raised | None:
    """Why an entry has to be settled; None where it is cleared."""
    handover = reading.source == "reply"
    if handover and entry.kind == "fact" and entry.answer == "absent" and not _is_hard_stop(case, entry.key):
        return None  # a handover text need not hold every fact
    if entry.raised:
        return Raised.READING
    if entry.answer == UNSURE:
        return Raised.UNSURE
    if rule is not None:
        return Raised.RULE
    if entry.kind == "fact" and not reading.source and (entry.turn, entry.key) in due:
        return Raised.DUE
    return Raised.QUOTE if quote_doubt else None


def _is_hard_stop(case: Case, fact: str) -> bool:
    known = (*case.critical_entities, *(fact for turn in case.turns for fact in turn.introduces))
    return any(item.id == fact and item.hard_stop for item in known)


def _due(case: Case) -> frozenset[tuple[int, str]]:
    """Hard stops are always asked about: at turn 10, at the end, and after their updates."""
    known = (*case.critical_entities, *(fact for turn in case.turns for fact in turn.introduces))
    hard = {fact.id for fact in known if fact.hard_stop}
    updated = {(turn.turn, case.fact_named(update.fact)) for turn in case.turns for update in turn.updates}
    always = {(turn, fact) for turn in (case.horizon, len(case.turns)) for fact in hard}
    return frozenset(always | {(turn, fact) for turn, fact in updated if fact in hard})


def _held_back(
    case: Case, read: Sequence[tuple[Reading, Sequence[Entry]]], reading: Reading, entries: Sequence[Entry]
) -> Iterator[Entry]:
    """Entries of a reading, without demands that a later reply may still meet or an earlier one has met."""
    if reading.kind != "reply":
        yield from entries
        return
    demands = {demand.id: demand for demand in demands_at(case, reading.turn)}
    for entry in entries:
        demand = demands.get(entry.key)
        if demand is not None and demand.kind == "must" and demand.expectation.by:
            met = not demand.expectation.until and _met_before(read, demand.id, reading.turn)
            if met or not demand.due:
                continue
        yield entry


def _met_before(read: Sequence[tuple[Reading, Sequence[Entry]]], demand: str, turn: int) -> bool:
    earlier = [
        entry for reading, entries in read if reading.kind == "reply" and reading.turn < turn for entry in entries
    ]
    return any(entry.key == demand and entry.answer == "met" for entry in earlier)


def _rule_alone(
    read: Sequence[tuple[Reading, Sequence[Entry]]], raises: Iterable[RuleRaise], talk: Mapping[int, TurnLine]
) -> Iterator[Point]:
    """Points that only a rule raised and no reading has an entry for: inventions, and pairs that are not neighbours."""
    for rule in raises:
        turns = (rule.earlier_turn or 0, rule.turn) if rule.kind == "conflict" else None
        entry = Entry(
            rule.kind, rule.turn, rule.key, "supported" if rule.kind == "invented" else "consistent", turns=turns
        )
        for reading, _ in read:
            fits = reading.kind == "summary" and not reading.source and reading.turn == rule.turn
            if rule.kind == "conflict":
                fits = reading.kind == "conversation" and any(line.turn == rule.turn for line in reading.turns)
            if fits and rule.kind in ("invented", "conflict"):
                question = question_for(reading, entry, talk)
                yield Point(about_entry(entry), rule.kind, Raised.RULE, question, entry, rule.confirms, key_of(reading))
                break


def _followers(timeline: Sequence[Point], probes: Sequence[int], horizon: int) -> Iterator[Point]:
    """Points at several probes in a row: settled at the first, at turn 10 and at the last; those between follow."""
    place = {turn: index for index, turn in enumerate(probes)}
    runs: list[list[Point]] = []
    for point in sorted(timeline, key=lambda point: int(point.about[1])):
        if point.raised not in (Raised.READING, Raised.RULE):
            continue  # of what a reading left unsure nothing is known that the next probe could share
        last = runs[-1][-1] if runs else None
        near = last is not None and place.get(int(point.about[1]), -9) - place.get(int(last.about[1]), -9) == 1
        if last is not None and near and last.raised is point.raised:
            runs[-1].append(point)
        else:
            runs.append([point])
    for run in runs:
        for point in run[1:-1]:
            if int(point.about[1]) != horizon:
                yield replace(point, follows=run[0].about)


def words_of(text: str) -> list[str]:
    """A text as lower-case words and numbers."""
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


def same_words(one: str, other: str) -> bool:
    """Whether two statements are about the same words."""
    a, b = set(words_of(one)), set(words_of(other))
    return bool(a and b) and len(a & b) >= 0.6 * min(len(a), len(b))
