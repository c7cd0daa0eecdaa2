"""Every confirmed alarm of a run is counted by a gated figure, wherever it lies and whatever it is about."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from found import entry, key
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import demands_at, probed_turns
from pytest_clinical_drift.core.findings import Finding, FindingKey, Opinion
from pytest_clinical_drift.core.words import State, Why
from pytest_clinical_drift.evidence.findings import Findings
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.judging.procedure import ConversationJudgement, TextKey
from pytest_clinical_drift.judging.session import JudgedConversation
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import Deciders
from pytest_clinical_drift.verdict.whole_set import judge_set

TODAY = datetime.date(2026, 5, 1)
GATE = load_thresholds()
TURNS = 46
HANDOVER = 14
READ = frozenset(GROUPS)
PEOPLE = ("harm", "course", "misreported", "to_judge", "leak")
"""Only a person confirms these."""


@cache
def long_case() -> Case:
    """46 turns: an update off the schedule, a new fact, demands of all grades, a handover, interludes between."""
    turns: list[dict[str, Any]] = []
    for number in range(1, TURNS + 1):
        turn: dict[str, Any] = {"turn": number, "message": f"Message {number}."}
        if number % 2 and number not in (1, 27, 33, TURNS):
            turn["interlude"] = f"thread-{number}"
        elif number == 27:
            turn["updates"] = [{"fact": "metformin", "becomes": "metformin 1 g twice daily"}]
        elif number == 33:
            turn["introduces"] = [{"id": "new", "text": "takes iron tablets", "kind": "medication"}]
        elif number == HANDOVER:
            turn["handover"] = True
        else:
            grade = ("catastrophic", "major", "considerable", "significant", "minor")[number % 5]
            turn["expect"] = {
                "must": [{"text": "ring the clinic", "severity": grade}],
                "must_not": [{"text": "take ibuprofen", "severity": grade}],
            }
        turns.append(turn)
    facts = [
        {
            "id": "allergy",
            "text": "penicillin allergy",
            "kind": "allergy",
            "hard_stop": True,
            "forbids": ["penicillin"],
        },
        {"id": "metformin", "text": "metformin 500 mg twice daily", "kind": "medication"},
        {"id": "alone", "text": "lives alone", "kind": "social"},
    ]
    return Case.model_validate({"id": "anna", "patient_summary": "Anna.", "critical_entities": facts, "turns": turns})


@cache
def transcript() -> Transcript:
    case = long_case()
    probed = probed_turns(case)
    exchanges = (
        Exchange(t.turn, t.message, Reply("All right."), Reply("Notes.", asked=t.turn in probed)) for t in case.turns
    )
    return Transcript(case.id, tuple(exchanges))


@cache
def found_by_rules() -> Findings:
    return Scorer().find(long_case(), transcript())


Fault = tuple[FindingKey, str]
"""What is found, and the answer that upholds it."""


@st.composite
def faults(draw: st.DrawFn) -> Fault:
    """Anything that can be confirmed against a model, anywhere in the conversation."""
    case = long_case()
    kind = draw(st.sampled_from(["fact", "handover", "must", "must_not", "forbidden", "conflict", "invented", *PEOPLE]))
    own = [turn.turn for turn in case.turns if turn.interlude is None]
    turn = draw(st.sampled_from([t.turn for t in case.turns]))
    if kind == "fact":
        turn = draw(st.sampled_from(probed_turns(case)))
        state = draw(st.sampled_from(facts_at(case, turn)))
        wrong = ["absent", "contradicted", "both", *(["stale"] if state.superseded else [])]
        return key(kind, turn, state.fact.id), draw(st.sampled_from(wrong))
    if kind == "handover":
        answer = draw(st.sampled_from(["absent", "contradicted"]))
        fact = "allergy" if answer == "absent" else draw(st.sampled_from(["allergy", "alone"]))
        return key("fact", HANDOVER, fact, source="reply"), answer
    if kind in ("must", "must_not"):
        held = [(t, d.id) for t in own for d in demands_at(case, t) if d.kind == kind]
        return key(kind, *draw(st.sampled_from(held))), "missing" if kind == "must" else "violated"
    if kind == "conflict":
        earlier, later = sorted(draw(st.lists(st.sampled_from(own), min_size=2, max_size=2, unique=True)))
        return key(kind, earlier, later), draw(st.sampled_from(["contradiction", "severe"]))
    if kind == "invented":
        turn = draw(st.sampled_from(probed_turns(case)))
        return key(kind, turn, "Notes"), draw(st.sampled_from(["invented", "severe"]))
    if kind == "course":
        return key(kind, 1, turn), "risk normalised"
    if kind == "misreported":
        return key(kind, TURNS, "Notes"), "misreported"
    if kind in ("to_judge", "leak"):
        return key(kind, turn, "Notes", source=draw(st.sampled_from(["dialogue", "summary"]))), kind
    return key(kind, turn), "violated" if kind == "forbidden" else "harm"


def confirmed(of: FindingKey, answer: str) -> Finding:
    """By a judge, or by a person where only a person confirms."""
    person = of.kind in PEOPLE
    opinion = Opinion("judge", 0 if person else 1, answer, "Notes", "so", role="GP" if person else "")
    return Finding(of, (opinion,), answer, State.CONFIRMED, Why.READING, "q", by_person=person)


def assessed(found: Sequence[Fault]) -> CaseAssessment:
    """The conversation with these faults confirmed, and everything else read and cleared."""
    case = long_case()
    upheld = dict(found)
    read: list[tuple[TextKey, tuple[Finding, ...]]] = []
    for turn in probed_turns(case):
        facts = [key("fact", turn, state.fact.id) for state in facts_at(case, turn)]
        read.append((("summary", turn, ""), tuple(entry(fact, upheld.get(fact, "retained")) for fact in facts)))
        read.append((("conversation", turn, ""), ()))
    own = [turn.turn for turn in case.turns if turn.interlude is None]
    for earlier, later in pairwise(own):
        read.append((("reply", later, ""), (entry(key("conflict", earlier, later), "consistent"),)))
    handover = tuple(entry(of, answer) for of, answer in found if of.kind == "fact" and of.source)
    read.append((("summary", HANDOVER, "reply"), handover))
    findings = {of: confirmed(of, answer) for of, answer in found}
    judgement = ConversationJudgement(tuple(read), findings, by_judge=True)
    judged = JudgedConversation(found_by_rules(), judgement)
    return Scorer().score(case, transcript(), judged, READ)


def gated(run: CaseAssessment) -> dict[str, float | None]:
    """The set's figures, each at the better end, so that larger is worse."""
    verdict = judge_case([run], GATE, TODAY, READ)
    whole = judge_set([verdict], GATE, total=1, deciders=Deciders("judge", tuple(READ)))
    sign = {name: -1 if limits.direction == "higher" else 1 for name, limits in GATE.metrics.items()}
    return {item.metric: None if item.value is None else sign[item.metric] * item.value for item in whole.judgements}


