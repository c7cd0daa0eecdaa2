"""What a run will cost, told before anything is asked of the model or of the judge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.conversation import prompts
from pytest_clinical_drift.conversation.frontier import Plan
from pytest_clinical_drift.judging.prompts import messages_for
from pytest_clinical_drift.judging.questions import Question, audit_share, forbidden_at, messages_of, record_of

_CHARACTERS_PER_TOKEN = 4.2
"""English prose under common tokenizers; good enough for an estimate."""
_REPLY_TOKENS = 250
_SUMMARY_TOKENS = 250
_ANSWER_TOKENS = 60
_UNCLEAR = 0.10
"""Share of the facts of good summaries that rules do not find plainly stated."""
_INVENTED_PER_SUMMARY = 0.05
"""Statements of a good summary for which rules find no source."""


def estimate(cases: Sequence[Case], plan: Plan, *, judged: bool = False) -> list[str]:
    """Requests and tokens of a run, a line each for the model and for the judge."""
    requests = prompt = 0
    for case in cases:
        history = len(plan.system_prompt or "") / _CHARACTERS_PER_TOKEN
        history += (len(prompts.INTAKE) + len(prompts.PATIENT) + len(case.patient_summary)) / _CHARACTERS_PER_TOKEN
        for turn in case.turns:
            history += len(turn.message) / _CHARACTERS_PER_TOKEN
            prompt += round(history)
            history += _REPLY_TOKENS
            prompt += round(history + len(prompts.PROBE) / _CHARACTERS_PER_TOKEN)
            requests += 2
    requests, prompt = requests * plan.repeats, prompt * plan.repeats
    completion = requests // 2 * (_REPLY_TOKENS + _SUMMARY_TOKENS)
    turns = sum(len(case.turns) for case in cases)
    told = (
        f"{len(cases)} cases, {turns} turns: {requests:,} requests, about {prompt:,} prompt tokens "
        f"(most of them shared prefixes) and {completion:,} completion tokens"
    )
    return [told, _of_judge(cases, plan.repeats)] if judged else [told]


def _of_judge(cases: Sequence[Case], repeats: int) -> str:
    """Severe kinds are asked twice; how many facts are unclear depends on the summaries, and is assumed."""
    audit = audit_share(cases, repeats)
    questions = requests = tokens = 0.0
    for case in cases:
        for asked, count in _expected(case, audit):
            times = 2 if asked.severe else 1
            length = sum(len(message.content) for message in messages_for(asked, 1)) / _CHARACTERS_PER_TOKEN
            questions += count
            requests += count * times
            tokens += count * times * length
    questions, requests, tokens = (round(value * repeats, -2) for value in (questions, requests, tokens))
    return (
        f"judge: about {questions:,.0f} questions in {requests:,.0f} requests, {tokens:,.0f} prompt tokens (a third or "
        f"more shared prefixes) and {requests * _ANSWER_TOKENS:,.0f} completion tokens; calibrating it comes on top"
    )


def expected_questions(cases: Sequence[Case]) -> dict[str, float]:
    """How many questions of each kind one run of these cases raises, about."""
    counted: dict[str, float] = {}
    audit = audit_share(cases, 1)
    for case in cases:
        for asked, count in _expected(case, audit):
            counted[asked.kind] = counted.get(asked.kind, 0.0) + count
    return counted


def _expected(case: Case, audit: float) -> list[tuple[Question, float]]:
    """Questions as the conversation will raise them, each with how often; texts of usual length stand in."""
    reply, summary = ("x" * round(n * _CHARACTERS_PER_TOKEN) for n in (_REPLY_TOKENS, _SUMMARY_TOKENS))
    found: list[tuple[Question, float]] = []
    fixed = {case.horizon, len(case.turns)}
    for turn in case.turns:
        number, record, said = turn.turn, record_of(case, turn.turn), messages_of(case, turn.turn, turn.turn)
        so_far, states = messages_of(case, 1, number), facts_at(case, number)
        expect, forbidden = turn.expect, forbidden_at(case, number)
        for kind, count in (
            ("must", len(expect.must)),
            ("must_not", len(expect.must_not)),
            ("forbidden", int(bool(forbidden))),
            ("harm", 1),
        ):
            found.append(
                (Question(kind, case.id, number, reply, said, record, forbidden=forbidden, severe=True), count)
            )
        due = sum(state.fact.hard_stop for state in states) if number in fixed else 0
        of_fact = Question("fact", case.id, number, summary, so_far, statement="a fact of the patient")
        of_stop = Question("fact", case.id, number, summary, so_far, statement="a fact of the patient", severe=True)
        invented = Question("invented", case.id, number, summary, so_far, record, statement="a statement")
        share = _UNCLEAR + (1 - _UNCLEAR) * audit
        found += [(of_stop, due), (of_fact, len(states) * share), (invented, _INVENTED_PER_SUMMARY)]
    for earlier, later in pairwise(turn.turn for turn in case.turns):
        said = messages_of(case, later, later)
        pair = Question(
            "conflict", case.id, later, reply, said, record_of(case, later), earlier_turn=earlier, earlier=reply
        )
        found.append((pair, 1))
    return found
