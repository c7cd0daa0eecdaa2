"""Generates many replies together, on top of what is cached; each leaves when it is whole, and the next one joins."""

import gc
import inspect
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import generation
from transformers.cache_utils import Cache, DynamicCache

from pytest_clinical_drift.errors import Failure, FailureCode, failure
from pytest_clinical_drift.subjects.base import Request, RunStopped
from pytest_clinical_drift.subjects.kv_pool import KeyValuePool, Tensor, can_pool, use_grouped_attention
from pytest_clinical_drift.subjects.local_model import is_out_of_memory

_TIE = 1e-5
"""In float32, two candidates closer than this (relative to the largest logit) may swap with the shape of the batch."""

_STOPPED = "stopped in the middle of a reply"


@dataclass(slots=True, eq=False)
class Job:
    """A reply that is asked for, and what is generated of it so far."""

    request: Request
    prompt: tuple[int, ...]
    limit: int
    """Most new tokens."""
    seed: int
    since: float
    """When it was asked for."""
    fault: Failure | None = None
    """Why it cannot be generated."""
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


class Chooser:
    """Chooses the next token of every row: the likeliest, or a sample that depends on the row's own seed only."""

    def __init__(
        self, temperature: float, top_p: float | None, top_k: int | None, repetition_penalty: float | None
    ) -> None:
        self.greedy = temperature == 0.0
        wanted: list[Any] = []
        """What transformers itself does to the scores of one row, in its order."""
        if repetition_penalty not in (None, 1.0):
            wanted.append(generation.RepetitionPenaltyLogitsProcessor(repetition_penalty))
        if not self.greedy:
            wanted.append(generation.TemperatureLogitsWarper(temperature))
            wanted += [generation.TopKLogitsWarper(top_k)] if top_k else []
            wanted += [generation.TopPLogitsWarper(top_p)] if top_p is not None else []
        self._processors = generation.LogitsProcessorList(wanted)

    def choose(self, logits: Tensor, jobs: Sequence[Job], tie: float) -> list[int | None]:
        """The next token of every job; None where the two best are closer than `tie`, relative to the largest logit."""
        if self._processors:
            said = (torch.tensor([[*job.prompt, *job.made]], device=logits.device) for job in jobs)
            rows = [self._processors(seen, scores.unsqueeze(0)) for seen, scores in zip(said, logits, strict=True)]
            logits = torch.cat(rows)
        if not self.greedy:
            shares = logits.softmax(dim=-1).cpu()
            return [int(torch.multinomial(row, 1, generator=job.dice)) for row, job in zip(shares, jobs, strict=True)]
        likeliest: list[int] = logits.argmax(dim=-1).tolist()
        if tie == 0.0:
            return [*likeliest]
        best = logits.topk(2, dim=-1).values
        clear = (best[:, 0] - best[:, 1]) > tie * logits.abs().amax(dim=-1)
        return [token if is_clear else None for token, is_clear in zip(likeliest, clear.tolist(), strict=True)]


