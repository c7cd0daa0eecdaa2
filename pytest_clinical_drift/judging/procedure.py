"""How one conversation is judged: every text is read whole, then single questions settle what was raised.

Each step is a generator that yields what has to be asked and is sent the answers, so that the same procedure serves a
run, its canaries and calibration, whoever asks and however many requests are in flight.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.judging.answers import KINDS, UNSURE, Answer, words_of
from pytest_clinical_drift.judging.entries import (
    About,
    Entry,
    ReadingAnswer,
    care_of,
    entries_of,
    missing,
    standing_advice,
    unread_entries,
)
from pytest_clinical_drift.judging.protocol import Given, JudgeRequest
from pytest_clinical_drift.judging.raised_points import (
    Point,
    Read,
    audited_points,
    counted_entries,
    points_of,
    quote_doubts,
)
from pytest_clinical_drift.judging.readings import Reading, StandingAdvice
from pytest_clinical_drift.judging.rulings import Opinion, Raised, Ruling, needs_second, state_of, telling

T = TypeVar("T")
Answers = Mapping[tuple[str, int, str], Given]
Procedure = Generator[list[JudgeRequest], Answers, T]
"""Yields what is to be asked, is sent the answers to it, returns its result."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who gives the opinions, by name, and how texts are read."""

    reader: str
    questioner: str
    wordings: tuple[int, ...] = (1,)
    """Wordings in which every text is read; either may raise an alarm."""
    reads: bool = True
    """False for judges that answer single questions only."""
    kinds: frozenset[str] = frozenset(KINDS)
    """Kinds of single question that are answered at all."""
    alone: bool = False
    """Calibration: what the judge upholds is confirmed, also where only a person confirms."""


class SettledPoint(NamedTuple):
    """A point and the entry of a reading that its question was made of."""

    about: About
    reading: str
    """Kind of the reading."""
    turn: int
    source: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class SingleJudgement:
    """What the judge made of the summary of the same transcript given in one message."""

    entries: tuple[Entry, ...]
    """On facts."""
    rulings: tuple[tuple[About, Ruling], ...]


@dataclass(frozen=True, slots=True)
class ConversationJudgement:
    """What the judge made of one conversation."""

    entries: tuple[tuple[str, int, str, Entry], ...] = ()
    """Every entry of every reading, with the reading's kind, turn and source."""
    rulings: Mapping[About, Ruling] = field(default_factory=dict)
    asked: tuple[SettledPoint, ...] = ()
    """What each ruling was about, so that its question can be made again."""
    care: Mapping[int, str] = field(default_factory=dict)
    """Level of care that each reply points to."""
    requests: int = 0
    """Readings and single questions, each wording counted; without audit."""
    unsure: Mapping[str, int] = field(default_factory=dict)
    """Why entries became unsure, with how often."""
    read: tuple[tuple[str, int, str], ...] = ()
    """Kind, turn and source of every text that was read."""
    single: SingleJudgement | None = None
    """None where there is no such summary, or nobody read it."""


def read_all(readings: Sequence[Reading], judges: Judges) -> Procedure[tuple[Read, dict[str, list[ReadingAnswer]]]]:
    """Read texts, each in every wording asked for; with the answers by reading id."""
    if not judges.reads:
        return [(reading, unread_entries(reading)) for reading in readings], {}
    asks = [JudgeRequest(reading, wording, "reader") for reading in readings for wording in judges.wordings]
    answers = yield asks
    read: Read = []
    raw: dict[str, list[ReadingAnswer]] = {}
    for reading in readings:
        given = [answers[JudgeRequest(reading, wording, "reader").key] for wording in judges.wordings]
        kept = raw[reading.id] = [answer for answer in given if isinstance(answer, ReadingAnswer)]
        read.append((reading, _either([entries_of(reading, answer) for answer in kept])))
    return read, raw


def read_windows(windows: Sequence[Reading], judges: Judges) -> Procedure[Read]:
    """Read a conversation window after window: each gets the advice that the earlier ones left standing.

    A window that does not say what stands leaves open whether a later one contradicts it.
    """
    read: Read = []
    standing: list[StandingAdvice] = []
    if not judges.reads:
        return read
    for window in windows:
        own = {line.turn for line in window.turns}
        shown = replace(window, standing=tuple(item for item in standing if item.turn not in own))
        ((_, entries),), raw = yield from read_all([shown], judges)
        told = [standing_advice(shown, answer) for answer in raw[shown.id]]
        unknown = missing(shown, "conflict")
        if None in told and window is not windows[-1] and unknown not in entries:
            entries.append(unknown)
        read.append((shown, entries))
        standing = list(dict.fromkeys(item for items in told for item in items or ()))
    return read


def _either(readings: Sequence[list[Entry]]) -> list[Entry]:
    """Entries of several readings of one text: raised by either; unsure where one is unsure and none raises it."""
    best = list(readings[0])
    for entry in (entry for entries in readings[1:] for entry in entries):
        place = next((index for index, known in enumerate(best) if _same(known, entry)), None)
        if place is None:
            best.append(entry)
        elif _weight(entry) > _weight(best[place]):
            best[place] = entry
    return best


def _same(one: Entry, other: Entry) -> bool:
    """Whether two readings speak of one thing; what they list may be quoted at greater or lesser length."""
    if (one.kind, one.turn, one.turns) != (other.kind, other.turn, other.turns):
        return False
    a, b = (f" {' '.join(words_of(entry.key))} " for entry in (one, other))
    listed = one.kind in ("invented", "misreported") and a.strip() and b.strip()
    return a in b or b in a if listed else one.key == other.key


