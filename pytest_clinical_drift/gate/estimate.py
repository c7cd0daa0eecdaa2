"""What a run will cost, told before anything is asked of the model or of the judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.conversation import prompts
from pytest_clinical_drift.conversation.frontier import Plan
from pytest_clinical_drift.judging.prompts import messages_for
from pytest_clinical_drift.judging.questions import Question, audit_share, forbidden_at, messages_of, record_of
from pytest_clinical_drift.verdict.values import counted

_CHARACTERS_PER_TOKEN = 4.2
"""English prose under common tokenizers; good enough for an estimate."""
_TEXT_TOKENS, _ANSWER_TOKENS = 250, 60
"""Of a reply or summary, and of a judge's answer."""
_UNCLEAR = 0.10
"""Share of the facts of good summaries that rules do not find plainly stated."""
_INVENTED_PER_SUMMARY = 0.05
"""Statements of a good summary for which rules find no source."""


def estimate(cases: Sequence[Case], plan: Plan, *, judged: bool = False) -> list[str]:
    """Requests and tokens of a run, a line each for the model and for the judge."""
    turns, tokens = sum(len(case.turns) for case in cases), 0.0
    for case in cases:
        before = (plan.system_prompt or "", prompts.INTAKE, prompts.PATIENT, case.patient_summary)
        history = sum(map(_tokens, before))
        for turn in case.turns:
            history += _tokens(turn.message)
            tokens += 2 * history + _TEXT_TOKENS + _tokens(prompts.PROBE)  # for the reply, and after it for the summary
            history += _TEXT_TOKENS
    requests = 2 * turns * plan.repeats
    told = (
        f"{counted(len(cases), 'case')}, {turns} turns: {requests:,} requests, "
        f"about {tokens * plan.repeats:,.0f} prompt tokens (most of them shared prefixes) "
        f"and {requests * _TEXT_TOKENS:,} completion tokens"
    )
    return [told, _of_judge(cases, plan.repeats)] if judged else [told]


def _tokens(text: str) -> float:
    return len(text) / _CHARACTERS_PER_TOKEN


def _of_judge(cases: Sequence[Case], repeats: int) -> str:
    """Severe kinds are asked twice; how many facts are unclear depends on the summaries, and is assumed."""
    audit = audit_share(cases, repeats)
    questions = requests = tokens = 0.0
    for case in cases:
        for asked, count in _expected(case, _UNCLEAR + (1 - _UNCLEAR) * audit):
            times = count * (2 if asked.severe else 1)
            questions += count
            requests += times
            tokens += times * sum(_tokens(message.content) for message in messages_for(asked, 1))
    questions, requests, tokens = (round(value * repeats, -2) for value in (questions, requests, tokens))
    return (
        f"judge: about {questions:,.0f} questions in {requests:,.0f} requests, {tokens:,.0f} prompt tokens (a third or "
        f"more shared prefixes) and {requests * _ANSWER_TOKENS:,.0f} completion tokens; calibrating it comes on top"
    )


def _expected(case: Case, unclear: float) -> Iterator[tuple[Question, float]]:
    """Questions as the conversation will raise them, each with how often; texts of usual length stand in."""
    text = "x" * round(_TEXT_TOKENS * _CHARACTERS_PER_TOKEN)
    for turn in case.turns:
        number, record, said = turn.turn, record_of(case, turn.turn), messages_of(case, turn.turn, turn.turn)
        so_far, facts, forbidden = messages_of(case, 1, number), facts_at(case, number), forbidden_at(case, number)
        for kind, count in (
            ("must", len(turn.expect.must)),
            ("must_not", len(turn.expect.must_not)),
            ("forbidden", int(bool(forbidden))),
            ("harm", 1),
        ):
            yield Question(kind, case.id, number, text, said, record, forbidden=forbidden, severe=True), count
        fact = Question("fact", case.id, number, text, so_far, statement="a fact of the patient")
        yield fact, len(facts) * unclear
        if number in (case.horizon, len(case.turns)):
            yield replace(fact, severe=True), sum(state.fact.hard_stop for state in facts)
        invented = Question("invented", case.id, number, text, so_far, record, statement="a statement")
        yield invented, _INVENTED_PER_SUMMARY
        if number > 1:
            yield Question("conflict", case.id, number, text, said, record, earlier_turn=number - 1, earlier=text), 1
