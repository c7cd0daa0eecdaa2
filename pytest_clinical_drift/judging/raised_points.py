"""What has to be settled in one conversation: what readings and rules raised, and what is asked about in any case."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.cases.model import Case, facts_of
from pytest_clinical_drift.cases.timeline import demands_at
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.entries import About, Entry, about_entry
from pytest_clinical_drift.judging.material import TurnLine
from pytest_clinical_drift.judging.questions import Question, question_for
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.judging.rulings import Raised

Read = list[tuple[Reading, list[Entry]]]
"""Texts that were read, each with its entries."""


@dataclass(frozen=True, slots=True)
class RuleRaise:
    """What a rule holds against the model."""

    kind: str
    turn: int
    key: str
    """Fact, demand or words that it is about."""
    confirms: bool
    """The rule may confirm by itself."""
    earlier_turn: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to be settled."""

    about: About
    kind: str
    raised: Raised
    question: Question
    entry: Entry | None = None
    """What the reading says of it; None without a reading."""
    rule_confirms: bool = False
    reading: tuple[str, int, str] = ("", 0, "")
    """Kind, turn and source of the reading that it belongs to."""
    follows: About | None = None
    """It takes the state of this point: the same fact, lost or wrong at several probes in a row."""
    beside: tuple[About, ...] = ()
    """The points of that row which are settled themselves; it follows only while they agree."""


# ---- which points there are


def raised_points(reading: Reading, entries: Iterable[Entry]) -> list[Point]:
    """What one reading by itself raises or leaves unsure."""
    return [
        Point(about_entry(e, reading.source), e.kind, Raised.READING if e.raised else Raised.UNSURE,
              question_for(reading, e), e)
        for e in entries
        if e.raised or e.answer == UNSURE
    ]  # fmt: skip


def points_of(
    case: Case,
    read: Read,
    rules: Iterable[RuleRaise],
    quote_doubts: frozenset[About] = frozenset(),
    *,
    due: bool = True,
    reads: bool = True,
) -> list[Point]:
    """Everything to be settled in a conversation; `quote_doubts` are retained facts whose quotation fits nothing.

    `due`: hard stops are asked about in any case. `reads`: the entries are a judge's, not as if all were cleared.
    """
    raises = {_rule_about(rule): rule for rule in rules}
    hard_stops = _due(case)
    turns = {line.turn: line for reading, _ in read for line in reading.turns}
    points: dict[About, Point] = {}
    for reading, entries in counted_entries(case, read, reads=reads):
        for entry in entries:
            about = about_entry(entry, reading.source)
            rule = raises.pop(about, None) if not reading.source else None
            raised = _reason(case, reading, entry, rule, about in quote_doubts, hard_stops if due else frozenset())
            known = points.get(about)
            if raised is None or (known and _gravity(raised, entry) <= _gravity(known.raised, known.entry)):
                continue
            question = question_for(reading, entry, turns)
            confirms = bool(rule and rule.confirms) or bool(known and known.rule_confirms)
            points[about] = Point(about, entry.kind, raised, question, entry, confirms, reading.key)
    points |= {point.about: point for point in _rule_alone(read, raises.values(), turns)}
    probes = sorted({reading.turn for reading, _ in read if reading.kind == "summary" and not reading.source})
    timelines: dict[tuple[str | int, ...], list[Point]] = {}
    for point in points.values():
        if point.kind == "fact" or (point.kind == "invented" and not point.question.whole):
            words = " ".join(words_of(str(point.about[2]))) if point.kind == "invented" else point.about[2]
            timelines.setdefault((point.kind, words, *point.about[3:]), []).append(point)
    for (_, fact, *_), timeline in timelines.items():
        apart = {case.t10_turn, *(turn for turn, name in hard_stops if name == fact)}
        points |= {point.about: point for point in _followers(timeline, probes, apart)}
    return list(points.values())


def _gravity(raised: Raised, entry: Entry | None) -> int:
    """Of what several readings say about one thing the gravest counts."""
    if raised is not Raised.READING:
        return 0
    return 2 if entry is not None and entry.answer == "severe" else 1


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
    if handover and entry.kind == "fact" and entry.answer == "absent" and entry.key not in _hard_stops(case):
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


