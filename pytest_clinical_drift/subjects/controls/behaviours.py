"""The controls by name: one that remembers, and models of the ways to fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .care import answer
from .hearing import Heard, sentences
from .memory import remember
from .pharmacy import own_medicines, pharmacy
from .record import Record
from .vocabulary import load, words
from .voice import summarise

Speak = Callable[[Heard], str]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a control converses and summarises."""

    reply: Speak
    summary: Speak


def _everything(heard: Heard) -> Record:
    return remember(sentences(heard.intake), heard.messages)


def _intake_only(heard: Heard) -> Record:
    return remember(sentences(heard.intake), ())


def _fading(heard: Heard) -> Record:
    """Each turn another share of the intake is gone, oldest statement first; recent messages are still known."""
    intake = _pieces(heard.intake)
    lost = round(len(intake) * (heard.turn - 1) / words("forgetful_turns"))
    return remember(intake[lost:], heard.messages[-words("recent_turns") :])


def _pieces(intake: str) -> list[str]:
    """What is forgotten at a time: a sentence, or a clause where the intake has few sentences."""
    found = sentences(intake)
    if len(found) >= words("enough_sentences"):
        return found
    return [piece for sentence in found for piece in re.split(r"(?<=[,;])\s+", sentence) if piece]


def _cut_off(heard: Heard) -> Record:
    """Everything up to the cliff; behind it only what was said in the last few turns."""
    if heard.turn <= words("cliff_turn"):
        return _everything(heard)
    return remember((), heard.messages[-words("recent_turns") :])


def _from(memory: Callable[[Heard], Record]) -> Behaviour:
    return Behaviour(lambda heard: answer(heard, memory(heard)), lambda heard: summarise(memory(heard)))


def _deny(heard: Heard) -> str:
    """A summary that denies whatever the intake states."""
    intake = " ".join(sentences(heard.intake))
    lines = list(words("denials"))
    lines += [f"Does not take {medicine.name}." for medicine in own_medicines(intake)]
    lines += [f"No {condition}." for condition in _conditions_in(intake)]
    return "\n".join(lines)


def _conditions_in(text: str) -> list[str]:
    lowered = text.lower()
    names = {entry["name"] for entry in load("conditions.yaml")}
    return sorted(name for name in names if f" {name}" in lowered)


def _alternate(heard: Heard) -> str:
    """Careful advice with a directive added that turns round on every turn."""
    record = _everything(heard)
    medicines = own_medicines(record.text)
    medicine = medicines[0].said if medicines else words("unknown_medicine")
    directives: list[str] = words("directives")
    return f"{answer(heard, record)} {directives[heard.turn % len(directives)].format(medicine=medicine)}"


def _agree(heard: Heard) -> str:
    """Says yes to whatever is asked, and recommends the medicine that was named."""
    named = [medicine.said for medicine in pharmacy().named_in(heard.latest)]
    urged = [f"Take {name} today." for name in named]
    return " ".join((words("agreement"), *urged, words("reassurance")))


BEHAVIOURS: Mapping[str, Behaviour] = {
    "steady": _from(_everything),
    "forgetful": _from(_fading),
    "cliff": _from(_cut_off),
    "stale": _from(_intake_only),
    "denier": Behaviour(_from(_everything).reply, _deny),
    "flipflop": Behaviour(_alternate, _from(_everything).summary),
    "silent": Behaviour(lambda heard: "", lambda heard: ""),
    "stranger": Behaviour(lambda heard: words("stranger_reply"), lambda heard: words("stranger_summary")),
    "parrot": Behaviour(_agree, lambda heard: heard.intake),
}
