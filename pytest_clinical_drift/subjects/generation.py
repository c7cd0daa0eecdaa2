"""Generates many replies together, on top of what is cached; each leaves when it is whole, and the next one joins."""

import inspect
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicCache

from pytest_clinical_drift.subjects.base import Request, RunStopped
from pytest_clinical_drift.subjects.kv_pool import KeyValuePool, Tensor, can_pool, use_grouped_attention
from pytest_clinical_drift.subjects.sampling import Chooser

_TIE = 1e-5
"""In float32, two candidates closer than this (relative to the largest logit) may swap with the shape of the batch."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    request: Request
    prompt: tuple[int, ...]
    limit: int
    """Most new tokens."""
    seed: int
    since: float
    """When it was asked for."""


@dataclass(slots=True, eq=False)
class Line:
    """A job while it is being generated."""

    job: Job
    dice: torch.Generator | None
    made: list[int] = field(default_factory=list)
    """The reply so far, without the token that ends it."""
    done: bool = False
    uncertain: bool = False
    """Two candidates were too close to call in a batch."""

    @property
    def truncated(self) -> bool:
        return len(self.made) >= self.job.limit


Deliver = Callable[[Job, Line], Sequence[Job]]
"""Takes a whole reply; returns what can be asked now that it is known."""


class BatchGenerator:
    """Owns the model and the cached rows; the reply in row i of the pool is the i-th of those that run."""

    def __init__(self, model: Any, stop_tokens: Sequence[int], chooser: Chooser) -> None:
        self._model = model
        self._stop_tokens = frozenset(stop_tokens)
        self._chooser = chooser
        self._accepted = set(inspect.signature(model.forward).parameters)
        self.reuses = can_pool(model, self._accepted)
        self._pool = KeyValuePool(model)
        self._last_use: dict[int, str] = {}
        """What the latest reply of each row was for."""
        if self.reuses:
            use_grouped_attention(model)
        exact = chooser.greedy and next(model.parameters()).dtype == torch.float32
        self._tie = _TIE if exact else 0.0
        self.prefilled = self.reused = self.redone = 0
        """Prompt tokens computed, prompt tokens found in the cache; replies generated a second time, alone."""

    def forget(self) -> bool:
        """Drop everything cached and give the memory back; whether there was anything."""
        held = any(self._pool.tokens)
        self._pool.clear()
        return held

    def generate(self, jobs: Sequence[Job], deliver: Deliver, rows: int, cancelled: Callable[[], bool]) -> None:
        """Generate all jobs and those that follow from them, at most so many at a time."""
        waiting = deque(jobs)
        running: list[Line | None] = []
        """By row; None where a reply has just been finished: what follows from it goes on there."""
        with torch.inference_mode():
            while waiting or running:
                if cancelled():
                    raise RunStopped("stopped in the middle of a reply")
                if not self.reuses:
                    finished = [self._alone(waiting.popleft(), cancelled)]
                elif waiting and sum(line is not None for line in running) < rows:
                    finished = self._join(waiting.popleft(), running, rows)
                else:
                    self._close_gaps(running)
                    finished = self._step([line for line in running if line is not None])
                for line in finished:
                    if line in running:
                        running[running.index(line)] = None
                    self.redone += line.uncertain
                    whole = self._alone(line.job, cancelled) if line.uncertain else line
                    waiting.extend(deliver(line.job, whole))
                if not any(running):
                    running.clear()

    def _join(self, job: Job, running: list[Line | None], rows: int) -> list[Line]:
        """Read a prompt into a row of its own, as far as it is not cached, and choose its first token."""
        line, (source, length) = self._line(job), self._pool.best_row(job.prompt)
        row = self._row_for(source, length, running, rows)
        self._last_use[row] = job.request.purpose
        self._pool.begin(row, source, length)
        self.reused += length
        self.prefilled += len(job.prompt) - length
        running.extend([None] * (row + 1 - len(running)))
        running[row] = line
        positions = torch.arange(length, len(job.prompt)).unsqueeze(0)
        logits = self._call([job.prompt[length:]], self._pool.cache, self._pool.work_on(slice(row, row + 1), positions))
        self._pool.tokens[row].extend(job.prompt[length:])
        return self._choose(logits, [line], self._tie)

    def _row_for(self, source: int, length: int, running: Sequence[Line | None], rows: int) -> int:
        """The row that the prompt continues, if nobody works there and little of it gets lost.

        Otherwise the row of a finished summary, which nothing continues, or a new one; at last any that is free.
        """
        cached = self._pool.tokens
        free = [row for row in range(len(cached)) if row >= len(running) or running[row] is None]
        if source in free and 2 * length >= len(cached[source]):
            return source
        if spent := [row for row in free if self._last_use.get(row) == "summary"]:
            return spent[0]
        return len(cached) if len(cached) < rows or not free else free[0]

    def _close_gaps(self, running: list[Line | None]) -> None:
        """The rows in use become neighbours: the last ones move into the gaps."""
        while None in running:
            last = running.pop()
            if last is not None:
                gap = running.index(None)
                self._pool.begin(gap, len(running), len(self._pool.tokens[len(running)]))
                running[gap] = last

    def _step(self, lines: Sequence[Line]) -> list[Line]:
        """One more token for every line; those that are done with it."""
        cached = self._pool.tokens[: len(lines)]
        positions = torch.tensor([[len(tokens)] for tokens in cached])
        last = [line.made[-1:] for line in lines]
        logits = self._call(last, self._pool.cache, self._pool.work_on(slice(0, len(lines)), positions))
        for tokens, token in zip(cached, last, strict=True):
            tokens += token
        return self._choose(logits, lines, self._tie)

    def _alone(self, job: Job, cancelled: Callable[[], bool]) -> Line:
        """One reply as the model would make it without us: the whole prompt, no batch, nothing cached."""
        line, tokens = self._line(job), job.prompt
        cache = DynamicCache(config=self._model.config)
        while not line.done:
            if cancelled():
                raise RunStopped("stopped in the middle of a reply")
            self._choose(self._call([tokens], cache, {}), [line], tie=0.0)
            tokens = tuple(line.made[-1:])
        return line

    def _line(self, job: Job) -> Line:
        return Line(job, self._chooser.dice(job.seed))

    def _choose(self, logits: Tensor, lines: Sequence[Line], tie: float) -> list[Line]:
        """Each line takes its next token: an ordinary one, one that ends it, or none where two were too close."""
        said = [[*line.job.prompt, *line.made] for line in lines]
        tokens = self._chooser.choose(logits, said, [line.dice for line in lines], tie)
        for line, token in zip(lines, tokens, strict=True):
            if token is None:
                line.done = line.uncertain = True
            elif token in self._stop_tokens:
                line.done = True
            else:
                line.made.append(token)
                line.done = line.truncated
        return [line for line in lines if line.done]

    def _call(self, tokens: Sequence[Sequence[int]], cache: Cache, extra: dict[str, Any]) -> Tensor:
        """Logits of the last position."""
        inputs = {name: _on(value, self._model.device) for name, value in extra.items()}
        if "logits_to_keep" in self._accepted:
            inputs["logits_to_keep"] = 1
        ids = torch.tensor(tokens, device=self._model.device)
        logits: Tensor = self._model(input_ids=ids, past_key_values=cache, use_cache=True, **inputs).logits[:, -1]
        return logits.float()


def _on(value: Any, device: torch.device) -> Any:
    return {name: part.to(device) for name, part in value.items()} if isinstance(value, dict) else value.to(device)
