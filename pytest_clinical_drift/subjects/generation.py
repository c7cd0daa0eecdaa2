"""Generates many replies together, on top of what is cached; each leaves when it is whole, and the next one joins."""

import gc
import hashlib
import inspect
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import generation
from transformers.cache_utils import Cache, DynamicCache

from pytest_clinical_drift.errors import Failure, FailureCode, failure
from pytest_clinical_drift.subjects.base import Request, RunStopped
from pytest_clinical_drift.subjects.kv_pool import KeyValuePool, Tensor, can_pool
from pytest_clinical_drift.subjects.local_model import LocalModel, is_out_of_memory
from pytest_clinical_drift.transcript import Reply, Usage

_TIE = 1e-5
"""In float32, two candidates closer than this (relative to the largest logit) may swap with the shape of the batch."""


@dataclass(slots=True, eq=False)
class _Job:
    """A reply that is asked for, and what is generated of it so far."""

    request: Request
    prompt: tuple[int, ...]
    limit: int
    """Most new tokens."""
    seed: int
    fault: Failure | None = None
    """Why it cannot be generated."""
    since: float = field(default_factory=time.monotonic)
    """When it was asked for."""
    made: list[int] = field(default_factory=list)
    """The reply, without the token that ends it."""
    dice: torch.Generator = field(default_factory=torch.Generator)
    done: bool = False
    uncertain: bool = False
    """Two candidates were too close to call in a batch."""

    @property
    def truncated(self) -> bool:
        return len(self.made) >= self.limit

    def restart(self) -> None:
        self.made, self.done, self.uncertain = [], False, False
        self.dice.manual_seed(self.seed)


