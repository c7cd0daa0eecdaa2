"""Generates many replies together, on top of what each conversation has cached; new ones join while others run."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicCache

from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.subjects.grouped_attention import use_grouped_attention
from pytest_clinical_drift.subjects.jobs import Generated, Job, Line
from pytest_clinical_drift.subjects.kv_batch import (
    Memory,
    Row,
    Tensor,
    buffers_of,
    cache_of,
    can_reuse,
    shared_prefix,
    some_rows,
)
from pytest_clinical_drift.subjects.sampling import Choice, Decoding, choose

_ROOM = 96
"""Free columns that a new cache gets for the replies."""
_TIE = 1e-5
"""In float32, two candidates closer than this (relative to the largest logit) may swap with the shape of the batch."""
_LEAVERS = 0.25
"""Share of finished rows at which a batch is put together anew."""

Deliver = Callable[[Job, Generated], Sequence[Job]]
"""Takes a whole reply; returns what can be asked now that it is known."""


class BatchGenerator:
    """Owns the model and the cached rows."""

    def __init__(self, model: Any, stop_tokens: Sequence[int], pad: int, decoding: Decoding) -> None:
        self._model = model
        self._stop_tokens = frozenset(stop_tokens)
        self._decoding = decoding
        self._rows: dict[Hashable, Row] = {}
        self._memory = Memory()
        self._accepted = set(inspect.signature(model.forward).parameters)
        self.pad = pad
        self.reuses = can_reuse(model.config) and "position_ids" in self._accepted
        self._layers = len(DynamicCache(config=model.config).layers)
        if self.reuses:
            use_grouped_attention(model)
        self._exact = decoding.greedy and next(model.parameters()).dtype == torch.float32
        self.prefilled = self.reused = self.redone = 0
        """Prompt tokens computed, prompt tokens found in the cache; replies generated a second time, alone."""

    def forget(self) -> bool:
        """Drop everything cached and give the memory back; whether there was anything."""
        held = bool(self._rows)
        self._rows.clear()
        self._memory.clear()
        return held

    def generate(self, jobs: Sequence[Job], deliver: Deliver, rows: int, cancelled: Callable[[], bool]) -> None:
        """Generate all jobs and those that follow from them, at most so many rows at a time."""
        waiting, lines = deque(jobs), list[Line]()
        with torch.inference_mode():
            while waiting or lines:
                while waiting and len(lines) < rows:
                    job = waiting.popleft()
                    lines.append(Line(job, Choice(self._decoding, job.prompt, job.seed)))
                batch = _Batch(self, lines, wanted={job.conversation for job in waiting})
                while not batch.breaks_up(more_waits=bool(waiting)):
                    if cancelled():
                        raise RunStopped("stopped in the middle of a reply")
                    for line in batch.step():
                        waiting.extend(deliver(line.job, self._result(line, cancelled)))
                lines = batch.part()

    def _result(self, line: Line, cancelled: Callable[[], bool]) -> Generated:
        if not line.uncertain:
            return Generated(line.made, truncated=len(line.made) >= line.job.limit)
        self.redone += 1
        return self._alone(line.job, cancelled)

    def _alone(self, job: Job, cancelled: Callable[[], bool]) -> Generated:
        """One reply as the model would make it without us: the whole prompt, no padding, nothing cached."""
        line = Line(job, Choice(self._decoding, job.prompt, job.seed))
        cache, tokens = DynamicCache(config=self._model.config), list(job.prompt)
        while not line.done:
            if cancelled():
                raise RunStopped("stopped in the middle of a reply")
            logits = self.call(torch.tensor([tokens]), cache, {})
            self.take(line, *choose(logits, [line.choice], self._decoding, tie=0.0))
            tokens = line.made[-1:]
        return Generated(line.made, truncated=len(line.made) >= job.limit)

    # -- what a batch needs

    def take(self, line: Line, token: int | None) -> None:
        """The next token of a line: an ordinary one, one that ends it, or none, since two were too close to call."""
        if token is None:
            line.done = line.uncertain = True
        elif token in self._stop_tokens:
            line.done = True
        else:
            line.made.append(token)
            line.done = len(line.made) >= line.job.limit

    def choose(self, logits: Tensor, lines: Sequence[Line]) -> list[int | None]:
        alike = len(lines) == 1 and not self.reuses  # then it runs exactly as it would alone
        tie = _TIE if self._exact and not alike else 0.0
        return choose(logits, [line.choice for line in lines], self._decoding, tie=tie)

    def call(self, tokens: Tensor, cache: Cache, extra: dict[str, Tensor]) -> Tensor:
        """Logits of the last position."""
        device = self._model.device
        inputs: dict[str, Any] = {name: value.to(device) for name, value in extra.items() if name in self._accepted}
        if "logits_to_keep" in self._accepted:
            inputs["logits_to_keep"] = 1
        output = self._model(input_ids=tokens.to(device), past_key_values=cache, use_cache=True, **inputs)
        logits: Tensor = output.logits[:, -1].float()
        return logits

    def open(self, lines: list[Line], wanted: Collection[Hashable]) -> Cache:
        """A cache that starts with what is known of each line; sorts the lines by how much they have to read."""
        if not self.reuses:
            for line in lines:
                line.begin(0)
            return DynamicCache(config=self._model.config)
        rows = {id(line): self._rows.get(id(line)) or self._rows.get(line.job.conversation) for line in lines}
        for line in lines:
            line.begin(shared_prefix(rows[id(line)], line.tokens))
            if not line.made:
                self.reused += line.prefix
                self.prefilled += line.unread
        lines.sort(key=lambda line: line.unread)
        prefixes, room = [line.prefix for line in lines], lines[-1].unread + _ROOM
        self._memory.change_over(self._rows.values())
        cache = cache_of([rows[id(line)] for line in lines], prefixes, room, self._layers, self._memory)
        # every line has its own copy now; finished replies leave a new row behind
        self._rows = {name: row for name, row in self._rows.items() if name in wanted}
        return cache

    def remember(self, line: Line, cache: Cache, index: int, columns: Sequence[int]) -> None:
        """Keep what is cached of a line: for the conversation's next turn, or until the next batch."""
        if self.reuses and (line.job.keeps or not line.done):
            name = line.job.conversation if line.done else id(line)
            self._rows[name] = Row(line.tokens[: len(columns)], torch.tensor(columns), buffers_of(cache), index)

    @property
    def prefers_small_batches(self) -> bool:
        """On a CPU every row costs time, finished ones too."""
        return bool(self._model.device.type == "cpu")


