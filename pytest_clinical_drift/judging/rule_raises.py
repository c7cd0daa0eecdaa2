"""What the rules found, as reasons to ask: rules decide nothing where a judge reads."""

from functools import cache

from pytest_clinical_drift.cases.entries import GRADES
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import Demand, demands_at
from pytest_clinical_drift.evidence.advice.breach import ReplyFinding
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED
from pytest_clinical_drift.evidence.findings import Findings
from pytest_clinical_drift.evidence.terms.language import NOT_ENGLISH
from pytest_clinical_drift.evidence.terms.lexicon import find_terms
from pytest_clinical_drift.evidence.terms.vocabulary import load_data
from pytest_clinical_drift.judging.entries import About, about_entry, about_of
from pytest_clinical_drift.judging.raised_points import Read, words_of


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
        if reading.kind != "summary" or reading.source:
            continue
        stated = {
            line.fact: " ".join((line.statement, *aliases.get(line.fact, ())))
            for line in reading.facts
            if not line.ended
        }
        for entry in entries:
            if entry.kind == "fact" and entry.answer in ("retained", "partial") and entry.key in stated:
                fact, quote = stated[entry.key], entry.quote
                if _content(fact).isdisjoint(_content(quote)) and _concepts(fact).isdisjoint(_concepts(quote)):
                    doubts.add(about_entry(entry))
    return frozenset(doubts)


_FUNCTION_WORDS = frozenset(("the", "and", "for", "her", "his", "has", "was", "not", "who", "are", "one"))


def _content(text: str) -> set[str]:
    """Words that tell something, and numbers; longer words by their beginning."""
    words = (word for word in words_of(text) if word not in _FUNCTION_WORDS)
    return {word[:6] for word in words if word.isdigit() or len(word) > 2}


def _concepts(text: str) -> set[str]:
    named = {term.concept for term in find_terms(text)}
    return {name for concept in named for name in (concept.id, *concept.ancestors, *concept.implies, *concept.contains)}
