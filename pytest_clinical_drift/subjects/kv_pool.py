"""Keys and values of many conversations: a row for each, a column for each position, so that nothing is padded.

Every token is kept, also where a model looks back through a window only: the mask hides what is out of sight, and a row
can always go back to an earlier point of its conversation.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

Tensor: TypeAlias = torch.Tensor
_SPARE = 1.25
"""Columns that the buffers get, as a multiple of those needed now: growing copies everything."""


class KeyValuePool:
    """The rows, what is cached in each, and which of them the model is working on."""

    def __init__(self, model: Any) -> None:
        layers = DynamicCache(config=model.config).layers
        self._layers = [_Layer(self) for _ in layers]
        self._windows = {
            "sliding_attention" if layer.is_sliding else "full_attention": getattr(layer, "sliding_window", None)
            for layer in layers
        }
        """How far each kind of layer looks back, by the name under which models of several kinds ask for masks."""
        self._dtype, self._device = model.dtype, model.device
        self.cache = Cache(layers=self._layers)
        self.tokens: list[list[int]] = []
        """For each row the tokens whose keys and values are there, from the start of the prompt."""
        self.capacity = (0, 0)
        """Rows and columns of the buffers."""
        self.rows = slice(0, 0)
        self.positions = torch.zeros((0, 0), dtype=torch.long)
        self.width = 0

    def work_on(self, rows: slice, positions: Tensor) -> dict[str, Any]:
        """The model is about to read tokens at these positions of these rows; what it must be told besides."""
        self.rows, self.positions, self.width = rows, positions.to(self._device), int(positions.max()) + 1
        self._reserve(rows.stop, self.width)
        masks = {kind: self._mask(window) for kind, window in self._windows.items()}
        mask = masks if len(masks) > 1 else next(iter(masks.values()))
        return {"attention_mask": mask, "position_ids": self.positions}

    def _mask(self, window: int | None) -> Tensor:
        """Nothing is added to what a token sees, and the least number to what comes after it or is out of sight."""
        ahead = torch.arange(self.width, device=self._device) - self.positions.unsqueeze(-1)
        hidden = ahead > 0 if window is None else (ahead > 0) | (ahead <= -window)
        mask = torch.zeros(hidden.shape, dtype=self._dtype, device=self._device)
        return mask.masked_fill_(hidden, torch.finfo(self._dtype).min).unsqueeze(1)

    def best_row(self, prompt: Sequence[int]) -> tuple[int, int]:
        """The row that shares the longest beginning with a prompt, and how long that is; the last token is computed."""
        length, row = max(((_shared(tokens, prompt), row) for row, tokens in enumerate(self.tokens)), default=(0, 0))
        return row, length

    def begin(self, row: int, source: int, length: int) -> None:
        """Row `row`, which may be new, starts as row `source` does."""
        beginning = self.tokens[source][:length] if length else []
        if row != source and length:
            self._reserve(row + 1, length)
            for layer in self._layers:
                for states in (layer.keys, layer.values):
                    states[row, :, :length] = states[source, :, :length]
        self.tokens[row : row + 1] = [beginning]

    def _reserve(self, rows: int, columns: int) -> None:
        had_rows, had_columns = self.capacity
        if rows > had_rows or columns > had_columns:
            self.capacity = (
                had_rows if rows <= had_rows else max(rows, 2 * had_rows),
                had_columns if columns <= had_columns else int(columns * _SPARE) + 64,
            )
            for layer in self._layers:
                if layer.keys is not None:
                    layer.keys, layer.values = self.grown(layer.keys), self.grown(layer.values)

    def grown(self, states: Tensor) -> Tensor:
        """A buffer of the pool's capacity that begins with these states."""
        rows, columns = self.capacity
        shape = (rows, states.shape[1], columns, states.shape[3])
        # hidden columns are multiplied by zero: they must not hold what was in memory before, which may be no number
        buffer = torch.zeros(shape, dtype=states.dtype, device=states.device)
        buffer[: states.shape[0], :, : states.shape[2]] = states
        return buffer


class _Layer(DynamicLayer):  # type: ignore[misc]
    """One layer of all rows; writes in place, where its base copies everything for each token."""

    keys: Any
    values: Any

    def __init__(self, pool: KeyValuePool) -> None:
        super().__init__()
        self._pool = pool

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if self.keys is None:
            self.keys, self.values = self._pool.grown(key_states[:0]), self._pool.grown(value_states[:0])
            self.is_initialized = True
        rows, width, positions = self._pool.rows, self._pool.width, self._pool.positions.to(key_states.device)
        every = torch.arange(rows.start, rows.stop, device=key_states.device).unsqueeze(-1)
        self.keys[every, :, positions] = key_states.transpose(1, 2)
        self.values[every, :, positions] = value_states.transpose(1, 2)
        return self.keys[rows, :, :width], self.values[rows, :, :width]

    def get_seq_length(self) -> int:
        return self._pool.width


def can_pool(model: Any, accepted: set[str]) -> bool:
    """Whether every layer keeps tokens by position and takes our masks; recurrent states cannot go back."""
    layers = DynamicCache(config=model.config).layers
    known = bool(layers) and all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)
    kinds = set(getattr(model.config.get_text_config(), "layer_types", None) or ())
    ordinary = kinds <= {"full_attention", "sliding_attention"}
    attention = getattr(model.config, "_attn_implementation", None)
    return known and ordinary and "position_ids" in accepted and attention in ("sdpa", "eager")


def _shared(cached: Sequence[int], prompt: Sequence[int]) -> int:
    limit = min(len(cached), len(prompt) - 1)
    return next((position for position in range(limit) if cached[position] != prompt[position]), limit)
