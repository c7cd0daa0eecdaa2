"""From chat messages to the tokens a local model sees, and from its tokens back to text."""

import re
from collections.abc import Sequence
from typing import Any, Self

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.weights import Weights, hide_bars
from pytest_clinical_drift.transcript import Message

_OPEN_REASONING = re.compile(r"(<think(?:ing)?>|\[THINK\]|<\|begin_of_thought\|>)\s*$")
_REASONING_MARKS = ("think", "thought", "reason", "channel", "message")


class ChatTemplate:
    """`tokenize(template(messages))` defines the prompt; everything else only accelerates it."""

    def __init__(self, tokenizer: Any, config: Any, thinking: bool | None) -> None:
        self._tokenizer = tokenizer
        self.config = config
        self._options = {} if thinking is None else {"enable_thinking": thinking}
        special = {token: tokenizer.convert_ids_to_tokens(token).lower() for token in tokenizer.all_special_ids}
        # reasoning stays visible to those who strip it; turn markers and padding are not part of a reply
        self._hidden = {token for token, name in special.items() if not any(mark in name for mark in _REASONING_MARKS)}
        self._openings: dict[tuple[int, ...], str] = {}

    @classmethod
    def load(cls, weights: Weights, thinking: bool | None) -> Self:
        """Read tokenizer and configuration, which are small; the weights come later."""
        from transformers import AutoConfig, AutoTokenizer

        hide_bars()
        try:
            config = AutoConfig.from_pretrained(weights.place, **weights.options)
            tokenizer = AutoTokenizer.from_pretrained(weights.place, **weights.options)
        except Exception as error:  # missing, gated, unreadable, remote code: all of them are the user's to mend
            why = weights.why_not_loaded(error)
            raise InputError(f"{weights.option} {weights.spec}: cannot be loaded ({why})") from None
        if not tokenizer.chat_template:
            cause = "its tokenizer has no chat template, so that it cannot converse; take the instruct version"
            raise InputError(f"{weights.option} {weights.spec}: {cause}")
        return cls(tokenizer, config, thinking)

    def tokens(self, messages: Sequence[Message]) -> tuple[int, ...]:
        rendered = self._render([message.as_dict() for message in messages])
        tokens = tuple(self._tokenizer(rendered, add_special_tokens=False)["input_ids"])
        if opening := _OPEN_REASONING.search(rendered):
            self._openings[tokens[-32:]] = opening.group()
        return tokens

    def _render(self, messages: list[dict[str, str]]) -> Any:
        from jinja2.exceptions import TemplateError

        try:
            options = {"tokenize": False, "add_generation_prompt": True, **self._options}
            return self._tokenizer.apply_chat_template(messages, **options)
        except TemplateError:
            if len(messages) < 2 or messages[0]["role"] != "system":
                raise
            # some templates know no system role: its words go before the first message, as their authors advise
            merged = f"{messages[0]['content']}\n\n{messages[1]['content']}"
            return self._render([{"role": "user", "content": merged}, *messages[2:]])

    def text(self, tokens: Sequence[int], prompt: Sequence[int]) -> str:
        """The reply; a reasoning block that the prompt opened is opened here too, to tell it from the answer."""
        visible = [token for token in tokens if token not in self._hidden]
        text: str = self._tokenizer.decode(visible, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return self._openings.get(tuple(prompt[-32:]), "") + text

    def stop_tokens(self, model: Any) -> list[int]:
        """Whatever model and tokenizer call an end."""
        tokens: set[int] = set()
        for ids in (getattr(model.generation_config, "eos_token_id", None), self._tokenizer.eos_token_id):
            tokens.update(ids if isinstance(ids, list | tuple) else [ids] if ids is not None else [])
        return sorted(tokens)
