"""Sentences of two whole replies compared by what they come down to, as short texts are, where both are on one matter.

Only clear cases count: help is called for and the same situation left, the same medicine with food and without it,
clauses with several words in common that lean opposite ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.guidance.alarms import Alarm, Matter, alarm_in, eased, matter_of
from pytest_clinical_drift.evidence.guidance.figures import shared_units
from pytest_clinical_drift.evidence.guidance.meals import meal_in
from pytest_clinical_drift.evidence.guidance.objects import stems
from pytest_clinical_drift.evidence.guidance.patterns import spaced
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.sentences import sentences_in
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.alarms import graver, left_apart, measured_apart
from pytest_clinical_drift.evidence.judges.excuses import Excuses
from pytest_clinical_drift.evidence.judges.nouns import Leaning, lean_apart, leanings_in
from pytest_clinical_drift.evidence.judges.protocol import Conflict
from pytest_clinical_drift.evidence.judges.situations import no_situation

_GROUND = 2
"""Words and named situations that two sentences must have in common."""
_MEASURED = frozenset(["temperature", "pressure", "kg", "lb"])
"""Units of what is measured on a person."""
_TAKEN = ("drug", "class", "test")


@dataclass(frozen=True, slots=True)
class Passage:
    """One sentence of a reply, and what it comes down to."""

    sentence: int
    quote: str
    named: frozenset[str]
    topic: frozenset[str]
    ground: frozenset[str]
    """Stems of what it is about, the things it names and dates aside."""
    alarm: Alarm | None
    matter: Matter | None
    meal: tuple[str, str] | None
    """How something is taken (with, without food), and what."""
    leanings: tuple[Leaning, ...]


def passages_opposed(earlier: str, later: str, excuses: Excuses) -> Iterator[Conflict]:
    """Every two sentences that contradict each other."""
    for first in passages_of(earlier):
        for second in passages_of(later):
            found = _alarms_apart(first, second) or _meals_apart(first, second) or _leanings_apart(first, second)
            if found is not None and not excuses.news_at(second.sentence, second.named, second.topic):
                yield found


@lru_cache(maxsize=512)
def passages_of(text: str) -> tuple[Passage, ...]:
    """The sentences of a reply that come down to something, questions aside."""
    found = [_passage(sentence) for sentence in sentences_in(text) if not (sentence.question or sentence.cell)]
    return tuple(passage for passage in found if passage.alarm or passage.meal or passage.leanings)


def _passage(sentence: Sentence) -> Passage:
    view = sentence.view
    words = view.words[sentence.first : sentence.end]
    topic = stems(words)
    things = stems([word for m in sentence.mentions if m.medicine for word in view.words[m.first : m.end]])
    alarm = alarm_in(sentence)
    return Passage(
        sentence.number,
        view.document.quote(view.origin[sentence.first], view.origin[sentence.end - 1]),
        frozenset(m.id for m in sentence.mentions if m.kind != "service"),
        topic,
        topic - things - no_situation(),
        alarm,
        matter_of(sentence) if alarm is not None else None,
        _meal(sentence),
        () if _tells(sentence, words) else tuple(leanings_in(sentence)),
    )


def _tells(sentence: Sentence, words: Sequence[str]) -> bool:
    """ "No working spleen, takes penicillin V": what somebody has, takes or went through."""
    return sentence.past or not listed("describes").isdisjoint(words)


def _meal(sentence: Sentence) -> tuple[str, str] | None:
    """With or without food, where the sentence or its label names one medicine or test only."""
    things = {m.id for m in (*sentence.mentions, *sentence.label_mentions) if m.kind in _TAKEN} - listed("generic")
    relation = meal_in(sentence) if len(things) == 1 else None
    return (relation, next(iter(things))) if relation is not None else None


def _alarms_apart(first: Passage, second: Passage) -> Conflict | None:
    """Help is called for in the earlier reply, and the same situation flatly left for later."""
    pressing, leaving = first.alarm, second.alarm
    if pressing is None or leaving is None or first.matter is None or second.matter is None:
        return None
    if not left_apart(pressing, leaving) or leaving.condition is not None or "whether" in leaving.words:
        # "ask at the next visit whether …" leaves nothing
        return None
    situation = pressing.condition if pressing.condition and pressing.condition.signs else first.matter
    common = {sign for sign in situation.signs & second.matter.signs if ":" not in sign}
    units = shared_units(pressing.figures, leaving.figures)
    measured = 0 if units.isdisjoint(_MEASURED) else len(units)
    if len(common) + len(first.ground & second.ground) + measured < _GROUND:
        return None
    if graver(pressing, leaving) or measured_apart(pressing, leaving) or eased(spaced(leaving.words)):
        return None
    reason = "one text calls for help now, the other leaves it"
    return Conflict(True, reason, (first.quote, second.quote), True, "urgency", None)


def _meals_apart(first: Passage, second: Passage) -> Conflict | None:
    if first.meal is None or second.meal is None or first.meal[1] != second.meal[1]:
        return None
    if {first.meal[0], second.meal[0]} != {"with", "without"}:
        return None
    name = first.meal[1].partition(":")[2]
    reason = f"{name} with food and without food"
    return Conflict(True, reason, (first.quote, second.quote), False, "food", first.meal[1])


def _leanings_apart(first: Passage, second: Passage) -> Conflict | None:
    if len(first.ground & second.ground) < _GROUND:
        return None
    for one in first.leanings:
        for other in second.leanings:
            if len((one.ways.keys() & other.ways.keys()) - no_situation()) >= _GROUND:
                found = lean_apart(one, other)
                if found is not None:
                    return found
    return None