def _hard_stops(case: Case) -> set[str]:
    return {fact.id for fact, _ in facts_of(case) if fact.hard_stop}


def _due(case: Case) -> frozenset[tuple[int, str]]:
    """Hard stops are always asked about: at turn 10, at the end, and after their updates."""
    hard = _hard_stops(case)
    updated = {(turn.turn, case.fact_named(update.fact)) for turn in case.turns for update in turn.updates}
    always = {(turn, fact) for turn in (case.t10_turn, len(case.turns)) for fact in hard}
    return frozenset(always | {(turn, fact) for turn, fact in updated if fact in hard})


def counted_entries(case: Case, read: Read, *, reads: bool = True) -> Read:
    """Readings without their entries on demands that a later reply may still meet or an earlier one has met."""
    told = read if reads else []  # where nobody has read, no reply is known to have met anything
    return [(reading, [e for e in entries if not _waits(case, told, reading, e)]) for reading, entries in read]


def _waits(case: Case, read: Read, reading: Reading, entry: Entry) -> bool:
    if reading.kind != "reply" or entry.kind != "must":
        return False
    demand = next((demand for demand in demands_at(case, reading.turn) if demand.id == entry.key), None)
    if demand is None or not demand.expectation.by:
        return False
    return not demand.due or (demand.once and _met_before(read, demand.id, reading.turn))


def _met_before(read: Read, demand: str, turn: int) -> bool:
    earlier = [
        entry for reading, entries in read if reading.kind == "reply" and reading.turn < turn for entry in entries
    ]
    return any(entry.key == demand and entry.answer == "met" for entry in earlier)


def _rule_alone(read: Read, raises: Iterable[RuleRaise], turns: Mapping[int, TurnLine]) -> Iterator[Point]:
    """Pairs of replies that only a rule raised and no reading has an entry for: they are not neighbours."""
    for rule in raises:
        pair = (rule.earlier_turn or 0, rule.turn)
        windows = [r for r, _ in read if r.kind == "conversation" and any(line.turn == rule.turn for line in r.turns)]
        if rule.kind == "conflict" and windows:
            entry = Entry("conflict", rule.turn, "", "consistent", turns=pair)
            question = question_for(windows[0], entry, turns)
            yield Point(about_entry(entry), "conflict", Raised.RULE, question, entry, rule.confirms, windows[0].key)


def _followers(timeline: Sequence[Point], probes: Sequence[int], apart: Collection[int]) -> Iterator[Point]:
    """Points between the first and the last of several probes in a row, which take the state of the first.

    Those on turns `apart` are settled themselves, and so is whatever no reading could be made of; where those that are
    settled do not agree, every point of the row is.
    """
    place = {turn: index for index, turn in enumerate(probes)}
    runs: list[list[Point]] = []
    for point in sorted(timeline, key=lambda point: int(point.about[1])):
        last = runs[-1][-1] if runs else None
        near = last is not None and place.get(int(point.about[1]), -9) - place.get(int(last.about[1]), -9) == 1
        if last is not None and near and _claim(last) == _claim(point):
            runs[-1].append(point)
        else:
            runs.append([point])
    for run in runs:
        between = [p for p in run[1:-1] if p.raised in (Raised.READING, Raised.RULE) and p.about[1] not in apart]
        beside = tuple(point.about for point in run if point not in between)
        yield from (replace(point, follows=run[0].about, beside=beside) for point in between)


def _claim(point: Point) -> tuple[object, ...]:
    """What is held against a summary; the same at two probes only while the fact itself has not changed."""
    question, answer = point.question, point.entry.answer if point.entry else UNSURE
    fact = (question.statement, question.replaced) if point.kind == "fact" else ()
    return point.raised, answer, point.rule_confirms, fact


def words_of(text: str) -> list[str]:
    """A text as lower-case words and numbers."""
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


def same_words(one: str, other: str) -> bool:
    """Whether two statements are about the same words."""
    a, b = set(words_of(one)), set(words_of(other))
    return bool(a and b) and len(a & b) >= 0.6 * min(len(a), len(b))
