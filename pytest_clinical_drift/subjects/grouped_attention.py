"""Attention where several query heads share keys and values: these are read once, not copied for every head.

transformers copies them whenever there is an attention mask, as there always is in a ragged batch. For the query heads
of a group, standing in for further positions of one head gives the same result without the copy.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

_NAME = "clinical_drift_grouped"
_UNUSUAL = ("position_bias", "softcap", "cache")


def use_grouped_attention(model: Any) -> bool:
    """Switch a model over, where it has groups and uses the standard attention; whether it was done."""
    groups = {getattr(module, "num_key_value_groups", 1) for module in model.modules()}
    if max(groups) == 1 or getattr(model.config, "_attn_implementation", None) != "sdpa":
        return False
    AttentionInterface.register(_NAME, grouped_attention)
    AttentionMaskInterface.register(_NAME, sdpa_mask)
    model.set_attn_implementation(_NAME)
    return True


def grouped_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers' own, for the masked case with groups; everything else is left to it."""
    rows, heads, length, width = query.shape
    groups = heads // key.shape[1]
    if attention_mask is None or groups == 1 or any(kwargs.get(name) is not None for name in _UNUSUAL):
        result: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **kwargs
        )
        return result
    folded = query.reshape(rows, key.shape[1], groups * length, width)
    mask = attention_mask if length == 1 else attention_mask.repeat(1, 1, groups, 1)
    output = torch.nn.functional.scaled_dot_product_attention(folded, key, value, attn_mask=mask, scale=scaling)
    return output.reshape(rows, heads, length, value.shape[-1]).transpose(1, 2).contiguous(), None
