"""The conversation: messages move on, do not hand back the facts, and change them only with an update."""

from pytest_clinical_drift.authoring import Remark, Remarks
from pytest_clinical_drift.cases.model import Case, CriticalEntity, FactState, Turn, facts_at, spoken
from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.evidence.facts.slots import named_medicines
from pytest_clinical_drift.evidence.quantities.amounts import amounts
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.index import term_index

_MESSAGE_WORDS = 90
_FEWEST_TURNS = 10
_OFTEN = 3
"""From so many restatements on a case tests reading, not memory."""
_VALUES = ("medication", "measurement")
_ENOUGH = 0.5
"""Share of a new fact's words that its message has to hold."""
_BEGINNING = 5


def lengths(case: Case) -> Remarks:
    """Recall is read at turn 10, a shorter case tells less; patients write a few sentences."""
    if len(case.turns) < _FEWEST_TURNS:
        yield Remark("warning", "turns", f"{len(case.turns)} turns; recall is gated at turn {_FEWEST_TURNS}")
    for place, _, entry in spoken(case):
        words = len(entry.message.split())
        if words > _MESSAGE_WORDS:
            yield Remark("warning", place, f"{words} words; patients write at most {_MESSAGE_WORDS} or so")


def facts_in_messages(case: Case) -> Remarks:
    """A fact that messages repeat need not be remembered; one that they deny or give otherwise leaves truth unclear."""
    restated: dict[str, list[int]] = {}
    for turn in case.turns:
        states = _untouched(case, turn)
        for state, retention in zip(states, assess_retention(turn.message, [s.fact for s in states]), strict=True):
            fact = state.fact
            if retention.status == "retained":
                restated.setdefault(fact.id, []).append(turn.turn)
            elif retention.status == "contradicted" and not _about_the_same_medicine(fact, turn):
                words = f": {retention.evidence[0].quote!r}" if retention.evidence else ""
                if fact.kind in _VALUES:
                    text = f"gives another value for {fact.text!r} without an update ({retention.reason}){words}"
                    yield Remark("error", _place(turn), text)
                elif fact.kind == "allergy":
                    yield Remark("error", _place(turn), f"denies {fact.text!r} without an update{words}")
    for fact_id, turns in restated.items():
        times = "once" if len(turns) == 1 else f"{len(turns)} times"
        listed = ("turn " if len(turns) == 1 else "turns ") + ", ".join(map(str, turns))
        text = f"restated {times} ({listed}) without a mark in `restates`"
        yield Remark("error" if len(turns) >= _OFTEN else "warning", fact_id, text)


def explicit_changes(case: Case) -> Remarks:
    """What a turn introduces or changes stands in its message, and differs from what was known."""
    for turn in case.turns:
        before = {state.fact.id: state.fact.text for state in facts_at(case, turn.turn - 1)}
        before |= {text: text for text in before.values()}
        for update in turn.updates:
            if update.becomes is None or update.policy == "annotate":
                continue
            if update.becomes == before.get(update.fact):
                yield Remark("error", _place(turn), f"updates {update.fact!r} to what it already is")
            else:
                yield from _stated(case, turn, update.fact, update.becomes)
        for fact in turn.introduces:
            yield from _stated(case, turn, fact.id, fact.text)


def _stated(case: Case, turn: Turn, name: str, text: str) -> Remarks:
    kind = next((state.fact.kind for state in facts_at(case, turn.turn) if name in (state.fact.id, text)), None)
    if assess_retention(turn.message, [CriticalEntity(text=text, kind=kind)])[0].status in ("retained", "partial"):
        return
    # Patients say it in their own words, which a matcher made for summaries may miss: names and numbers suffice.
    said, message = _content(text), _content(turn.message)
    numbers = {word for word in said if word[0].isdigit()}
    if len(said & message) < _ENOUGH * len(said) or (kind in _VALUES and not numbers <= message):
        yield Remark("warning", _place(turn), f"the message does not plainly say {text!r}")


def _content(text: str) -> set[str]:
    """Beginnings of the longer words, and the numbers."""
    document = read(text)
    words = {word[:_BEGINNING] for word in document.words if len(word) > 3 and word.isalpha()}
    return words | {f"{amount.value:g}" for amount in amounts(document)}


def _untouched(case: Case, turn: Turn) -> list[FactState]:
    """Facts true before a turn that its own marks do not speak of."""
    touched = {update.fact for update in turn.updates} | {fact.id for fact in turn.introduces} | set(turn.restates)
    states = (state for state in facts_at(case, turn.turn) if not state.ended)
    return [state for state in states if touched.isdisjoint((state.fact.id, state.fact.text))]


def _about_the_same_medicine(fact: CriticalEntity, turn: Turn) -> bool:
    """Whether the turn changes or introduces another fact on the fact's medicine, which explains the difference."""
    own = _medicines(fact.text)
    news = [fact.text for fact in turn.introduces] + [update.becomes or "" for update in turn.updates]
    return any(own & _medicines(text) for text in news)


def _medicines(text: str) -> frozenset[str]:
    return frozenset(term.concept.id for term in named_medicines(term_index(read(text)))) if text else frozenset()


def _place(turn: Turn) -> str:
    return f"turn {turn.turn}"