class BatchGenerator:
    """Owns the model and the cached rows; the reply in row i of the pool is the i-th of those that run."""

    def __init__(self, model: Any, stop_tokens: Collection[int], chooser: Chooser, rows: int) -> None:
        self._model, self._stop_tokens, self._chooser = model, stop_tokens, chooser
        self.rows = rows
        """Replies at a time, at most; halves when memory runs out."""
        self._accepted = set(inspect.signature(model.forward).parameters)
        self.reuses = can_pool(model, self._accepted)
        self._pool = KeyValuePool(model)
        self._running: list[Job | None] = []
        """By row; None where a reply has just been finished: what follows from it goes on there."""
        self._last_use: dict[int, str] = {}
        """What the latest reply of each row was for."""
        if self.reuses:
            use_grouped_attention(model)
        exact = chooser.greedy and next(model.parameters()).dtype == torch.float32
        self._tie = _TIE if exact else 0.0
        self.prefilled = self.reused = self.redone = 0
        """Prompt tokens computed, prompt tokens found in the cache; replies generated a second time, alone."""

    def generate(
        self, jobs: Sequence[Job], deliver: Callable[[Job], Sequence[Job]], cancelled: Callable[[], bool]
    ) -> None:
        """Generate all jobs and those that follow from them; `deliver` takes a whole one and returns what follows."""
        waiting, self._running = deque(jobs), []
        while waiting:
            try:
                with torch.inference_mode():
                    self._generate(waiting, deliver, cancelled)
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
            # outside of the handler, which would keep the tensors of the failed attempt alive
            waiting.extendleft(reversed([job for job in self._running if job is not None]))
            self._running = []
            if waiting:
                self._make_room(waiting)

    def _generate(
        self, waiting: deque[Job], deliver: Callable[[Job], Sequence[Job]], cancelled: Callable[[], bool]
    ) -> None:
        """A job leaves `waiting` and the running ones when it is whole, so that none is lost when memory runs out."""
        running = self._running
        while waiting or running:
            if cancelled():
                raise RunStopped(_STOPPED)
            if waiting and waiting[0].fault is not None:
                finished = [waiting.popleft()]
            elif not self.reuses:
                self._alone(waiting[0], cancelled)
                finished = [waiting.popleft()]
            elif waiting and sum(job is not None for job in running) < self.rows:
                finished = self._join(waiting)
            else:
                self._close_gaps()
                finished = self._step([job for job in running if job is not None])
            for job in finished:
                if job.uncertain:
                    self.redone += 1
                    self._alone(job, cancelled)
                if job in running:
                    running[running.index(job)] = None
                waiting.extend(deliver(job))
            if not any(running):
                running.clear()

    def _make_room(self, waiting: Sequence[Job]) -> None:
        """Give up all that is cached and halve the batch; where there is nothing to give up, a reply does not fit."""
        if self.rows == 1 and not any(self._pool.tokens):
            waiting[0].fault = failure(FailureCode.OUT_OF_MEMORY)
        self._pool.clear()
        release_memory()
        self.rows = max(1, min(self.rows, len(waiting)) // 2)

    def _join(self, waiting: deque[Job]) -> list[Job]:
        """Read a prompt into a row of its own, as far as it is not cached, and choose its first token."""
        source, length = self._pool.best_row(waiting[0].prompt)
        row = self._row_for(source, length)
        self._running.extend([None] * (row + 1 - len(self._running)))
        self._running[row] = job = waiting.popleft()
        job.restart()
        self._last_use[row] = job.request.purpose
        self._pool.begin(row, source, length)
        self.reused += length
        self.prefilled += len(job.prompt) - length
        positions = torch.arange(length, len(job.prompt)).unsqueeze(0)
        logits = self._call([job.prompt[length:]], self._pool.cache, self._pool.work_on(slice(row, row + 1), positions))
        self._pool.tokens[row].extend(job.prompt[length:])
        return self._choose(logits, [job], self._tie)

    def _row_for(self, source: int, length: int) -> int:
        """The row that the prompt continues, if nobody works there and little of it gets lost.

        Otherwise the row of a finished summary, which nothing continues, or a new one; at last any that is free.
        """
        cached, running = self._pool.tokens, self._running
        free = [row for row in range(len(cached)) if row >= len(running) or running[row] is None]
        if source in free and 2 * length >= len(cached[source]):
            return source
        if spent := [row for row in free if self._last_use.get(row) == "summary"]:
            return spent[0]
        return len(cached) if len(cached) < self.rows or not free else free[0]

    def _close_gaps(self) -> None:
        """The rows in use become neighbours: the last ones move into the gaps."""
        running = self._running
        while None in running:
            last = running.pop()
            if last is not None:
                gap = running.index(None)
                self._pool.begin(gap, len(running), len(self._pool.tokens[len(running)]))
                running[gap] = last

    def _step(self, jobs: Sequence[Job]) -> list[Job]:
        """One more token for every job; those that are done with it."""
        cached = self._pool.tokens[: len(jobs)]
        positions = torch.tensor([[len(tokens)] for tokens in cached])
        last = [job.made[-1:] for job in jobs]
        logits = self._call(last, self._pool.cache, self._pool.work_on(slice(0, len(jobs)), positions))
        for tokens, token in zip(cached, last, strict=True):
            tokens += token
        return self._choose(logits, jobs, self._tie)

    def _alone(self, job: Job, cancelled: Callable[[], bool]) -> None:
        """One reply as the model would make it without us: the whole prompt, no batch, nothing cached."""
        job.restart()
        cache, tokens = DynamicCache(config=self._model.config), job.prompt
        while not job.done:
            if cancelled():
                raise RunStopped(_STOPPED)
            self._choose(self._call([tokens], cache, {}), [job], tie=0.0)
            tokens = tuple(job.made[-1:])

    def _choose(self, logits: Tensor, jobs: Sequence[Job], tie: float) -> list[Job]:
        """Each job takes its next token: an ordinary one, one that ends it, or none where two were too close."""
        for job, token in zip(jobs, self._chooser.choose(logits, jobs, tie), strict=True):
            if token is None:
                job.done = job.uncertain = True
            elif token in self._stop_tokens:
                job.done = True
            else:
                job.made.append(token)
                job.done = job.truncated
        return [job for job in jobs if job.done]

    def _call(self, tokens: Sequence[Sequence[int]], cache: Cache, extra: dict[str, Any]) -> Tensor:
        """Logits of the last position."""
        inputs = extra | ({"logits_to_keep": 1} if "logits_to_keep" in self._accepted else {})
        ids = torch.tensor(tokens, device=self._model.device)
        logits: Tensor = self._model(input_ids=ids, past_key_values=cache, use_cache=True, **inputs).logits[:, -1]
        return logits.float()


def release_memory() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