class _Batch:
    """Lines that advance together, their cache, and who may look at which column."""

    def __init__(self, owner: BatchGenerator, lines: list[Line], wanted: Collection[Hashable]) -> None:
        self._owner = owner
        self._cache = owner.open(lines, wanted)
        self._lines = lines
        self._prefix = max(line.prefix for line in lines)
        self._start = self._prefix + max(line.unread for line in lines)
        """The column of the first token that is fed by itself."""
        self._steps = 0
        self._mask = torch.zeros((len(lines), self._start + _ROOM), dtype=torch.long)

    def breaks_up(self, *, more_waits: bool) -> bool:
        """Whether to put the batch together anew: all are done, or enough of them and it is worth the copying."""
        finished = sum(line.done for line in self._lines)
        if finished == len(self._lines):
            return True
        worthwhile = self._owner.reuses and (more_waits or self._owner.prefers_small_batches)
        return worthwhile and finished >= _LEAVERS * len(self._lines)

    def step(self) -> list[Line]:
        """One more token for every line; those that are done with it."""
        logits = self._read_prompts() if self._steps == 0 else self._feed_last_tokens()
        self._steps += 1
        running = [line for line in self._lines if not line.done]
        for line, token in zip(self._lines, self._owner.choose(logits, self._lines), strict=True):
            if not line.done:
                self._owner.take(line, token)
        return [line for line in running if line.done]

    def part(self) -> list[Line]:
        """The lines that go on; what is cached of all is remembered."""
        for row, line in enumerate(self._lines):
            columns = [*range(line.prefix), *range(self._start - line.unread, self._start + line.fed)]
            self._owner.remember(line, self._cache, row, columns)
        return [line for line in self._lines if not line.done]

    def _read_prompts(self) -> Tensor:
        """All prompts end in the same column; lines with little to read are not filled up to those with much."""
        groups, logits = self._groups(), []
        for rows in groups:
            width = max(line.unread for line in self._lines[rows])
            tokens, positions = self._prompts(rows, width)
            cache = self._cache if len(groups) == 1 else some_rows(self._cache, rows, self._start - width)
            extra = {"attention_mask": self._mask[rows, : self._start], "position_ids": positions}
            logits.append(self._owner.call(tokens, cache, extra))
        if len(groups) > 1:
            for layer in self._cache.layers:
                layer.length = self._start
        return torch.cat(logits)

    def _groups(self) -> list[slice]:
        """Neighbouring lines with about as much to read; one group where nothing is cached yet."""
        starts = [0]
        for row in range(1, len(self._lines) if self._prefix else 0):
            if self._lines[row].unread > 1.25 * self._lines[starts[-1]].unread + 8:
                starts.append(row)
        return [slice(first, last) for first, last in zip(starts, [*starts[1:], len(self._lines)], strict=True)]

    def _prompts(self, rows: slice, width: int) -> tuple[Tensor, Tensor]:
        """What is to be read, left-padded."""
        lines = self._lines[rows]
        tokens = torch.full((len(lines), width), self._owner.pad)
        positions = torch.zeros((len(lines), width), dtype=torch.long)
        for i, line in enumerate(lines):
            tokens[i, -line.unread :] = torch.tensor(line.tokens[line.prefix :])
            positions[i, -line.unread :] = torch.arange(line.prefix, line.prefix + line.unread)
            self._mask[rows.start + i, : line.prefix] = 1
            self._mask[rows.start + i, self._start - line.unread : self._start] = 1
        return tokens, positions

    def _feed_last_tokens(self) -> Tensor:
        column = self._start + self._steps - 1
        if column >= self._mask.shape[1]:
            room = torch.zeros((len(self._lines), _ROOM), dtype=torch.long)
            self._mask = torch.cat([self._mask, room], dim=1)
        self._mask[:, column] = 1
        tokens = [self._owner.pad if line.done else line.made[-1] for line in self._lines]
        positions = [line.prefix + line.unread + line.fed for line in self._lines]
        for line in self._lines:
            line.fed += not line.done
        extra = {
            "attention_mask": self._mask[:, : column + 1],
            "position_ids": torch.tensor(positions).unsqueeze(1),
        }
        return self._owner.call(torch.tensor(tokens).unsqueeze(1), self._cache, extra)
