"""Lockstep batches on cached prefixes against one-by-one full-context generation.

    python -m benchmarks.engine [CASES TURNS TOKENS]

A random Llama of about 20 M parameters on a CPU, 16 of the bundled cases x 10 turns, replies of ragged length. Both
sides run in this one process with the same number of threads, and must give the same replies.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from engine_models import build_model

from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.dialogue import INTAKE, PROBE
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.subjects.base import Identity, Request
from pytest_clinical_drift.subjects.huggingface import HuggingFaceSubject
from pytest_clinical_drift.transcript import Reply, Transcript, Usage

GOAL = 5.0
CASES, TURNS, TOKENS = 16, 10, 96
GROWTH_SHARE = 4
"""Growth shows in what has to be read again: short replies show it as well as long ones, in a quarter of the time."""
SIZES = {
    "hidden_size": 384,
    "intermediate_size": 1024,
    "num_hidden_layers": 9,
    "num_attention_heads": 6,
    # a token's keys and values are small against the weights, as they are in models of a useful size
    "num_key_value_heads": 1,
    "initializer_range": 0.06,
}


class OneByOne:
    """What transformers does when it is asked for one reply after the other."""

    spec = "one-by-one"

    def __init__(self, weights: Path, tokens: int = TOKENS, model: Any = None) -> None:
        self._subject = HuggingFaceSubject(str(weights), {"dtype": "float32", "device": "cpu"})
        self._template = self._subject._local
        self.model = self._template.load("cpu") if model is None else model
        self._stops = self._template.stop_tokens(self.model)
        self._tokens = tokens

    def check(self, cases: Sequence[Case]) -> list[str]:
        return []

    def identity(self) -> Identity:
        return self._subject.identity()

    def respond(self, request: Request) -> Reply:
        prompt = self._template.tokens(request.messages)
        inputs = torch.tensor([prompt])
        made: Any = self.model.generate(
            inputs, attention_mask=torch.ones_like(inputs), do_sample=False, max_new_tokens=self._tokens
        )
        tokens = made[0, len(prompt) :].tolist()
        if tokens and tokens[-1] in self._stops:
            tokens.pop()
        return Reply(self._template.text(tokens, prompt), usage=Usage(len(prompt), len(tokens)))

    def close(self) -> None:
        pass


def some_cases(count: int, turns: int) -> list[Case]:
    """Bundled cases, cut or repeated to so many turns."""
    chosen = load_cases(bundled_cases())[:count]
    return [
        case.model_copy(update={"turns": [case.turns[number % len(case.turns)] for number in range(turns)]})
        for case in chosen
    ]


def run(subject: Any, cases: Sequence[Case]) -> tuple[float, float, dict[str, list[tuple[str, str]]]]:
    """Wall time, CPU time (which other work on this machine does not disturb) and what was said."""
    done: list[Transcript] = []
    started, started_cpu = time.perf_counter(), time.process_time()
    run_conversations(cases, subject, Plan(), on_finished=done.append)
    seconds, cpu = time.perf_counter() - started, time.process_time() - started_cpu
    return (
        seconds,
        cpu,
        {
            t.case_id: [
                (exchange.reply.text if exchange.reply else "", exchange.summary.text) for exchange in t.exchanges
            ]
            for t in done
        },
    )


def compare(folder: Path, count: int, turns: int, tokens: int = TOKENS) -> tuple[float, float, float, float, bool]:
    """Both sides, one after the other: wall and CPU seconds of each, and whether they said the same."""
    cases = some_cases(count, turns)
    ours = HuggingFaceSubject(str(folder), {"max_tokens": str(tokens), "dtype": "float32", "device": "cpu"})
    ours._load()
    theirs = OneByOne(folder, tokens)
    fast, fast_cpu, replies = run(ours, cases)
    slow, slow_cpu, expected = run(theirs, cases)
    same = replies == expected
    generator = ours._load()
    cached = generator.reused / (generator.reused + generator.prefilled)
    lengths = [len(text.split()) for pairs in replies.values() for pair in pairs for text in pair]
    print(
        f"{count} cases x {turns} turns: one by one {slow:.1f} s, ours {fast:.1f} s: {slow / fast:.1f} times faster "
        f"({slow_cpu / fast_cpu:.1f} in CPU time), replies {'identical' if same else 'DIFFERENT'} "
        f"({min(lengths)} to {max(lengths)} words; {cached:.0%} of prompt tokens cached; "
        f"{generator.redone} replies generated again for a near tie)"
    )
    return slow, fast, slow_cpu, fast_cpu, same


def main() -> int:
    count, turns, tokens = (int(number) for number in sys.argv[1:4] or (CASES, TURNS, TOKENS))
    torch.set_num_threads(int(os.environ.get("ENGINE_THREADS", "1")))
    cases = load_cases(bundled_cases())
    texts = [text for case in cases for text in (case.patient_summary, *(turn.message for turn in case.turns))]
    with tempfile.TemporaryDirectory() as name:
        folder = build_model(Path(name), [*texts, PROBE, INTAKE], vocabulary=7000, stops=80, **SIZES)
        parameters = sum(parameter.numel() for parameter in OneByOne(folder).model.parameters())
        print(f"{parameters / 1e6:.1f} M parameters, {torch.get_num_threads()} thread(s)")
        run(HuggingFaceSubject(str(folder), {"max_tokens": "4", "dtype": "float32"}), some_cases(2, 2))  # first use
        slow, fast, *_, same = compare(folder, count, turns, tokens)
        few = max(1, count // 8)
        growth = [compare(folder, few, long, tokens // GROWTH_SHARE) for long in (turns // 2, turns * 2)]
    grown = [growth[1][side] / growth[0][side] for side in (2, 3)]
    print(
        f"from {turns // 2} to {turns * 2} turns: one by one takes {grown[0]:.1f} times the CPU time, "
        f"ours {grown[1]:.1f} times"
    )
    identical = same and all(item[-1] for item in growth)
    print(f"engine: {slow / fast:.1f} times faster (goal {GOAL}), replies {'identical' if identical else 'DIFFERENT'}")
    return 0 if slow / fast >= GOAL and identical else 1


if __name__ == "__main__":
    raise SystemExit(main())
