"""Keys and values of many conversations at once: rows of different length, each keeping what its next prompt shares.

A row of the cache is a list of columns. Columns may be shared out unevenly: a shorter row leaves holes, which the
attention mask hides, while every token keeps the position it has in its own prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer

Tensor: TypeAlias = torch.Tensor
_GROWTH = 128
"""Columns that are added when a buffer is full."""


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """A layer that writes in place into a buffer with room to grow, where its base copies everything for each token."""

    def __init__(self) -> None:
        super().__init__()
        self.length = 0

    def start_with(self, keys: Tensor, values: Tensor) -> None:
        """Take over a filled prefix."""
        self.lazy_initialization(keys, values)
        self.keys, self.values, self.length = keys, values, keys.shape[-2]

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys, self.values = key_states[..., :0, :], value_states[..., :0, :]
        end = self.length + key_states.shape[-2]
        if end > self.keys.shape[-2]:
            self.keys = _with_room(self.keys, self.length, end + _GROWTH)
            self.values = _with_room(self.values, self.length, end + _GROWTH)
        self.keys[..., self.length : end, :] = key_states
        self.values[..., self.length : end, :] = value_states
        self.length = end
        return self.keys[..., :end, :], self.values[..., :end, :]

    def get_seq_length(self) -> int:
        return self.length


class SomeRows(DynamicLayer):  # type: ignore[misc]
    """Some neighbouring rows of a layer, from some column on: what a part of the batch sees of it."""

    def __init__(self, whole: GrowingLayer, rows: slice, start: int) -> None:
        super().__init__()
        self._whole, self._rows, self._start = whole, rows, start

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        end = self._start + key_states.shape[-2]
        keys, values = self._whole.keys[self._rows], self._whole.values[self._rows]
        # up to here a row of the group may have cached less than others: hide what was in memory before
        keys[..., self._whole.length : self._start, :] = 0
        values[..., self._whole.length : self._start, :] = 0
        keys[..., self._start : end, :] = key_states
        values[..., self._start : end, :] = value_states
        return keys[..., :end, :], values[..., :end, :]

    def get_seq_length(self) -> int:
        return self._start


def some_rows(cache: Cache, rows: slice, start: int) -> Cache:
    """A cache that writes into these rows of another, from column `start` on."""
    return Cache(layers=[SomeRows(layer, rows, start) for layer in cache.layers])


def _with_room(buffer: Tensor, used: int, columns: int) -> Tensor:
    shape = (*buffer.shape[:-2], columns, buffer.shape[-1])
    larger = torch.empty(shape, dtype=buffer.dtype, device=buffer.device)
    larger[..., :used, :] = buffer[..., :used, :]
    return larger


@dataclass(slots=True)
class Row:
    """What is cached of one conversation."""

    tokens: list[int]
    """The tokens whose keys and values are there, from the start of the prompt."""
    columns: Tensor
    """Where: one column per token."""
    buffers: list[tuple[Tensor, Tensor]]
    """Keys and values of every layer, shared with the other rows of the batch."""
    index: int
    """Which row of them."""


def can_reuse(config: Any) -> bool:
    """Whether every layer keeps all tokens; windows and recurrent states cannot go back to an earlier point."""
    layers = DynamicCache(config=config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


def shared_prefix(row: Row | None, prompt: Sequence[int]) -> int:
    """How many leading tokens of the prompt are cached; the last one is always computed, for its prediction."""
    if row is None:
        return 0
    limit = min(len(row.tokens), len(prompt) - 1)
    for position in range(limit):
        if row.tokens[position] != prompt[position]:
            return position
    return limit


class Memory:
    """Two sets of buffers that take turns: a batch is copied from one into the other; no memory is asked for anew."""

    def __init__(self) -> None:
        self._sets: tuple[dict[object, Tensor], dict[object, Tensor]] = ({}, {})
        self._turn = 0

    def change_over(self, rows: Iterable[Row]) -> None:
        """A new cache is about to be built, in the set that no row looks at; in a fresh one if they look at both."""
        self._turn = 1 - self._turn
        looked_at = {row.buffers[0][0].untyped_storage().data_ptr() for row in rows}
        if any(buffer.untyped_storage().data_ptr() in looked_at for buffer in self._sets[self._turn].values()):
            self._sets[self._turn].clear()

    def take(self, name: object, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """A buffer with whatever was in it before."""
        size = 1
        for extent in shape:
            size *= extent
        found = self._sets[self._turn].get(name)
        if found is None or found.numel() < size:
            found = torch.empty(size + size // 4, dtype=like.dtype, device=like.device)
            self._sets[self._turn][name] = found
        return found[:size].view(shape)

    def clear(self) -> None:
        """Give everything back."""
        for buffers in self._sets:
            buffers.clear()


def cache_of(rows: Sequence[Row | None], lengths: Sequence[int], room: int, layers: int, memory: Memory) -> Cache:
    """A cache whose row i starts with the first `lengths[i]` tokens of `rows[i]`, left-aligned, with room to grow."""
    cache = Cache(layers=[GrowingLayer() for _ in range(layers)])
    width = max(lengths)
    filled = [(i, row, length) for i, (row, length) in enumerate(zip(rows, lengths, strict=True)) if row and length]
    if not filled:
        return cache
    for number, layer in enumerate(cache.layers):
        pair = []
        for which in (0, 1):
            example = filled[0][1].buffers[number][which]
            shape = (len(rows), example.shape[1], width + room, example.shape[3])
            pair.append(memory.take((number, which), shape, example))
            _fill(pair[-1][..., :width, :], filled, number, which)
        layer.start_with(*pair)
        layer.length = width
    return cache


def _fill(target: Tensor, filled: Sequence[tuple[int, Row, int]], layer: int, which: int) -> None:
    """Copy the cached tokens; columns beside them are multiplied by zero: they must not hold what was there before."""
    lengths = {i: length for i, _, length in filled}
    for i in range(len(target)):
        target[i, :, lengths.get(i, 0) :] = 0
    for i, row, length in filled:
        source = row.buffers[layer][which][row.index]
        torch.index_select(source, 1, row.columns[:length].to(source.device), out=target[i, :, :length])


def buffers_of(cache: Cache) -> list[tuple[Tensor, Tensor]]:
    """Keys and values of every layer."""
    return [(layer.keys, layer.values) for layer in cache.layers]
