"""What a run will cost, told before anything is asked of the model or of the judge."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.probes import probes_of
from pytest_clinical_drift.conversation import prompts
from pytest_clinical_drift.conversation.frontier import Plan
from pytest_clinical_drift.judging.questions import audit_share, forbidden_at
from pytest_clinical_drift.report.page import text_lines

_CHARACTERS_PER_TOKEN = 4.2
"""English prose under common tokenizers; good enough for an estimate."""
_TEXT_TOKENS, _QUESTION_TOKENS, _ANSWER_TOKENS = 250, 1100, 60
"""Of a reply or summary; of a question to a judge as on the bundled cases, and of its answer."""
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
        probed = set(probes_of(case, plan.probe_every_turn).turns)
        for turn in case.turns:
            history += _tokens(turn.message)
            tokens += history
            history += _TEXT_TOKENS
            tokens += (history + _tokens(prompts.PROBE)) * (turn.turn in probed)
        tokens += (history + _tokens(prompts.PROBE)) * plan.single_message
    requests = sum(plan.requests(case) for case in cases)
    told = _told("estimate", requests, tokens * plan.repeats, _TEXT_TOKENS, cases=len(cases), turns=turns)
    return told + (_of_judge(cases, plan.repeats) if judged else [])


def _told(of: str, requests: float, prompt: float, per_answer: int, **counts: float) -> list[str]:
    tokens = {"prompt": prompt, "completion": requests * per_answer}
    return text_lines("gate.txt.j2", of, requests=requests, **tokens, **counts)


def _tokens(text: str) -> float:
    return len(text) / _CHARACTERS_PER_TOKEN


def _of_judge(cases: Sequence[Case], repeats: int) -> list[str]:
    """Severe kinds are asked twice; how many facts are unclear depends on the summaries, and is assumed."""
    unclear = _UNCLEAR + (1 - _UNCLEAR) * audit_share(cases, repeats)
    once = twice = 0.0
    for case in cases:
        for turn in case.turns:
            facts, expect = facts_at(case, turn.turn), turn.expect
            once += len(facts) * unclear + _INVENTED_PER_SUMMARY + (turn.turn > 1)  # a pair of replies from turn 2 on
            twice += len(expect.must) + len(expect.must_not) + bool(forbidden_at(case, turn.turn)) + 1  # and its harm
            if turn.turn in (case.horizon, len(case.turns)):
                twice += sum(state.fact.hard_stop for state in facts)
    questions, requests = (round(number * repeats, -2) for number in (once + twice, once + 2 * twice))
    return _told("judge_estimate", requests, requests * _QUESTION_TOKENS, _ANSWER_TOKENS, questions=questions)
