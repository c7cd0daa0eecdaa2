"""What a run will cost, told before anything is asked of the model."""

from __future__ import annotations

from collections.abc import Sequence

from .cases import Case
from .conversation import prompts
from .conversation.frontier import Plan

_CHARACTERS_PER_TOKEN = 4.2
"""English prose under common tokenizers; good enough for an estimate."""
_REPLY_TOKENS = 250
_SUMMARY_TOKENS = 250


def estimate(cases: Sequence[Case], plan: Plan) -> str:
    """Requests and tokens of a run, as one line."""
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
    return (
        f"{len(cases)} cases, {turns} turns: {requests:,} requests, about {prompt:,} prompt tokens "
        f"(most of them shared prefixes) and {completion:,} completion tokens"
    )
