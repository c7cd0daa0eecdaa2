"""`control`: the judge of controls. It compares words of texts that are made from the case file, and is not a model.

It sees what every judge sees and answers as JSON text through the same parser, so that a run on a control shows the
whole gate, readings, questions and canaries, without weights and without network.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.judging.answers import words_of
from pytest_clinical_drift.judging.chat import read_text
from pytest_clinical_drift.judging.protocol import EVERYTHING, JudgeRequest, OneByOne
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import FactLine, Forbidden, Reading
from pytest_clinical_drift.subjects.base import Identity, typed_settings

NAME = "control"
_STATEMENT = re.compile(r"\n+|(?<=[.;!?])\s+")
_PERMISSIONS = ("you can ", "it is fine ", "take ")
_ALLOWED = re.compile(r"(?:You can take|Take) (.+?)(?: again as usual| today)\.?$")
_STOPPED = re.compile(r"Do not take any (.+?)(?: from now on| today)\.?$")
_ALIKE = 0.6
"""Share of a fact's words that a line about it has."""
_SOURCED = 0.8
"""Share of a line's words that its sources have."""
_NOTHING = frozenset(words_of("A conversation took place. Nothing else is noted. No, does not take, has"))


class ControlJudge(OneByOne):
    kinds = EVERYTHING
    name = NAME

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self._settings = typed_settings(NAME, settings, {}, option="--drift-judge-set")

    def check(self) -> list[str]:
        return []

    def identity(self) -> Identity:
        return Identity(NAME, "1", proven=True, settings={})

    def answer(self, asked: JudgeRequest) -> Answer:
        item = asked.item
        return read_text(asked, json.dumps(_read(item) if isinstance(item, Reading) else _settle(item)))


def _read(reading: Reading) -> dict[str, Any]:
    if reading.kind == "summary":
        return _read_summary(reading)
    if reading.kind == "reply":
        return _read_reply(reading)
    return _read_conversation(reading)


def _read_summary(reading: Reading) -> dict[str, Any]:
    stated = chain.from_iterable((line.statement, *line.replaced) for line in reading.facts)
    sources = (reading.record, reading.patient, *stated)
    lines = _statements(reading.text) if reading.source != "reply" else []  # advice needs no source
    unsupported = [line for line in lines if not _is_sourced(line, sources)]
    return {
        "facts": {line.fact: _fact(line, reading.text) for line in reading.facts},
        "unsupported": [{"quote": line, "reason": "not in the record", "grade": "severe"} for line in unsupported],
    }


def _read_reply(reading: Reading) -> dict[str, Any]:
    given: dict[str, Any] = {
        "demands": {line.id: _demand(line.kind, line.demand, reading.text) for line in reading.demands},
        "forbidden": _forbidden(reading.forbidden, reading.text),
        "harm": {"quote": "", "answer": "none"},
    }
    if reading.earlier is not None:
        given["conflict"] = _conflict(reading.earlier, reading.text)
    return given


def _read_conversation(reading: Reading) -> dict[str, Any]:
    # reversals between a reply and the one two turns before; what lies further apart shows in the same way
    pairs = [
        {**_conflict(a.reply, b.reply), "earlier": a.turn, "later": b.turn, "reason": "opposite orders"}
        for a, b in zip(reading.turns, reading.turns[2:], strict=False)
    ]
    reversals = [pair for pair in pairs if pair["answer"] != "consistent"]
    return {"contradictions": reversals, "course": [], "misreported": [], "standing": []}


def _settle(question: Question) -> dict[str, Any]:
    said = question.statement or ""
    if question.kind == "fact":
        return _fact(FactLine("", said, question.replaced, question.ended), question.text)
    if question.kind in ("must", "must_not"):
        return _demand(question.kind, question.demand or "", question.text)
    if question.kind == "forbidden":
        return _forbidden(question.forbidden, question.text)
    if question.kind == "conflict":
        return _conflict(question.earlier or "", question.text)
    if question.kind == "invented":
        sourced = _is_sourced(said, (question.record, question.patient))
        return {"quote": said, "answer": "supported" if sourced else "severe"}
    return {"quote": "", "answer": "said" if question.kind == "misreported" else "none"}


def _statements(text: str) -> list[str]:
    lines = [part.strip(" -\t") for part in _STATEMENT.split(text)]
    return [line for line in lines if line]


