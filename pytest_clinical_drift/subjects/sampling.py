"""Chooses the next token of every row: the likeliest, or a sample that depends on the row's own seed only."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import generation


class Chooser:
    """Knows the decoding settings; what a row has said and its dice are the row's own."""

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

    def dice(self, seed: int) -> torch.Generator | None:
        """For one reply; none where nothing is left to chance."""
        return None if self.greedy else torch.Generator().manual_seed(seed)

    def choose(
        self, logits: torch.Tensor, said: Sequence[Sequence[int]], dice: Sequence[torch.Generator | None], tie: float
    ) -> list[int | None]:
        """The next token of every row; None where the two best are closer than `tie`, relative to the largest logit."""
        if self._processors:
            tokens = [torch.tensor([row], device=logits.device) for row in said]
            rows = [self._processors(seen, scores.unsqueeze(0)) for seen, scores in zip(tokens, logits, strict=True)]
            logits = torch.cat(rows)
        if not self.greedy:
            shares = logits.softmax(dim=-1).cpu()
            return [int(torch.multinomial(share, 1, generator=own)) for share, own in zip(shares, dice, strict=True)]
        likeliest: list[int] = logits.argmax(dim=-1).tolist()
        if tie == 0.0:
            return [*likeliest]
        best = logits.topk(2, dim=-1).values
        clear = (best[:, 0] - best[:, 1]) > tie * logits.abs().amax(dim=-1)
        return [token if is_clear else None for token, is_clear in zip(likeliest, clear.tolist(), strict=True)]
