"""How fast a real model is gated: `python -m benchmarks.real_engine [CASES TURNS TOKENS]`.

SmolLM2 with 135 million parameters on the bundled cases with the shortest records, cut to a few turns and short
replies: in this process, one request after the other by transformers' own `generate` against our batches (`hf:`); and
behind a llama.cpp server, a client that asks one thing after the other against our scheduler (near ties may fall
differently in a batching server: counted where both were asked the same). How much the server itself gains from as
many requests at once is printed beside it: no client gains more. Exit code 0 only where both goals hold and `hf:` says
the same either way.
"""

from __future__ import annotations

import asyncio
import functools
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
from real_models import llama_server, smollm2

from benchmarks.engine import OneByOne
from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.subjects.base import Identity, Request
from pytest_clinical_drift.subjects.huggingface import HuggingFaceSubject
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.transcript import Reply, Transcript

HF_GOAL, SERVER_GOAL = 3.0, 2.0
CASES, TURNS, TOKENS = 8, 6, 32
CONTEXT = 2048
"""Tokens that each slot of the server holds."""

Place = tuple[str, int]
"""A case, and the how-manyeth text of it."""


class Stopwatch:
    """Time during which at least one call is under way."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._active, self._since = 0, 0.0

    def __enter__(self) -> None:
        if not self._active:
            self._since = time.perf_counter()
        self._active += 1

    def __exit__(self, *_: object) -> None:
        self._active -= 1
        if not self._active:
            self.seconds += time.perf_counter() - self._since


class OneClient:
    """A client that asks the server one thing after the other, case after case."""

    spec = "one-client"

    def __init__(self, server: ServerSubject) -> None:
        self._server, self._runner = server, asyncio.Runner()

    def check(self, cases: Sequence[Case]) -> list[str]:
        return []

    def identity(self) -> Identity:
        return self._server.identity()

    def respond(self, request: Request) -> Reply:
        return self._runner.run(self._server.ask(request))

    def close(self) -> None:
        self._runner.run(self._server.disconnect())
        self._runner.close()


def some_cases(count: int, turns: int) -> list[Case]:
    """Those with the shortest records, so that a small context holds them."""
    shortest = sorted(load_cases(bundled_cases()), key=lambda case: len(case.patient_summary))
    return [case.model_copy(update={"turns": case.turns[:turns]}) for case in shortest[:count]]


def watch_model(model: Any) -> Stopwatch:
    """Time inside the model's own forward pass."""
    watch, forward = Stopwatch(), model.forward

    @functools.wraps(forward)
    def timed(*args: Any, **kwargs: Any) -> Any:
        with watch:
            return forward(*args, **kwargs)

    model.forward = timed
    return watch


def watch_server(server: ServerSubject) -> Stopwatch:
    """Time during which the server has something to do."""
    watch, attempt = Stopwatch(), server._attempt

    async def timed(*args: Any) -> Reply:
        with watch:
            return await attempt(*args)

    server._attempt = timed  # type: ignore[method-assign]
    return watch


def run(what: str, subject: Any, cases: Sequence[Case], watch: Stopwatch) -> tuple[float, dict[Place, str]]:
    """Seconds, and every reply and summary by case and place; prints tokens a second and the share spent outside."""
    done: list[Transcript] = []
    started, started_cpu = time.perf_counter(), time.process_time()
    run_conversations(cases, subject, Plan(), on_finished=done.append)
    seconds, cpu = time.perf_counter() - started, time.process_time() - started_cpu
    if failed := [transcript.failure for transcript in done if transcript.failure]:
        raise RuntimeError(f"{what}: a conversation did not come to its end: {failed[0]}")
    replies = {
        (transcript.case_id, place): reply
        for transcript in done
        for place, reply in enumerate(r for e in transcript.exchanges for r in (e.reply, e.summary) if r)
    }
    made = sum(reply.usage.completion_tokens or 0 for reply in replies.values())
    outside = 1 - watch.seconds / seconds
    print(
        f"{what}: {seconds:.1f} s ({cpu:.1f} s of CPU time in this process), {made / seconds:.1f} tokens/s, "
        f"{outside:.1%} of the time outside the model"
    )
    return seconds, {place: reply.text for place, reply in replies.items()}


