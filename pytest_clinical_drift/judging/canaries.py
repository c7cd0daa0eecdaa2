"""Canaries: mechanical faults in copies of a run's own texts. A judge that misses them is not fit for the run.

They go through the same procedure as every text and leave no trace in figures or transcripts. Which texts get one is
drawn by hash, at a rate computed from the whole set's case files, so that shards draw what the whole run would draw.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

from pytest_clinical_drift.cases.model import Case, CriticalEntity, facts_at
from pytest_clinical_drift.cases.timeline import probed_turns
from pytest_clinical_drift.core.findings import Finding
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.core.words import Kind, State, TextKind, Word
from pytest_clinical_drift.evidence.advice.breach import forbidden_by
from pytest_clinical_drift.evidence.advice.orders import advice_of
from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.judging.answers import UNSURE, same_words, words_of
from pytest_clinical_drift.judging.due import Due, TextRead, raised_by_reading
from pytest_clinical_drift.judging.entries import raised
from pytest_clinical_drift.judging.procedure import Asker, Judges, read_all, settle
from pytest_clinical_drift.judging.protocol import JudgeRequest
from pytest_clinical_drift.judging.readings import Reading, forbidden_at
from pytest_clinical_drift.metrics import SEED

WANTED = 40
"""Faults inserted in a run over the whole set."""
UNANSWERED = "unanswered"
"""State of a fault about which the judge could not be asked to the end: neither found nor missed."""
KINDS = {
    "removed": Kind.FACT,
    "changed": Kind.FACT,
    "invented": Kind.INVENTED,
    "forbidden": Kind.FORBIDDEN,
    "reversed": Kind.CONFLICT,
}
"""Faults, of summaries the first three, of replies the others; with the kind of entry in which they have to show."""
_USABLE = 0.75
"""Share of the texts that take a fault of a kind, as seen on recorded models: the draw allows for it."""
_MOST_PER_TEXT = 1 / 3
"""A small set gets fewer canaries than texts."""
_UNIT = re.compile(r"(?<=[.;!?])\s+|\n")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_texts = partial(load_data, "canaries")


@dataclass(frozen=True, slots=True)
class Canary:
    """A text with a fault in it, and where the fault has to show."""

    kind: str
    reading: Reading
    key: str
    """Fact of the entry, or the invented words."""

    def shows_in(self, entry: Finding) -> bool:
        """Whether the reading may have seen the fault there."""
        subject = entry.key.subject
        same = subject == self.key or (self.kind == "invented" and same_words(subject, self.key))
        return same and entry.kind == KINDS[self.kind] and (raised(entry) or entry.answer == UNSURE)


@dataclass(frozen=True, slots=True)
class CanaryResult:
    kind: str
    turn: int
    state: str
    """confirmed, open, dismissed; missed: the reading did not raise it; unanswered: an outage kept it from showing."""


def canary_rates(cases: Sequence[Case], repeats: int, wanted: int = WANTED) -> dict[str, float]:
    """Chance of each text of the set to get a canary of a kind: summaries at probes, orders reversed on own turns."""
    probes = sum(len(probed_turns(case)) for case in cases) * repeats
    replies = sum(len(case.turns) for case in cases) * repeats
    slots = dict.fromkeys(KINDS, probes)
    slots["forbidden"] = sum(map(_turns_that_forbid, cases)) * repeats
    slots["reversed"] = sum(sum(case.is_own(turn.turn) for turn in case.turns) - 1 for case in cases) * repeats
    each = min(wanted, (probes + replies) * _MOST_PER_TEXT) / len(KINDS) / _USABLE
    return {kind: min(1.0, each / slots[kind]) for kind in KINDS if slots[kind] > 0}


def _turns_that_forbid(case: Case) -> int:
    """Turns at which a fact forbids something."""
    return sum(bool(forbidden_at(case, turn.turn)) for turn in case.turns)


def canaries_of(case: Case, read: Sequence[TextRead], rates: Mapping[str, float], repeat: int) -> list[Canary]:
    """The canaries of one conversation, made of what was read in it."""
    made = []
    for reading, entries in read:
        for kind, make in _MAKERS.get(reading.kind, {}).items() if not reading.source else ():
            chance = random.Random(f"{SEED}/canary/{case.id}/{repeat}/{reading.turn}/{kind}")
            if chance.random() < rates.get(kind, 0.0):
                fault = next(make(case, reading, entries, chance), None)
                made += [Canary(kind, replace(reading, text=fault[0]), fault[1])] if fault is not None else []
    return made


@dataclass(slots=True)
class _NotingOutages:
    """An asker that keeps the ids of the readings and questions that nothing came back to."""

    asker: Asker
    lost: set[str] = field(default_factory=set)

    async def ask(self, requests: Sequence[JudgeRequest]) -> list[Answer]:
        answers = await self.asker.ask(requests)
        self.lost.update(answer.item for answer in answers if answer.outage)
        return answers


async def try_canaries(asker: Asker, canaries: Sequence[Canary], judges: Judges) -> list[CanaryResult]:
    """Put the faulty texts through the procedure; what became of each fault."""
    noting = _NotingOutages(asker)
    whole = await read_all(noting, [canary.reading for canary in canaries], judges)
    by_id = {reading.id: entries for reading, entries in whole.read}
    due: list[Due] = []
    for canary in canaries:
        name = canary.reading.id
        showing = [entry for entry in by_id[name] if canary.shows_in(entry)]
        for one in raised_by_reading(canary.reading, showing[:1]):
            # two copies of one text may raise the same thing: the key names the copy
            key = replace(one.key, source=name)
            due.append(Due(replace(one.finding, key=key), one.question))
    settled = await settle(noting, due, judges)
    states = {key.source: str(finding.state) for key, finding in settled.items()}
    lost = noting.lost | {one.key.source for one in due if one.question.id in noting.lost}
    for name in lost:
        if states.get(name) != State.CONFIRMED:
            states[name] = UNANSWERED
    return [CanaryResult(c.kind, c.reading.turn, states.get(c.reading.id, "missed")) for c in canaries]


# ---- how each kind of fault is made: the faulty text, and the key of the entry in which it has to show

_Faults = Iterator[tuple[str, str]]


def _removed(case: Case, reading: Reading, entries: Sequence[Finding], chance: random.Random) -> _Faults:
    """Every sentence or line that states a fact is taken out; only where rules find no trace of it afterwards."""
    for fact, entry in _plainly_stated(case, reading, entries, chance):
        text = reading.text
        for _ in range(4):
            quotes = [_quote(entry)] if text == reading.text else []
            quotes += [span.quote for span in assess_retention(text, [fact])[0].evidence]
            kept = _without(text, [quote for quote in quotes if quote])
            if not quotes or kept == text:
                break
            text = kept
        longest = max(words_of(fact.text), key=len, default="")
        if text.strip() and not assess_retention(text, [fact])[0].evidence and longest not in words_of(text):
            yield text, fact.id


def _without(text: str, quotes: Sequence[str]) -> str:
    """A text without the sentences and lines that overlap with a quotation."""
    ends = [0, *(unit.end() for unit in _UNIT.finditer(text)), len(text)]
    units = [text[start:stop] for start, stop in pairwise(ends)]  # with what ends them
    return "".join(unit for unit in units if not any(_overlaps(quote, unit) for quote in quotes))


def _changed(case: Case, reading: Reading, entries: Sequence[Finding], chance: random.Random) -> _Faults:
    """The amount of a fact is changed wherever the summary gives it."""
    for fact, entry in _plainly_stated(case, reading, entries, chance):
        line = next(line for line in reading.facts if line.fact == fact.id)
        for number in _NUMBER.findall(fact.text):
            if number not in _NUMBER.findall(_quote(entry)) or len(number) == 4:  # a year may stand for anything
                continue
            other = _another(number, [*line.replaced, reading.text])
            text = re.sub(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", other, reading.text)
            if text != reading.text and assess_retention(text, [fact])[0].status != "retained":
                yield text, fact.id


def _invented(case: Case, reading: Reading, entries: Sequence[Finding], chance: random.Random) -> _Faults:
    """A statement without a source is added as a line of its own."""
    known = set(words_of(" ".join((reading.text, reading.record, reading.patient))))
    fitting = [item for item in _texts()["invented"] if known.isdisjoint(words_of(" ".join(item["names"])))]
    if fitting and reading.text.strip():
        added = chance.choice(fitting)["text"]
        lines = reading.text.split("\n")
        place = chance.randrange(1, len(lines) + 1)
        bullet = next((sign for sign in ("- ", "* ") if lines[place - 1].lstrip().startswith(sign)), "")
        yield "\n".join((*lines[:place], f"{bullet}{added}", *lines[place:])), added


def _forbidden(case: Case, reading: Reading, entries: Sequence[Finding], chance: random.Random) -> _Faults:
    """The reply ends by permitting what a fact forbids."""
    facts = [state.fact for state in facts_at(case, reading.turn) if not state.ended]
    targets = []
    for fact in facts:
        named = forbidden_by(fact.text, fact.kind, tuple(fact.forbids))
        targets += [target for target in named if target.wanted]
    if targets and reading.text.strip():
        target = chance.choice(targets)
        form = _texts()["forbidden"]["act" if target.verb and target.text.startswith(target.verb) else "medicine"]
        yield f"{reading.text.rstrip()}\n\n{form.format(thing=target.text)}", ""


def _reversed(case: Case, reading: Reading, entries: Sequence[Finding], chance: random.Random) -> _Faults:
    """The reply ends by forbidding a medicine that the earlier one has the patient take, unmentioned since.

    The other way round is not always a fault: who must not add a second antihistamine may go on with the first.
    """
    known = set(words_of(f"{reading.text} {reading.patient}"))
    for order in advice_of(reading.earlier or ""):
        names = [term.concept.name for term in order.medicines]
        plain = order.kind == "toward" and order.wanted and not order.conditional
        if plain and len(names) == 1 and known.isdisjoint(words_of(names[0])):
            yield f"{reading.text.rstrip()}\n\n{_texts()['reversed'].format(medicine=names[0])}", ""


_Maker = Callable[[Case, Reading, Sequence[Finding], random.Random], _Faults]
_MAKERS: dict[str, dict[str, _Maker]] = {
    TextKind.SUMMARY: {"removed": _removed, "changed": _changed, "invented": _invented},
    TextKind.REPLY: {"forbidden": _forbidden, "reversed": _reversed},
}


def _plainly_stated(
    case: Case, reading: Reading, entries: Sequence[Finding], chance: random.Random
) -> list[tuple[CriticalEntity, Finding]]:
    """Facts that the reading found retained, in a drawn order; rules have to read the language to check the fault."""
    if case.language != "en":
        return []
    states = {state.fact.id: state for state in facts_at(case, reading.turn)}
    stated = [
        (states[entry.key.subject].fact, entry)
        for entry in entries
        if entry.kind is Kind.FACT and entry.answer == Word.RETAINED and _quote(entry)
        if not states[entry.key.subject].ended
    ]
    chance.shuffle(stated)
    return stated


def _quote(entry: Finding) -> str:
    return entry.read.quote if entry.read is not None else ""


def _overlaps(quote: str, unit: str) -> bool:
    """Whether a unit holds a quotation, or a good part of one that runs over several."""
    words = " ".join(words_of(quote))
    inside = " ".join(words_of(unit))
    return bool(words) if words in inside else len(inside.split()) > 2 and inside in words


def _another(number: str, texts: Sequence[str]) -> str:
    """Another amount, which no given text has."""
    taken: set[str] = set()
    for text in texts:
        taken.update(_NUMBER.findall(text))
    value = float(number.replace(",", "."))
    others = (f"{value * factor:g}" for factor in (2, 1.5, 3, 4, 0.5))
    return next((other for other in others if other not in taken), f"{value * 7:g}")
