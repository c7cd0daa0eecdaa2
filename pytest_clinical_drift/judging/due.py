"""What is asked about in one conversation: what readings and rules raised, and what is asked about in any case."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from typing import NamedTuple

from pytest_clinical_drift.cases.entries import GRADES
from pytest_clinical_drift.cases.model import Case, facts_at, facts_of
from pytest_clinical_drift.cases.timeline import Demand, demands_at, probed_turns
from pytest_clinical_drift.core.findings import Finding, FindingKey, Opinion
from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.core.words import Kind, State, TextKind, Why, Word
from pytest_clinical_drift.evidence.advice.breach import ReplyFinding
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED
from pytest_clinical_drift.evidence.findings import FactFinding, Findings
from pytest_clinical_drift.evidence.terms.language import NOT_ENGLISH
from pytest_clinical_drift.evidence.terms.lexicon import find_terms
from pytest_clinical_drift.judging.answers import KINDS, UNSURE, words_of
from pytest_clinical_drift.judging.entries import entry_of, raised
from pytest_clinical_drift.judging.questions import Question, question_for
from pytest_clinical_drift.judging.readings import Reading, TurnLine, forbidden_at
from pytest_clinical_drift.metrics import SEED


class TextRead(NamedTuple):
    """A text that was read, with the entries of its reading."""

    reading: Reading
    entries: Sequence[Finding]


class Due(NamedTuple):
    """A finding that nothing has settled yet, and the question that settles it."""

    finding: Finding
    question: Question

    @property
    def key(self) -> FindingKey:
        return self.finding.key


def due_on(
    reading: Reading,
    entry: Finding,
    why: Why,
    turns: Mapping[int, TurnLine] | None = None,
    *,
    rule_confirms: bool = False,
) -> Due:
    """What an entry of a reading is settled by; `turns` are all of the conversation, where known."""
    question = question_for(reading, entry.key, turns)
    finding = replace(entry, state=State.OPEN, why=why, question=question.id, rule_confirms=rule_confirms)
    return Due(finding, question)


def raised_by_reading(reading: Reading, entries: Iterable[Finding]) -> list[Due]:
    """What one reading by itself raises or leaves unsure."""
    due = []
    for entry in entries:
        why = _why_of(entry)
        if why is not None:
            due.append(due_on(reading, entry, why))
    return due


def _why_of(entry: Finding) -> Why | None:
    if raised(entry):
        return Why.READING
    return Why.UNSURE if entry.answer == UNSURE else None


@dataclass(frozen=True, slots=True)
class ByRules:
    """What the rules hold against a conversation."""

    raises: Mapping[FindingKey, bool] = field(default_factory=dict)
    """With whether the rule may confirm it by itself."""
    doubted: frozenset[FindingKey] = frozenset()
    """Facts called retained whose quotation shares nothing with them."""


def all_due(
    case: Case, read: Sequence[TextRead], rules: ByRules, *, reader: str = "", hard_stops: bool = True
) -> list[Due]:
    """Everything to be settled in a conversation.

    `reader` is the judge whose entries these are; empty where they are as if all were cleared. `hard_stops`: they are
    asked about in any case.
    """
    always = _hard_stops(case)
    hard = {key.subject for key in always}
    anyway = always if hard_stops else set()
    turns = _turns_shown(read)
    left = dict(rules.raises)
    due: dict[FindingKey, Due] = {}
    for reading, entries in counted_entries(case, read, by_judge=bool(reader)):
        for entry in entries:
            confirms = left.pop(entry.key, None)
            if _may_be_left_out(reading, entry, hard):
                continue
            why = _why_of(entry) or _why_besides(entry.key, confirms, anyway, rules.doubted)
            known = due.get(entry.key)
            if why is None or _is_as_grave(known, why, entry):
                continue
            may_confirm = bool(confirms) or (known is not None and known.finding.rule_confirms)
            due[entry.key] = due_on(reading, entry, why, turns, rule_confirms=may_confirm)
    due |= _by_rules_alone(read, left, turns, reader)
    due |= _followers(case, read, due.values(), always)
    return list(due.values())


def _turns_shown(read: Sequence[TextRead]) -> dict[int, TurnLine]:
    """All turns of a conversation that its windows show."""
    turns: dict[int, TurnLine] = {}
    for reading, _ in read:
        turns.update({line.turn: line for line in reading.turns})
    return turns


def _may_be_left_out(reading: Reading, entry: Finding, hard: set[str]) -> bool:
    """A handover need not hold every fact, only the hard stops."""
    return reading.source == TextKind.REPLY and entry.answer == Word.ABSENT and entry.key.subject not in hard


def _why_besides(
    key: FindingKey, confirms: bool | None, anyway: set[FindingKey], doubted: frozenset[FindingKey]
) -> Why | None:
    """Why something is asked about that its reading does not raise; `confirms` is None where no rule raised it."""
    if confirms is not None:
        return Why.RULE
    if key in anyway:
        return Why.DUE
    return Why.QUOTE if key in doubted else None


def _is_as_grave(known: Due | None, why: Why, entry: Finding) -> bool:
    """Whether another reading says as much of the same thing already."""
    return known is not None and _gravity(why, entry) <= _gravity_of(known.finding)


def _by_rules_alone(
    read: Sequence[TextRead], raises: Mapping[FindingKey, bool], turns: Mapping[int, TurnLine], reader: str
) -> dict[FindingKey, Due]:
    """What rules raise and no reading has an entry for: a pair of distant replies."""
    due = {}
    for key, confirms in raises.items():
        window = _window_with(read, key)
        if window is not None:
            due[key] = due_on(window, _listed_nowhere(key, reader), Why.RULE, turns, rule_confirms=confirms)
    return due


def _followers(
    case: Case, read: Sequence[TextRead], due: Iterable[Due], always: set[FindingKey]
) -> dict[FindingKey, Due]:
    """What takes the state of others in its row, with those named."""
    probes = sorted({r.turn for r, _ in read if r.kind == TextKind.SUMMARY and not r.source})
    followers = {}
    for row in _rows(due, probes):
        between = _between(row, case.t10_turn, always)
        leading = tuple(one.key for one in row if one not in between)
        for one in between:
            followers[one.key] = Due(replace(one.finding, follows=leading), one.question)
    return followers


def _between(row: Sequence[Due], t10_turn: int, always: set[FindingKey]) -> list[Due]:
    """What follows the others of a row: all but the first, the last, what is due, and what no reading could see."""
    between = [one for one in row[1:-1] if one.finding.why in (Why.READING, Why.RULE)]
    return [one for one in between if one.key.turn != t10_turn and not _is_due(one.key, always)]


def _listed_nowhere(key: FindingKey, reader: str) -> Finding:
    """A contradiction that the reading of its conversation does not list."""
    answer = KINDS[key.kind][0]
    opinion = Opinion(reader, 1, answer, "", "", reading=True) if reader else None
    return entry_of(key, opinion, answer)


def _is_due(key: FindingKey, always: set[FindingKey]) -> bool:
    """Whether a hard stop is asked about at this turn, whichever text of the turn it is."""
    return replace(key, source="") in always


def _window_with(read: Sequence[TextRead], key: FindingKey) -> Reading | None:
    """The first window of the conversation that shows the later reply of a contradiction."""
    if key.kind is not Kind.CONFLICT:
        return None
    for reading, _ in read:
        if reading.kind == TextKind.CONVERSATION and any(line.turn == key.turn for line in reading.turns):
            return reading
    return None


def _gravity(why: Why, entry: Finding) -> int:
    """The gravest of what several readings say about one thing counts."""
    if why is not Why.READING:
        return 0
    return 2 if entry.answer == Word.SEVERE else 1


def _gravity_of(known: Finding) -> int:
    return 0 if known.why is None else _gravity(known.why, known)


def _hard_stops(case: Case) -> set[FindingKey]:
    """Hard stops at the turns at which they are always asked about: turn 10, the end, and after their updates."""
    hard = {fact.id for fact, _ in facts_of(case) if fact.hard_stop}
    keys: set[FindingKey] = set()
    for turn in (case.t10_turn, len(case.turns)):
        keys.update(FindingKey.of(Kind.FACT, turn, fact) for fact in hard)
    for spoken in case.turns:
        updated = {case.fact_named(update.fact) for update in spoken.updates}
        keys.update(FindingKey.of(Kind.FACT, spoken.turn, fact) for fact in updated & hard)
    return keys


def counted_entries(case: Case, read: Sequence[TextRead], *, by_judge: bool = True) -> list[TextRead]:
    """Readings without their entries on demands that a later reply may still meet or an earlier one has met."""
    met = _first_met(read) if by_judge else {}  # where no judge has read, no reply is known to have met anything
    counted = []
    for reading, entries in read:
        demands = {d.id: d for d in demands_at(case, reading.turn)} if reading.kind == TextKind.REPLY else {}
        kept = [
            entry
            for entry in entries
            if entry.kind is not Kind.MUST or not _waits(demands.get(entry.key.subject), reading.turn, met)
        ]
        counted.append(TextRead(reading, kept))
    return counted


def _first_met(read: Sequence[TextRead]) -> dict[str, int]:
    """The first turn at which each demand was met."""
    met: dict[str, int] = {}
    for reading, entries in read:
        for entry in entries:
            if entry.answer == Word.MET:
                met[entry.key.subject] = min(reading.turn, met.get(entry.key.subject, reading.turn))
    return met


def _waits(demand: Demand | None, turn: int, met: Mapping[str, int]) -> bool:
    """Whether it does not count that a reply leaves a demand unmet."""
    if demand is None or not demand.expectation.by:
        return False
    return not demand.due or (demand.once and met.get(demand.id, inf) < turn)


def _rows(due: Iterable[Due], probes: Sequence[int]) -> list[list[Due]]:
    """What is held against the summaries, the same fault at several probes in a row together."""
    place = {turn: index for index, turn in enumerate(probes)}
    rows: list[list[Due]] = []
    on_summaries = [one for one in due if _on_summary(one)]
    for one in sorted(on_summaries, key=lambda one: (_subject(one), one.key.turn)):
        last = rows[-1][-1] if rows else one
        next_probe = place.get(one.key.turn, -9) - place.get(last.key.turn, -9) == 1
        if next_probe and _subject(last) == _subject(one) and _claim(last) == _claim(one):
            rows[-1].append(one)
        else:
            rows.append([one])
    return rows


def _on_summary(one: Due) -> bool:
    return one.key.kind is Kind.FACT or (one.key.kind is Kind.INVENTED and not one.question.whole)


def _subject(one: Due) -> tuple[str, str, str]:
    """Fact or invented statement, and the source of its text."""
    key = one.key
    words = " ".join(words_of(key.subject)) if key.kind is Kind.INVENTED else key.subject
    return key.kind, words, key.source


def _claim(one: Due) -> tuple[object, ...]:
    """What is held against a summary; the same at two probes only while the fact itself has not changed."""
    question = one.question
    fact = (question.statement, question.replaced) if one.key.kind is Kind.FACT else ()
    return one.finding.why, one.finding.answer, one.finding.rule_confirms, fact


# ---- what rules found, as reasons to ask: they decide nothing where a judge reads


@cache
def confirming_rules() -> frozenset[str]:
    """Rules whose alarms were right on labelled real text often enough to confirm by themselves."""
    return frozenset(str(name) for name in (load_data("confirming_rules") or {}).get("confirm", ()))


def raises_of(case: Case, findings: Findings, *, unread: bool = False) -> dict[FindingKey, bool]:
    """Everything that a rule raised in one conversation, and whether it may confirm it by itself.

    With `unread`, what rules could not read as well.
    """
    confirm = confirming_rules()
    raises: dict[FindingKey, bool] = {}
    for turn in findings.turns:
        for fact in turn.facts:
            if _is_raised(fact, unread=unread):
                key = FindingKey.of(Kind.FACT, turn.turn, fact.fact_id)
                raises[key] = _is_wrong(fact) and fact.certain and fact.rule in confirm
    for item in findings.replies:
        demand = demand_of(case, item)
        if demand is not None or item.by_fact:
            raises[reply_key(item, demand)] = item.finder in confirm
    for pair in findings.conflicts:
        span = (pair.earlier_turn, pair.later_turn)
        raises[FindingKey.of(Kind.CONFLICT, pair.later_turn, span=span)] = pair.finder in confirm
    return raises


def _is_raised(fact: FactFinding, *, unread: bool) -> bool:
    """Whether a rule calls a fact wrongly stated, or cannot tell."""
    return (_is_wrong(fact) or not fact.certain) and (unread or fact.rule != NOT_ENGLISH)


def _is_wrong(fact: FactFinding) -> bool:
    """Whether a rule calls a fact wrongly stated; a plainly partial one is not an alarm."""
    return fact.stale or fact.status in (ABSENT, CONTRADICTED)


def reply_key(item: ReplyFinding, demand: Demand | None) -> FindingKey:
    """The finding that a rule raises on a reply: on a demand, or on what a fact forbids."""
    if demand is None:
        return FindingKey.of(Kind.FORBIDDEN, item.turn)
    return FindingKey.of(demand.kind, item.turn, demand.id)


def demand_of(case: Case, item: ReplyFinding) -> Demand | None:
    """The demand that a reply seems to break, the gravest of those in the same words; none where a fact forbids it."""
    if item.by_fact:
        return None
    kind = "must" if item.kind == "omits" else "must_not"
    demands = [d for d in demands_at(case, item.turn) if d.kind == kind and d.due_at == item.turn]
    same = [d for d in reversed(demands) if d.text == item.rule]
    return min(same, key=lambda d: GRADES.index(d.expectation.grade), default=None)


def quote_doubts(case: Case, read: Sequence[TextRead]) -> frozenset[FindingKey]:
    """Facts called stated, in whole or in part, whose quotation shares no word, number or entry with the fact."""
    aliases = {fact.id: fact.aliases for fact in case.critical_entities}
    doubts = set()
    for reading, entries in read:
        if reading.source:
            continue
        stated = {
            entry.key.subject: entry
            for entry in entries
            if entry.kind is Kind.FACT and entry.answer in (Word.RETAINED, Word.PARTIAL)
        }
        for line in reading.facts:
            entry = stated.get(line.fact)
            if entry is None or line.ended:
                continue
            fact = " ".join((line.statement, *aliases.get(line.fact, ())))
            quote = entry.read.quote if entry.read is not None else ""
            if _content(fact).isdisjoint(_content(quote)) and _concepts(fact).isdisjoint(_concepts(quote)):
                doubts.add(entry.key)
    return frozenset(doubts)


_FUNCTION_WORDS = frozenset(("the", "and", "for", "her", "his", "has", "was", "not", "who", "are", "one"))


def _content(text: str) -> set[str]:
    """Words that tell something, and numbers; longer words by their beginning."""
    words = (word for word in words_of(text) if word not in _FUNCTION_WORDS)
    return {word[:6] for word in words if word.isdigit() or len(word) > 2}


def _concepts(text: str) -> set[str]:
    named = {term.concept for term in find_terms(text)}
    names: set[str] = set()
    for concept in named:
        names.update((concept.id, *concept.ancestors, *concept.implies, *concept.contains))
    return names


# ---- the audit: entries that the readings cleared and that are asked about all the same, drawn by hash

AUDIT_WANTED = 150
"""Cleared entries of a run that are asked about, the same number of each kind as far as there are so many."""
_AUDITED = (Kind.FACT, Kind.MUST, Kind.MUST_NOT, Kind.FORBIDDEN, Kind.HARM, Kind.CONFLICT)
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


def audited(
    rates: Mapping[str, float], repeat: int, read: Sequence[TextRead], known: Iterable[FindingKey]
) -> list[Due]:
    """Some of the cleared entries of one conversation, besides what is asked about already."""
    asked = set(known)
    drawn = []
    for reading, entries in read:
        if reading.kind == TextKind.CONVERSATION or reading.source:
            continue
        for entry in entries:
            if raised(entry) or entry.answer == UNSURE or entry.key in asked:
                continue
            rate = rates.get(entry.kind, 0.0)
            if rate > 0 and _draw(reading.case_id, repeat, entry.key) < rate:
                drawn.append(due_on(reading, entry, Why.AUDIT))
    return drawn


def _draw(case_id: str, repeat: int, key: FindingKey) -> float:
    """A number between 0 and 1 that depends on the finding alone, so that shards draw what the whole run draws."""
    if key.span is not None:
        parts: tuple[object, ...] = (str(key.kind), *key.span)
    elif key.subject:
        parts = (str(key.kind), key.turn, key.subject)
    else:
        parts = (str(key.kind), key.turn)
    return random.Random(f"{SEED}/{case_id}/{repeat}/{parts}").random()