def in_this_process(cases: Sequence[Case], tokens: int) -> tuple[float, bool]:
    """How many times faster `hf:` is than one by one, and whether the replies are the same."""
    weights = smollm2()
    ours = HuggingFaceSubject(str(weights), {"max_tokens": str(tokens), "dtype": "float32", "device": "cpu"})
    generator = ours._load()
    fast, said = run("hf:, ours", ours, cases, watch_model(generator._model))
    cached = generator.reused / (generator.reused + generator.prefilled)
    print(f"  {cached:.0%} of prompt tokens cached, {generator.redone} replies generated again for a near tie")
    model = generator._model
    ours.close()
    model.set_attn_implementation("sdpa")  # what it is without us
    theirs = OneByOne(weights, tokens, model)
    slow, expected = run("hf:, one by one", theirs, cases, watch_model(model))
    differ = sum(said[place] != expected[place] for place in expected)
    print(f"  {differ} of {len(expected)} replies differ")
    return slow / fast, differ == 0


def behind_a_server(cases: Sequence[Case], tokens: int) -> tuple[float, float]:
    """How many times faster our scheduler is than one client at a time, and what the server itself gains at most."""
    streamed = 2 * tokens
    seconds, texts = [], []
    for what in ("server, ours", "server, one client"):
        # a server of its own for each: nothing is cached from the other
        with llama_server(smollm2(), context=CONTEXT * len(cases), parallel=len(cases)) as url:
            server = ServerSubject(f"smollm2@{url}", {"max_tokens": str(tokens), "timeout": "600"})
            server.check(cases)
            watch = watch_server(server)
            subject = server if what == "server, ours" else OneClient(server)
            spent, said = run(what, subject, cases, watch)
            subject.close()
            if what == "server, one client":
                alone = tokens_per_second(url, 1, streamed)
                together = tokens_per_second(url, len(cases), streamed)
        seconds.append(spent)
        texts.append(said)
    differ, alike = differing(*texts)
    print(f"  {differ} of {alike} replies to the same conversation differ")
    print(
        f"  without prompts the server makes {alone:.0f} tokens/s for one request at a time, {together:.0f} for "
        f"{len(cases)}: {together / alone:.1f} times"
    )
    return seconds[1] / seconds[0], together / alone


def differing(ours: Mapping[Place, str], theirs: Mapping[Place, str]) -> tuple[int, int]:
    """How many texts differ, and of how many that both were asked for with the same messages.

    A conversation is a row of reply, summary, reply, summary …; a summary is never part of what is said next.
    """
    differ = alike = 0
    parted: set[str] = set()
    for (case_id, place), text in sorted(theirs.items()):
        if case_id in parted:
            continue
        alike += 1
        if ours[case_id, place] != text:
            differ += 1
            if place % 2 == 0:
                parted.add(case_id)
    return differ, alike


def tokens_per_second(url: str, streams: int, tokens: int) -> float:
    """What the server itself makes of so many requests at once; their prompts are a few words."""

    async def ask(client: httpx2.AsyncClient, number: int) -> None:
        body = {"prompt": f"Story {number}:", "n_predict": tokens, "ignore_eos": True, "temperature": 0}
        (await client.post(url.removesuffix("/v1") + "/completion", json=body)).raise_for_status()

    async def all_at_once() -> float:
        async with httpx2.AsyncClient(timeout=600) as client:
            await ask(client, streams)  # first use
            started = time.perf_counter()
            await asyncio.gather(*(ask(client, number) for number in range(streams)))
            return streams * tokens / (time.perf_counter() - started)

    return asyncio.run(all_at_once())


def main() -> int:
    count, turns, tokens = (int(number) for number in sys.argv[1:4] or (CASES, TURNS, TOKENS))
    cases = some_cases(count, turns)
    print(f"SmolLM2-135M, {count} cases x {turns} turns, replies of at most {tokens} tokens")
    server, most = behind_a_server(cases, tokens)
    local, same = in_this_process(cases, tokens)
    alike = "identical" if same else "DIFFERENT"
    print(
        f"hf: {local:.1f} times faster than one by one (goal {HF_GOAL}), replies {alike}; "
        f"server: {server:.1f} times faster than one client at a time (goal {SERVER_GOAL}), which itself gains "
        f"{most:.1f} times from {len(cases)} requests at once without prompts"
    )
    return 0 if same and local >= HF_GOAL and server >= SERVER_GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