def _weight(entry: Entry) -> int:
    return 2 if entry.raised else 1 if entry.answer == UNSURE else 0


def settled_points(points: Iterable[Point]) -> tuple[SettledPoint, ...]:
    return tuple(SettledPoint(p.about, *p.reading, p.entry) for p in points if p.entry is not None)


def settle(points: Iterable[Point], judges: Judges) -> Procedure[dict[About, Ruling]]:
    """Put the questions of points, the second wording where the first calls for it; what they amount to."""
    every = list(points)
    leading = [point for point in every if not point.follows]
    asked = [point for point in leading if point.kind in judges.kinds and not point.question.whole]
    # of what the reading left unsure both wordings decide
    first = yield [JudgeRequest(p.question, w) for p in asked for w in ((1, 2) if p.raised is Raised.UNSURE else (1,))]
    again = [p for p in asked if needs_second(p.raised, p.kind, _said(first, p).get(1))]
    second = yield [JudgeRequest(point.question, 2) for point in again]
    answers = {**first, **second}
    rulings = {point.about: _ruling(point, _said(answers, point), judges) for point in leading}
    followers = [point for point in every if point.follows]
    # what is settled around them does not agree: they have questions of their own
    alone = [point for point in followers if len({rulings[about].state for about in point.follows}) > 1]
    if alone:
        rulings |= yield from settle([replace(point, follows=()) for point in alone], judges)
    for point in followers:
        if point.about not in rulings:
            led, turn = rulings[point.follows[0]], int(point.follows[0][1])
            taken = [replace(opinion, asked_at=turn) for opinion in led.opinions if not opinion.reading]
            opinions = (*_opinions(point, {}, judges), *taken)
            rulings[point.about] = Ruling(point.question.id, point.kind, led.state, led.answer, point.raised, opinions)
    return rulings


def _said(answers: Answers, point: Point) -> dict[int, Answer]:
    """The answers to a point's question, by wording."""
    given = {wording: answers.get(JudgeRequest(point.question, wording).key) for wording in (1, 2)}
    return {wording: answer for wording, answer in given.items() if isinstance(answer, Answer)}


def _opinions(point: Point, said: Mapping[int, Answer], judges: Judges) -> list[Opinion]:
    """That of the reading, where it was read, and those of the wordings."""
    opinions = []
    if judges.reads and (e := point.entry) is not None:
        read = Opinion(judges.reader, 1, e.answer, e.quote, e.reason, e.earlier_quote, reading=True, doubt=e.doubt)
        opinions.append(read)
    for wording, a in said.items():
        reason, doubt = (a.failed, "failed") if a.failed else (a.reason, a.doubt)
        opinions.append(Opinion(judges.questioner, wording, a.answer, a.quote, reason, a.earlier_quote, doubt=doubt))
    return opinions


def _ruling(point: Point, said: Mapping[int, Answer], judges: Judges) -> Ruling:
    state = state_of(
        point.raised, point.kind, said.get(1), said.get(2), rule_confirms=point.rule_confirms, alone=judges.alone
    )
    opinions = _opinions(point, said, judges)
    read = next((opinion.answer for opinion in opinions if opinion.reading), UNSURE)
    answer = telling(point.kind, state, read, [answered.answer for answered in said.values()])
    return Ruling(point.question.id, point.kind, state, answer, point.raised, tuple(opinions))


def judge_single(case: Case, reading: Reading | None, judges: Judges) -> Procedure[SingleJudgement | None]:
    """Read and settle the facts of the summary of a transcript in one message."""
    if reading is None or not judges.reads:
        return None
    read, _ = yield from read_all([reading], judges)
    facts = [(of, [entry for entry in entries if entry.kind == "fact"]) for of, entries in read]
    rulings = yield from settle(points_of(case, facts, {}, due=False), judges)
    return SingleJudgement(tuple(entry for _, entries in facts for entry in entries), tuple(rulings.items()))


def judge_conversation(
    case: Case,
    readings: Sequence[Reading],
    windows: Sequence[Reading],
    raises: Mapping[About, bool],
    judges: Judges,
    *,
    check_quotes: bool = False,
    audit: Mapping[str, float] = {},
    repeat: int = 0,
) -> Procedure[ConversationJudgement]:
    """Read every text of a conversation and settle what was raised; `audit` is the share of each kind asked about."""
    read, raw = yield from read_all(readings, judges)
    read += yield from read_windows(windows, judges)
    doubts = quote_doubts(case, read) if check_quotes and judges.reads else frozenset()
    points = points_of(case, read, raises, doubts)
    drawn = audited_points(audit, repeat, counted_entries(case, read), points)
    rulings = yield from settle([*points, *drawn], judges)
    opinions = [opinion for point in points for opinion in rulings[point.about].opinions]
    own = sum(not opinion.reading and not opinion.asked_at for opinion in opinions)
    return ConversationJudgement(
        entries=tuple((*reading.key, entry) for reading, entries in read for entry in entries),
        rulings=rulings,
        asked=settled_points((*points, *drawn)),
        care={r.turn: care for r in readings if r.kind == "reply" and r.id in raw and (care := care_of(raw[r.id][0]))},
        requests=own + (len(read) * len(judges.wordings) if judges.reads else 0),
        unsure=Counter(entry.doubt for _, entries in read for entry in entries if entry.doubt),
        read=tuple(reading.key for reading, _ in read) if judges.reads else (),
    )
