"""Tiny random models on disk: real architectures, real tokenizers, nothing learned."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

PLAIN = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
# earlier replies lose their reasoning, as the templates of reasoning models do it: prompts stop being prefixes
STRIPPING = (
    "{% for m in messages %}<|{{ m['role'] }}|>"
    "{% if m['role'] == 'assistant' and not loop.last %}{{ m['content'].split(' ')[-1] }}"
    "{% else %}{{ m['content'] }}{% endif %}"
    "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|pad|>"]


def build_model(
    folder: Path,
    texts: Iterable[str],
    *,
    template: str = PLAIN,
    window: int | None = None,
    vocabulary: int = 400,
    filler: int = 0,
    stops: int = 8,
    seed: int = 0,
    **sizes: Any,
) -> Path:
    """Write a random model and its tokenizer; `stops` ordinary tokens end a reply too, so that lengths differ."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast

    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(texts, vocab_size=vocabulary, min_frequency=1, special_tokens=SPECIAL, show_progress=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, eos_token="<|end|>", pad_token="<|pad|>")
    tokenizer.add_special_tokens({"additional_special_tokens": SPECIAL[:3]})
    tokenizer.add_tokens([f" word{number}" for number in range(filler)])
    tokenizer.chat_template = template
    shape = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        # wider than usual, so that candidates differ clearly, as they do in a trained model
        "initializer_range": 0.2,
    }
    shape |= sizes
    torch.manual_seed(seed)
    size = len(tokenizer)
    model: Any
    if window is None:
        model = LlamaForCausalLM(LlamaConfig(vocab_size=size, **shape))
    else:
        model = MistralForCausalLM(MistralConfig(vocab_size=size, sliding_window=window, **shape))
    more = range(len(SPECIAL), size, max(1, size // stops)) if stops else ()
    model.generation_config.eos_token_id = [tokenizer.eos_token_id, *more]
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
