"""Chooses the next token of every row: the likeliest, or a sample that depends on the row's own seed only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Decoding:
    """How tokens are chosen."""

    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None

    @property
    def greedy(self) -> bool:
        return self.temperature == 0.0

    @property
    def penalises(self) -> bool:
        return self.repetition_penalty not in (None, 1.0)


class Choice:
    """What the choices of one row depend on besides the model: its seed, and what it has said."""

    __slots__ = ("dice", "seen")

    def __init__(self, decoding: Decoding, prompt: Sequence[int], seed: int) -> None:
        self.dice = None if decoding.greedy else torch.Generator().manual_seed(seed)
        self.seen = set(prompt) if decoding.penalises else set[int]()


def choose(logits: Any, rows: Sequence[Choice], decoding: Decoding, tie: float) -> list[int | None]:
    """The next token of every row; None where the two best are closer than `tie`, relative to the largest logit."""
    if decoding.penalises:
        logits = _penalised(logits, rows, decoding)
    chosen = _likeliest(logits, tie) if decoding.greedy else _sample(logits, rows, decoding)
    if decoding.penalises:
        for row, token in zip(rows, chosen, strict=True):
            row.seen.update(() if token is None else (token,))
    return chosen


def _likeliest(logits: Any, tie: float) -> list[int | None]:
    likeliest: list[int] = logits.argmax(dim=-1).tolist()
    if tie == 0.0:
        return [*likeliest]
    best = logits.topk(2, dim=-1).values
    clear = (best[:, 0] - best[:, 1]) > tie * logits.abs().amax(dim=-1)
    return [token if is_clear else None for token, is_clear in zip(likeliest, clear.tolist(), strict=True)]


def _sample(logits: Any, rows: Sequence[Choice], decoding: Decoding) -> list[int | None]:
    logits = (logits / decoding.temperature).cpu()
    if decoding.top_k:
        worst = logits.topk(min(decoding.top_k, logits.shape[-1]), dim=-1).values[:, -1:]
        logits = logits.masked_fill(logits < worst, float("-inf"))
    shares = logits.softmax(dim=-1)
    if decoding.top_p is not None:
        # the smallest set of tokens whose shares reach `top_p`; the likeliest one always stays
        ordered, order = shares.sort(dim=-1, descending=True)
        outside = ordered.cumsum(dim=-1) - ordered >= decoding.top_p
        shares = shares.masked_fill(outside.scatter(-1, order, outside), 0.0)
    return [int(torch.multinomial(share, 1, generator=row.dice)) for share, row in zip(shares, rows, strict=True)]


def _penalised(logits: Any, rows: Sequence[Choice], decoding: Decoding) -> Any:
    logits, penalty = logits.clone(), decoding.repetition_penalty
    for scores, row in zip(logits, rows, strict=True):
        index = torch.tensor(sorted(row.seen), device=scores.device)
        found = scores[index]
        scores[index] = torch.where(found < 0, found * penalty, found / penalty)
    return logits