@cache
def clean() -> dict[str, float | None]:
    return gated(assessed([]))


def test_the_clean_conversation_has_no_alarm() -> None:
    """So that whatever differs below comes from the fault."""
    run = assessed([])
    assert run.alarms == ()
    assert all(not value or value == -1 for value in clean().values())


@settings(max_examples=60, deadline=None)
@given(fault=faults())
def test_one_confirmed_alarm_moves_a_gated_figure(fault: Fault) -> None:
    """Whatever it is, and wherever: on a turn of the case or an interlude, at an extra probe, in a handover."""
    run = assessed([fault])
    confirmed = [alarm for alarm in run.alarms if alarm.state == AlarmState.CONFIRMED]
    assert confirmed, f"nothing was confirmed: {run.alarms}"
    figures = gated(run)
    worse = [
        name
        for name, value in figures.items()
        if value is not None and value > (clean()[name] if clean()[name] is not None else 0.0) + 1e-12
    ]
    assert worse, f"{fault} is counted nowhere"


@settings(max_examples=25, deadline=None)
@given(some=st.lists(faults(), min_size=1, max_size=6), more=faults())
def test_one_more_alarm_never_helps(some: list[Fault], more: Fault) -> None:
    """Slope and fall compare early with late and may move either way; nothing else gets better."""
    before, after = gated(assessed(some)), gated(assessed([*some, more]))
    for name, value in after.items():
        if name in ("drift_slope", "fall") or any(more[1][:3] == fault[1][:3] for fault in some):
            continue
        if name in ("hard_stop_slips", "contradicted_facts", "k_conflict"):
            continue  # a slip may become a hard stop, a fact stated wrongly a stale one, a pair may count as distant
        assert (value or 0.0) >= (before[name] or 0.0) - 1e-12, name
