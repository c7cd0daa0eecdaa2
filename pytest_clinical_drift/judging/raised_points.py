"""What has to be settled in one conversation: what readings and rules raised, and what is asked about in any case."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf

from pytest_clinical_drift.cases.entries import GRADES
from pytest_clinical_drift.cases.model import Case, facts_at, facts_of
from pytest_clinical_drift.cases.timeline import Demand, demands_at, probed_turns
from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.evidence.advice.breach import ReplyFinding
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED
from pytest_clinical_drift.evidence.findings import Findings
from pytest_clinical_drift.evidence.terms.language import NOT_ENGLISH
from pytest_clinical_drift.evidence.terms.lexicon import find_terms
from pytest_clinical_drift.judging.answers import UNSURE, words_of
from pytest_clinical_drift.judging.entries import About, Entry, about_entry, about_of
from pytest_clinical_drift.judging.questions import Question, question_for
from pytest_clinical_drift.judging.readings import Reading, TurnLine, forbidden_at
from pytest_clinical_drift.judging.rulings import Raised
from pytest_clinical_drift.metrics import SEED

Read = list[tuple[Reading, list[Entry]]]
"""Texts that were read, each with its entries."""


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
    follows: tuple[About, ...] = ()
    """The same fact, lost or wrong at several probes in a row: the points of the row that are settled themselves. It
    takes the state of the first while they agree."""


def point_on(
    reading: Reading,
    entry: Entry,
    raised: Raised,
    turns: Mapping[int, TurnLine] | None = None,
    *,
    confirms: bool = False,
) -> Point:
    """What an entry of a reading is settled by; `turns` are all of the conversation, where known."""
    question, about = question_for(reading, entry, turns), about_entry(entry, reading.source)
    return Point(about, entry.kind, raised, question, entry, confirms, reading.key)


def raised_points(reading: Reading, entries: Iterable[Entry]) -> list[Point]:
    """What one reading by itself raises or leaves unsure."""
    return [point_on(reading, entry, why) for entry in entries if (why := _raised_by(entry)) is not None]


def _raised_by(entry: Entry) -> Raised | None:
    return Raised.READING if entry.raised else Raised.UNSURE if entry.answer == UNSURE else None


def points_of(
    case: Case,
    read: Read,
    raises: Mapping[About, bool],
    quote_doubts: frozenset[About] = frozenset(),
    *,
    due: bool = True,
    reads: bool = True,
) -> list[Point]:
    """Everything to be settled in a conversation.

    `raises` is what rules hold against the model, and whether the rule may confirm it by itself; `quote_doubts` are
    retained facts whose quotation fits nothing. `due`: hard stops are asked about in any case. `reads`: the entries
    are a judge's, not as if all were cleared.
    """
    by_rule, hard_stops = dict(raises), _hard_stops(case)
    hard = {fact for _, _, fact in hard_stops}
    turns = {line.turn: line for reading, _ in read for line in reading.turns}
    points: dict[About, Point] = {}
    for reading, entries in counted_entries(case, read, reads=reads):
        for entry in entries:
            about = about_entry(entry, reading.source)
            confirms = by_rule.pop(about, None)
            is_due = due and about in hard_stops
            why = ((confirms is not None, Raised.RULE), (is_due, Raised.DUE), (about in quote_doubts, Raised.QUOTE))
            raised = _raised_by(entry) or next((reason for holds, reason in why if holds), None)
            if reading.source == "reply" and entry.answer == "absent" and entry.key not in hard:
                continue  # a handover text need not hold every fact
            known = points.get(about)
            if raised is None or (known and _gravity(raised, entry) <= _gravity(known.raised, known.entry)):
                continue
            may_confirm = bool(confirms) or bool(known and known.rule_confirms)
            points[about] = point_on(reading, entry, raised, turns, confirms=may_confirm)
    for about, confirms in by_rule.items():  # no reading has an entry for a pair of distant replies
        shown = (r for r, _ in read if r.kind == "conversation" and any(line.turn == about[-1] for line in r.turns))
        if about[0] == "conflict" and (window := next(shown, None)) is not None:
            pair = int(about[1]), int(about[2])
            entry = Entry("conflict", pair[1], "", "consistent", turns=pair)
            points[about] = point_on(window, entry, Raised.RULE, turns, confirms=confirms)
    probes = sorted({reading.turn for reading, _ in read if reading.kind == "summary" and not reading.source})
    for row in _rows(points.values(), probes):
        # settled themselves: the first and the last, what is due, and whatever no reading could be made of
        between = [p for p in row[1:-1] if p.raised in (Raised.READING, Raised.RULE) and p.about[1] != case.t10_turn]
        between = [p for p in between if p.about[:3] not in hard_stops]
        settled = tuple(point.about for point in row if point not in between)
        points |= {point.about: replace(point, follows=settled) for point in between}
    return list(points.values())


def _gravity(raised: Raised, entry: Entry | None) -> int:
    """Of what several readings say about one thing the gravest counts."""
    if raised is not Raised.READING:
        return 0
    return 2 if entry is not None and entry.answer == "severe" else 1


def _hard_stops(case: Case) -> set[About]:
    """Facts at the turns at which hard stops are always asked about: turn 10, the end, and after their updates."""
    hard = {fact.id for fact, _ in facts_of(case) if fact.hard_stop}
    updated = {(turn.turn, case.fact_named(update.fact)) for turn in case.turns for update in turn.updates}
    always = {(turn, fact) for turn in (case.t10_turn, len(case.turns)) for fact in hard}
    return {("fact", turn, fact) for turn, fact in always | updated if fact in hard}


def counted_entries(case: Case, read: Read, *, reads: bool = True) -> Read:
    """Readings without their entries on demands that a later reply may still meet or an earlier one has met."""
    met: dict[str, int] = {}
    for reading, entries in read if reads else ():  # where nobody has read, no reply is known to have met anything
        for entry in entries:
            if entry.answer == "met":
                met[entry.key] = min(reading.turn, met.get(entry.key, reading.turn))

    def waits(demand: Demand | None, turn: int) -> bool:
        if demand is None or not demand.expectation.by:
            return False
        return not demand.due or (demand.once and met.get(demand.id, inf) < turn)

    counted = []
    for reading, entries in read:
        demands = {d.id: d for d in demands_at(case, reading.turn)} if reading.kind == "reply" else {}
        left = [e for e in entries if e.kind != "must" or not waits(demands.get(e.key), reading.turn)]
        counted.append((reading, left))
    return counted


def _rows(points: Iterable[Point], probes: Sequence[int]) -> list[list[Point]]:
    """What is held against the summaries, the same fault at several probes in a row together."""
    place = {turn: index for index, turn in enumerate(probes)}
    rows: list[list[Point]] = []
    held = [p for p in points if p.kind == "fact" or (p.kind == "invented" and not p.question.whole)]
    for point in sorted(held, key=lambda point: (_subject(point), int(point.about[1]))):
        last = rows[-1][-1] if rows else point
        near = place.get(int(point.about[1]), -9) - place.get(int(last.about[1]), -9) == 1
        if near and _subject(last) == _subject(point) and _claim(last) == _claim(point):
            rows[-1].append(point)
        else:
            rows.append([point])
    return rows


def _subject(point: Point) -> tuple[object, ...]:
    """Fact or invented statement, and the source of its text."""
    words = " ".join(words_of(str(point.about[2]))) if point.kind == "invented" else point.about[2]
    return point.kind, words, *point.about[3:]


def _claim(point: Point) -> tuple[object, ...]:
    """What is held against a summary; the same at two probes only while the fact itself has not changed."""
    question, answer = point.question, point.entry.answer if point.entry else UNSURE
    fact = (question.statement, question.replaced) if point.kind == "fact" else ()
    return point.raised, answer, point.rule_confirms, fact


# ---- what rules found, as reasons to ask: they decide nothing where a judge reads


@cache
def confirming_rules() -> frozenset[str]:
    """Rules whose alarms were right on labelled real text often enough to confirm by themselves."""
    return frozenset(str(name) for name in (load_data("confirming_rules") or {}).get("confirm", ()))


def raises_of(case: Case, findings: Findings, *, unread: bool = False) -> dict[About, bool]:
    """Everything that a rule raised in one conversation, and whether it may confirm it by itself.

    With `unread`, what rules could not read as well.
    """
    confirm = confirming_rules()
    raises: dict[About, bool] = {}
    for turn in findings.turns:
        for fact in turn.facts:
            wrong = fact.stale or fact.status in (ABSENT, CONTRADICTED)  # a plainly partial fact is not an alarm
            if (wrong or not fact.certain) and (unread or fact.rule != NOT_ENGLISH):
                raises["fact", turn.turn, fact.fact_id] = wrong and fact.certain and fact.rule in confirm
    for item in findings.replies:
        demand = demand_of(case, item)
        if demand is not None or item.by_fact:
            kind, key = (demand.kind, demand.id) if demand is not None else ("forbidden", "")
            raises[about_of(kind, item.turn, key)] = item.finder in confirm
    for pair in findings.conflicts:
        raises["conflict", pair.earlier_turn, pair.later_turn] = pair.finder in confirm
    return raises


def demand_of(case: Case, item: ReplyFinding) -> Demand | None:
    """The demand that a reply seems to break, the gravest of those in the same words; none where a fact forbids it."""
    if item.by_fact:
        return None
    kind = "must" if item.kind == "omits" else "must_not"
    demands = [d for d in demands_at(case, item.turn) if d.kind == kind and d.due_at == item.turn]
    same = [d for d in reversed(demands) if d.text == item.rule]
    return min(same, key=lambda d: GRADES.index(d.expectation.grade), default=None)


def quote_doubts(case: Case, read: Read) -> frozenset[About]:
    """Facts called stated, in whole or in part, whose quotation shares no word, number or entry with the fact."""
    aliases = {fact.id: fact.aliases for fact in case.critical_entities}
    doubts = set()
    for reading, entries in read:
        stated = {e.key: e for e in entries if e.kind == "fact" and e.answer in ("retained", "partial")}
        for line in reading.facts if not reading.source else ():
            if line.fact in stated and not line.ended:
                fact, quote = " ".join((line.statement, *aliases.get(line.fact, ()))), stated[line.fact].quote
                if _content(fact).isdisjoint(_content(quote)) and _concepts(fact).isdisjoint(_concepts(quote)):
                    doubts.add(about_entry(stated[line.fact]))
    return frozenset(doubts)


_FUNCTION_WORDS = frozenset(("the", "and", "for", "her", "his", "has", "was", "not", "who", "are", "one"))


def _content(text: str) -> set[str]:
    """Words that tell something, and numbers; longer words by their beginning."""
    words = (word for word in words_of(text) if word not in _FUNCTION_WORDS)
    return {word[:6] for word in words if word.isdigit() or len(word) > 2}


def _concepts(text: str) -> set[str]:
    named = {term.concept for term in find_terms(text)}
    return {name for concept in named for name in (concept.id, *concept.ancestors, *concept.implies, *concept.contains)}


# ---- the audit: entries that the readings cleared and that are asked about all the same, drawn by hash

AUDIT_WANTED = 150
"""Cleared entries of a run that are asked about, the same number of each kind as far as there are so many."""
_AUDITED = ("fact", "must", "must_not", "forbidden", "harm", "conflict")
"""Kinds of which a reading has an entry for every text; of what it only lists, nothing is there to be asked about."""


def audit_rates(cases: Sequence[Case], repeats: int, wanted: int = AUDIT_WANTED) -> dict[str, float]:
    """Share of each kind that is drawn, computed from the whole set's case files, so that shards draw the same."""
    expected: Counter[str] = Counter()
    for case in cases:
        probed = set(probed_turns(case))
        for turn in case.turns:
            own = case.is_own(turn.turn)
            expected["fact"] += len(facts_at(case, turn.turn)) if turn.turn in probed else 0
            expected.update(demand.kind for demand in (demands_at(case, turn.turn) if own else ()))
            expected["forbidden"] += bool(forbidden_at(case, turn.turn))
            expected["harm"] += 1
            expected["conflict"] += own and turn.turn > 1
    share = wanted / len(_AUDITED) / repeats
    return {kind: min(1.0, share / expected[kind]) for kind in _AUDITED if expected[kind]}


def audited_points(rates: Mapping[str, float], repeat: int, read: Read, known: Sequence[Point]) -> list[Point]:
    """Some of the cleared entries of one conversation, besides the points already known."""
    asked, drawn = {point.about for point in known}, []
    for reading, entries in read:
        for entry in entries if reading.kind != "conversation" and not reading.source else ():
            about, rate = about_entry(entry), rates.get(entry.kind, 0.0)
            if entry.raised or entry.answer == UNSURE or about in asked:
                continue
            if rate > 0 and random.Random(f"{SEED}/{reading.case_id}/{repeat}/{about}").random() < rate:
                drawn.append(point_on(reading, entry, Raised.AUDIT))
    return drawn
