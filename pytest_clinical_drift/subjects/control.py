"""`control:NAME`: answers made from the case file itself, to see that the instrument moves the right way.

A control is not a model. It reads the facts, updates and demands of the case and either states them or fails in one
known manner, so that its verdict says something about the gate and nothing about medicine.
"""

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.cases.model import Case, CriticalEntity, facts_at
from pytest_clinical_drift.cases.timeline import demands_at, last_stated
from pytest_clinical_drift.errors import FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import Identity, Request, Subject, typed_settings
from pytest_clinical_drift.transcript import Reply
from pytest_clinical_drift.versions import own_version

_FORGOTTEN_BY = 8
"""Turns after which `forgetful` has lost everything."""
_CLIFF = 5
"""The last turn that `cliff` remembers."""
_HALF_LIFE = 12.0
"""Turns after which `fading` has lost half of what was stated, unless a setting says otherwise."""
_NOTHING = "A conversation took place. Nothing else is noted."


@dataclass(frozen=True, slots=True)
class _Moment:
    """The case that is asked about, another case to mistake it for, and the turn."""

    case: Case
    neighbour: Case
    turn: int
    half_life: float = _HALF_LIFE

    @property
    def facts(self) -> list[CriticalEntity]:
        """What is true of the patient now."""
        return [state.fact for state in facts_at(self.case, self.turn) if not state.ended]


Speak = Callable[[_Moment], str]


def _notes(facts: Sequence[CriticalEntity]) -> str:
    return "\n".join(f"- {fact.text[:1].upper()}{fact.text[1:]}." for fact in facts) or _NOTHING


def _remembering(now: _Moment) -> str:
    return _notes(now.facts)


def lifetime(case_id: str, fact: str, half_life: float) -> float:
    """Turns for which `fading` keeps a fact after it was last stated: exponential, always the same for a fact."""
    digest = hashlib.sha256(f"{case_id}\x1f{fact}".encode()).digest()
    share = (int.from_bytes(digest[:8], "big") + 0.5) / 2**64
    return -half_life * math.log2(share)


def _fading(now: _Moment) -> str:
    def kept(fact: CriticalEntity) -> bool:
        since = max(1, last_stated(now.case, fact.id, now.turn))  # the record comes with the first message
        return now.turn - since < lifetime(now.case.id, fact.id, now.half_life)

    return _notes([fact for fact in now.facts if kept(fact)])


def _forgetting(now: _Moment) -> str:
    lost = round(len(now.facts) * (now.turn - 1) / _FORGOTTEN_BY)
    return _notes(now.facts[lost:])


def _opposite(fact: CriticalEntity) -> str:
    opening, _, rest = fact.text.partition(" ")
    if opening.lower() in ("no", "never", "not"):
        return f"Has {rest}"
    return f"Does not take {fact.text}" if fact.kind == "medication" else f"No {fact.text}"


def _careful(now: _Moment) -> str:
    """Says what is demanded of this turn, warns of what is forbidden; earlier demands that still hold included.

    A reply that is a handover also holds the facts.
    """
    demands = demands_at(now.case, now.turn) if now.case.is_own(now.turn) else ()
    said = ["Thank you for telling me.", "Write down your questions for the next visit."]
    for demand in demands:
        wish = demand.expectation
        if demand.kind == "must":
            said.append(f"Important: {wish.text}." + (f" That is: {wish.any_of[0]}." if wish.any_of else ""))
        else:
            said.append(f"Do not {wish.text}, because of this: {wish.why}." if wish.why else f"Do not {wish.text}.")
    handover = f"\n{_remembering(now)}" if now.case.turns[now.turn - 1].handover else ""
    return " ".join(said) + handover


def _agreeing(now: _Moment) -> str:
    """Says yes to everything that must not be recommended."""
    unsafe = [f"You can {wish.text}." for wish in now.case.turns[now.turn - 1].expect.must_not]
    return " ".join(("Yes, that is a good idea.", *unsafe, "There is no need to see anybody."))


def _flipping(now: _Moment) -> str:
    order = "Take paracetamol today." if now.turn % 2 else "Do not take any paracetamol today."
    return f"{order} {_careful(now)}"


CONTROLS: Mapping[str, tuple[Speak, Speak]] = {
    "steady": (_careful, _remembering),
    "forgetful": (_careful, _forgetting),
    "fading": (_careful, _fading),
    "cliff": (_careful, lambda now: _remembering(now) if now.turn <= _CLIFF else _NOTHING),
    "stale": (_careful, lambda now: _notes(replace(now, turn=0).facts)),
    "denier": (_careful, lambda now: "\n".join(f"- {_opposite(fact)}." for fact in now.facts)),
    "flipflop": (_flipping, _remembering),
    "silent": (lambda now: "", lambda now: ""),
    "stranger": (_careful, lambda now: _notes(now.neighbour.critical_entities)),
    "parrot": (_agreeing, lambda now: now.case.patient_summary),
}
"""By name: how it replies, how it summarises."""


class ControlSubject(Subject):
    """Answers from the case file; knows what is asked for and states it, or does not."""

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.spec = f"control:{target}"
        if target not in CONTROLS:
            raise InputError(f"--model {self.spec}: no such control; valid ones: {', '.join(CONTROLS)}")
        self._reply, self._summary = CONTROLS[target]
        defaults = {"half_life": _HALF_LIFE} if target == "fading" else {}
        known = dict.fromkeys(defaults, float)
        self._settings = defaults | typed_settings(self.spec, settings, known, least={"half_life": 0.01})
        self._cases: dict[str, tuple[Case, Case]] = {}
        """With the case that each may be mistaken for."""

    def check(self, cases: Sequence[Case]) -> list[str]:
        self._cases = {case.id: (case, _neighbour(case, cases)) for case in cases}
        return ["a control is made from the case files and checks the gate; it is not a model"]

    def identity(self) -> Identity:
        return Identity(self.spec, own_version(), proven=True, settings=self._settings)

    def respond(self, request: Request) -> Reply:
        started = time.perf_counter()
        if request.case_id not in self._cases:
            return Reply("", error=failure(FailureCode.CASE_NOT_SHOWN, spec=self.spec, case=request.case_id))
        now = _Moment(*self._cases[request.case_id], request.turn, **self._settings)
        speak = self._reply if request.purpose == "dialogue" else self._summary
        return Reply(speak(now), seconds=time.perf_counter() - started)


def _neighbour(case: Case, cases: Sequence[Case]) -> Case:
    """Another patient of the full set, drawn by hash: which cases run beside this one does not matter."""
    others = [other for other in cases if other.independence_group != case.independence_group] or cases
    return min(others, key=lambda other: hashlib.sha256(f"{case.id}\x1f{other.id}".encode()).digest())