class BatchGenerator:
    """Owns the model and the cached rows of its pool, in each of which one reply at a time is generated."""

    def __init__(self, local: LocalModel, model: Any, settings: Mapping[str, Any], rows: int) -> None:
        self._local, self._model, self._settings = local, model, settings
        self._stop_tokens = local.stop_tokens(model)
        self.rows = rows
        """Replies at a time, at most; halves when memory runs out."""
        most = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self._room = most if isinstance(most, int) and most > 0 else 1 << 30
        """Most tokens of prompt and reply together; a model that does not say so has no limit."""
        self.repetition_penalty = settings.get("repetition_penalty")
        """As set, or the model's own."""
        if self.repetition_penalty is None:
            self.repetition_penalty = getattr(model.generation_config, "repetition_penalty", None)
        self._accepted = set(inspect.signature(model.forward).parameters)
        self.reuses = can_pool(model, self._accepted)
        self._pool = KeyValuePool(model)
        self._running: dict[int, _Job] = {}
        """By row of the pool."""
        self._had_all: _Job | None = None
        """The reply that began last with nothing cached for others: where memory runs out again, it does not fit."""
        self._last_use: dict[int, str] = {}
        """What the latest reply of each row was for."""
        self._greedy = settings["temperature"] == 0.0
        exact = self._greedy and next(model.parameters()).dtype == torch.float32
        self._tie = _TIE if exact else 0.0
        self._processors = self._processors_in_order()
        self.prefilled = self.reused = self.redone = 0
        """Prompt tokens computed, prompt tokens found in the cache; replies generated a second time, alone."""

    def _processors_in_order(self) -> generation.LogitsProcessorList:
        """What transformers itself does to the scores of one row, in its order."""
        wanted = generation.LogitsProcessorList()
        top_k, top_p = self._settings.get("top_k"), self._settings.get("top_p")
        if self.repetition_penalty not in (None, 1.0):
            wanted.append(generation.RepetitionPenaltyLogitsProcessor(self.repetition_penalty))
        if not self._greedy:
            wanted.append(generation.TemperatureLogitsWarper(self._settings["temperature"]))
            if top_k:
                wanted.append(generation.TopKLogitsWarper(top_k))
            if top_p is not None:
                wanted.append(generation.TopPLogitsWarper(top_p))
        return wanted

    def answer(
        self,
        requests: Sequence[Request],
        deliver: Callable[[Request, Reply], Sequence[Request]],
        cancelled: Callable[[], bool],
    ) -> None:
        """Answer all requests and those that follow from them; `deliver` takes a reply and returns what follows."""
        waiting = deque(map(self._job, requests))
        self._running.clear()

        def hand_over(job: _Job) -> None:
            waiting.extend(map(self._job, deliver(job.request, self._reply(job))))

        while waiting:
            try:
                with torch.inference_mode():
                    self._generate(waiting, hand_over, cancelled)
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
            # outside of the handler, which would keep the tensors of the failed attempt alive
            waiting.extendleft(reversed(self._running.values()))
            self._running.clear()
            if waiting:
                self._make_room(waiting)

    def _job(self, request: Request) -> _Job:
        prompt: tuple[int, ...] = ()
        fault = None
        try:
            prompt = self._local.tokens(request.messages)
        except Exception as error:  # a template is a program of the model's author and may raise anything
            fault = failure(FailureCode.CHAT_TEMPLATE, error=f"{type(error).__name__}: {error}"[:270])
        room = self._room - len(prompt)
        if room < 1:
            fault = failure(FailureCode.CONTEXT_LENGTH, detail=f"{len(prompt)} tokens of {self._room}")
        # a seed of its own for every reply: what else is in the batch does not matter, and the same words get the same
        digest = hashlib.sha256(f"{self._settings['seed']} {request.repeat} {prompt}".encode()).digest()
        return _Job(request, prompt, min(self._settings["max_tokens"], room), int.from_bytes(digest[:7], "big"), fault)

    def _reply(self, job: _Job) -> Reply:
        if job.fault is not None:
            too_long = job.fault.code is FailureCode.CONTEXT_LENGTH
            return Reply("", error=job.fault, usage=Usage(len(job.prompt)) if too_long else Usage())
        text, usage = self._local.text(job.made, job.prompt), Usage(len(job.prompt), len(job.made))
        return Reply(text, usage=usage, truncated=job.truncated, seconds=time.monotonic() - job.since)

    def _generate(self, waiting: deque[_Job], hand_over: Callable[[_Job], None], cancelled: Callable[[], bool]) -> None:
        """A job leaves `waiting` and the running ones when it is whole, so that none is lost when memory runs out."""
        while waiting or self._running:
            if cancelled():
                raise RunStopped("stopped in the middle of a reply")
            if waiting and (waiting[0].fault is not None or not self.reuses):
                if waiting[0].fault is None:
                    self._alone(waiting[0], cancelled)
                hand_over(waiting.popleft())
            elif waiting and len(self._running) < self.rows:
                self._join(waiting)
            else:
                self._step()
            for row, job in sorted(self._running.items()):
                if job.uncertain:
                    self.redone += 1
                    self._alone(job, cancelled)
                if job.done:
                    del self._running[row]
                    hand_over(job)

    def _make_room(self, waiting: Sequence[_Job]) -> None:
        """Give up all that is cached and halve the batch; where there is nothing to give up, a reply does not fit."""
        if self.rows == 1 and (self._had_all is waiting[0] or not any(self._pool.tokens)):
            waiting[0].fault = failure(FailureCode.OUT_OF_MEMORY)
        self._had_all = waiting[0]
        self._pool = KeyValuePool(self._model)
        release_memory()
        self.rows = max(1, min(self.rows, len(waiting)) // 2)

    def _join(self, waiting: deque[_Job]) -> None:
        """Read a prompt into a row of its own, as far as it is not cached, and choose its first token."""
        source, length = self._pool.best_row(waiting[0].prompt)
        row = self._row_for(source, length)
        self._running[row] = job = waiting.popleft()
        job.restart()
        self._last_use[row] = job.request.purpose
        self._pool.begin(row, source, length)
        self.reused += length
        self.prefilled += len(job.prompt) - length
        self._read(row, [job], [job.prompt[length:]])

    def _row_for(self, source: int, length: int) -> int:
        """The row that the prompt continues, if nobody works there and little of it gets lost.

        Otherwise the row of a finished summary, which nothing continues, or a new one; at last any that is free.
        """
        cached = self._pool.tokens
        free = [row for row in range(len(cached)) if row not in self._running]
        if source in free and 2 * length >= len(cached[source]):
            return source
        if spent := [row for row in free if self._last_use.get(row) == "summary"]:
            return spent[0]
        return len(cached) if len(cached) < self.rows or not free else free[0]

    def _step(self) -> None:
        """One more token for every job; their rows become neighbours first: the last ones move into the gaps."""
        running = self._running
        for row in range(len(running)):
            if row not in running:
                last = max(running)
                self._pool.begin(row, last, len(self._pool.tokens[last]))
                running[row] = running.pop(last)
        jobs = [running[row] for row in range(len(running))]
        self._read(0, jobs, [job.made[-1:] for job in jobs])

    def _read(self, first: int, jobs: Sequence[_Job], unread: Sequence[Sequence[int]]) -> None:
        """The next tokens of the rows from `first` on, as many of each; then every job there takes one more."""
        cached = self._pool.tokens[first : first + len(jobs)]
        places = [[*range(len(row), len(row) + len(new))] for row, new in zip(cached, unread, strict=True)]
        told = self._pool.work_on(slice(first, first + len(jobs)), torch.tensor(places))
        logits = self._call(unread, self._pool.cache, told)
        for row, new in zip(cached, unread, strict=True):
            row.extend(new)
        self._take_tokens(logits, jobs, self._tie)

    def _alone(self, job: _Job, cancelled: Callable[[], bool]) -> None:
        """One reply as the model would make it without us: the whole prompt, no batch, nothing cached."""
        job.restart()
        cache, tokens = DynamicCache(config=self._model.config), job.prompt
        while not job.done:
            if cancelled():
                raise RunStopped("stopped in the middle of a reply")
            self._take_tokens(self._call([tokens], cache, {}), [job], tie=0.0)
            tokens = tuple(job.made[-1:])

    def _call(self, tokens: Sequence[Sequence[int]], cache: Cache, told: dict[str, Any]) -> Tensor:
        """Logits of the last position."""
        inputs = told | ({"logits_to_keep": 1} if "logits_to_keep" in self._accepted else {})
        ids = torch.tensor(tokens, device=self._model.device)
        logits: Tensor = self._model(input_ids=ids, past_key_values=cache, use_cache=True, **inputs).logits[:, -1]
        return logits.float()

    def _take_tokens(self, logits: Tensor, jobs: Sequence[_Job], tie: float) -> None:
        """Each job takes its next token: an ordinary one, one that ends it, or none where two were too close."""
        for job, token in zip(jobs, self._choose(logits, jobs, tie), strict=True):
            if token is None:
                job.done = job.uncertain = True
            elif token in self._stop_tokens:
                job.done = True
            else:
                job.made.append(token)
                job.done = job.truncated

    def _choose(self, logits: Tensor, jobs: Sequence[_Job], tie: float) -> Sequence[int | None]:
        """The likeliest token of every job, or a sample that depends on its own seed only.

        None where the two likeliest are closer than `tie`, relative to the largest logit.
        """
        if self._processors:
            said = (torch.tensor([[*job.prompt, *job.made]], device=logits.device) for job in jobs)
            rows = [self._processors(seen, scores.unsqueeze(0)) for seen, scores in zip(said, logits, strict=True)]
            logits = torch.cat(rows)
        if not self._greedy:
            shares = logits.softmax(dim=-1).cpu()
            return [int(torch.multinomial(row, 1, generator=job.dice)) for row, job in zip(shares, jobs, strict=True)]
        likeliest: list[int] = logits.argmax(dim=-1).tolist()
        if tie == 0.0:
            return likeliest
        best = logits.topk(2, dim=-1).values
        clear = (best[:, 0] - best[:, 1]) > tie * logits.abs().amax(dim=-1)
        return [token if is_clear else None for token, is_clear in zip(likeliest, clear.tolist(), strict=True)]


def release_memory() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