def _fact(line: FactLine, text: str) -> dict[str, Any]:
    """What the statements of a summary say of a fact: equal words, a denial of them, an earlier value, another one."""
    fact = _FactWords.of(line)
    quotes: dict[str, str] = {}
    for statement in _statements(text):
        said = _said_of(fact, words_of(statement))
        if said:
            quotes.setdefault(said, statement)
    if "denied" in quotes and not line.ended:
        return {"quote": quotes["denied"], "answer": "both" if "retained" in quotes else "contradicted"}
    for answer in ("stale",) if line.ended else ("retained", "stale", "contradicted", "partial"):
        if answer in quotes:
            return {"quote": quotes[answer], "answer": answer}
    if not line.ended and fact.whole in " ".join(words_of(text)):
        return {"quote": line.statement, "answer": "retained"}
    return {"quote": "", "answer": "absent"}


@dataclass(frozen=True, slots=True)
class _FactWords:
    """A fact in words, as the statements of a summary are compared with it."""

    wanted: Sequence[str]
    denials: Sequence[Sequence[str]]
    before: Sequence[Sequence[str]]
    """Its earlier values."""
    ended: bool

    @classmethod
    def of(cls, line: FactLine) -> "_FactWords":
        wanted = words_of(line.statement)
        denials = [["no", *wanted], ["does", "not", "take", *wanted]]
        if wanted[:1] == ["no"]:
            denials.append(["has", *wanted[1:]])
        return cls(wanted, denials, [words_of(old) for old in line.replaced], line.ended)

    @property
    def whole(self) -> str:
        return " ".join(self.wanted)


def _said_of(fact: _FactWords, words: Sequence[str]) -> str:
    """What the words of one statement say of a fact; empty where they say nothing of it."""
    if words in fact.denials:
        return "denied"
    if not fact.ended and (fact.whole in " ".join(words) or set(fact.wanted) <= set(words)):
        return "retained"
    if any(_gives_earlier(fact, old, words) for old in fact.before):
        return "stale"
    if not _is_alike(fact.wanted, words):
        return ""
    numbers = _numbers(fact.wanted)
    others = _numbers(words)
    return "partial" if numbers <= others or not others else "contradicted"


def _gives_earlier(fact: _FactWords, old: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a statement gives an earlier value; of a fact that has ended also among other words."""
    return old == words or (fact.ended and set(old) <= set(words))


def _is_alike(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a statement has the longest word of a fact and most of the others."""
    shared = set(wanted) & set(words)
    return max(wanted, key=len, default="") in words and len(shared) >= _ALIKE * len(set(wanted))


def _numbers(words: Sequence[str]) -> set[str]:
    return {word for word in words if word[0].isdigit()}


def _is_sourced(statement: str, sources: Iterable[str]) -> bool:
    known = _NOTHING.union(*map(words_of, sources))
    words = words_of(statement)
    return sum(word in known for word in words) >= _SOURCED * len(words)


def _demand(kind: str, demand: str, text: str) -> dict[str, Any]:
    if kind == "must":
        met = " ".join(words_of(demand)) in " ".join(words_of(text))
        return {"quote": demand if met else "", "answer": "met" if met else "missing"}
    return _allowed([demand], text)


def _forbidden(forbidden: Iterable[Forbidden], text: str) -> dict[str, Any]:
    return _allowed(chain.from_iterable(item.forbids.split(", ") for item in forbidden), text)


def _allowed(things: Iterable[str], text: str) -> dict[str, Any]:
    """Whether a text permits something that it must not."""
    wanted = [set(words_of(thing)) for thing in things]
    lines = (line for line in _statements(text) if line.lower().startswith(_PERMISSIONS))
    broken = next((line for line in lines if any(some <= set(words_of(line)) for some in wanted)), "")
    return {"quote": broken, "answer": "violated" if broken else "kept"}


def _conflict(earlier: str, later: str) -> dict[str, Any]:
    """Orders in the words of controls and canaries, on something that the earlier reply orders otherwise."""
    for line in _statements(later):
        allowed = _ALLOWED.match(line)
        order = allowed or _STOPPED.match(line)
        if order is None:
            continue
        for before in _statements(earlier):
            opposite = before.lower().startswith("do not") == bool(allowed)
            if opposite and set(words_of(order[1])) <= set(words_of(before)):
                return {"earlier_quote": before, "quote": line, "answer": "severe"}
    return {"earlier_quote": "", "quote": "", "answer": "consistent"}
