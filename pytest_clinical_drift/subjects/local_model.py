"""A local model: a repository, a folder or a `.gguf` file; what identifies it, how it reads and writes messages."""

import hashlib
import importlib.util
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.core.files import file_hash
from pytest_clinical_drift.errors import InputError, MissingDependency, SubjectError
from pytest_clinical_drift.subjects.base import set_option
from pytest_clinical_drift.transcript import Message

_HASHED = ("*.safetensors", "*.bin", "*.json", "*.jinja", "*.model", "*.txt", "*.py")
_NO_WEIGHTS = "the folder holds no weights; download the whole repository, or name one .gguf file"
_OFFLINE = ("couldn't connect", "offline", "ConnectionError", "Max retries", "resolve host")
_OPEN_REASONING = re.compile(r"(<think(?:ing)?>|\[THINK\]|<\|begin_of_thought\|>)\s*$")
_REASONING_MARKS = ("think", "thought", "reason", "channel", "message")


class LocalModel:
    """`tokenize(template(messages))` defines the prompt; everything else only accelerates it."""

    def __init__(self, target: str, option: str, settings: Mapping[str, Any]) -> None:
        """`option`: the one that names it, --model or --drift-judge."""
        self._target, self._option, self._settings = target, option, settings
        self._name = f"{option} hf:{target}"
        self._path = Path(target).expanduser()
        self._is_gguf = self._path.suffix.lower() == ".gguf"
        """One file holds configuration, tokenizer and weights."""
        self._place = str(self._path.parent if self._is_gguf else self._path)
        self._options: dict[str, Any] = {"trust_remote_code": settings["trust_remote_code"]}
        if self._is_gguf:
            self._options["gguf_file"] = self._path.name
        elif "revision" in settings:
            self._options["revision"] = settings["revision"]
        self._config: Any = None
        self._openings: dict[tuple[int, ...], str] = {}

    def check(self) -> None:
        """Libraries are there, and so is a path that was given."""
        for module in ("torch", "transformers", *(("gguf",) if self._is_gguf else ())):
            if importlib.util.find_spec(module) is None:
                install = "pip install 'pytest-clinical-drift[hf]'"
                raise MissingDependency(f"{self._name}: needs {module}; install it with {install}")
        if self._is_gguf and not self._path.is_file():
            raise InputError(f"{self._name}: no such file")
        if self._target.startswith((".", "/", "~")) and not self._is_gguf and not self._path.is_dir():
            raise InputError(f"{self._name}: no such folder")
        if self._path.is_dir() and not [*self._path.glob("*.safetensors"), *self._path.glob("*.bin")]:
            raise InputError(f"{self._name}: {_NO_WEIGHTS}")

    @cached_property
    def fingerprint(self) -> str | None:
        """The hub's commit, or a hash over every file of a local model; None where neither proves the weights."""
        if self._is_gguf:
            return file_hash(self._path)
        if not self._path.is_dir():
            _ = self.tokenizer
            commit = getattr(self._config, "_commit_hash", None)
            return commit if isinstance(commit, str) else None
        if (self._path / "adapter_config.json").exists():
            return None  # most of the weights lie elsewhere
        digest = hashlib.sha256()
        for file in sorted({file for pattern in _HASHED for file in self._path.glob(pattern)}):
            digest.update(f"{file.name} {file_hash(file)}\n".encode())
        return digest.hexdigest()

    @cached_property
    def tokenizer(self) -> Any:
        """Read with the configuration; the weights come later."""
        from transformers import AutoConfig, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # loading bars would be drawn across pytest's own output
        try:
            self._config = AutoConfig.from_pretrained(self._place, **self._options)
            self._pin()
            tokenizer = AutoTokenizer.from_pretrained(self._place, **self._options)
        except Exception as error:  # missing, gated, unreadable, remote code: all of them are the user's to mend
            raise InputError(f"{self._name}: cannot be loaded ({self._why_not_loaded(error)})") from None
        if not tokenizer.chat_template:
            cause = "its tokenizer has no chat template, so that it cannot converse; take the instruct version"
            raise InputError(f"{self._name}: {cause}")
        return tokenizer

    def _pin(self) -> None:
        """Everything else is loaded from the commit that the configuration came from: a branch may move meanwhile."""
        commit = getattr(self._config, "_commit_hash", None)
        if isinstance(commit, str) and not self._is_gguf and not self._path.is_dir():
            self._options["revision"] = commit

    def load(self, device: str) -> Any:
        """The weights, ready to generate; SubjectError where they cannot be read."""
        from transformers import AutoModelForCausalLM

        _ = self.tokenizer  # which tells of bad input, before the weights are read
        passed_on = ("dtype", "device_map", "attn_implementation")
        options = self._options | {name: self._settings[name] for name in passed_on if name in self._settings}
        try:
            model = AutoModelForCausalLM.from_pretrained(self._place, **options)
            if "device_map" not in options:
                model = model.to(device)
        except Exception as error:  # every format of weights has errors of its own
            raise SubjectError(f"the model could not be loaded ({self._why_not_loaded(error)})") from None
        return model.eval()

    def _why_not_loaded(self, error: BaseException) -> str:
        """What kept a model from being loaded, and what to do about it, in one sentence."""
        name, text, setting = type(error).__name__, " ".join(str(error).split()), set_option(self._option)
        if is_out_of_memory(error):
            return f"out of memory; take a smaller model, a larger machine, or {setting} dtype=bfloat16"
        if "gated" in name.lower() or "gated repo" in text.lower():
            return "the repository is gated: accept its terms on the hub, then log in with `hf auth login`"
        if name == "RepositoryNotFoundError" or "is not a valid model identifier" in text or "404" in text:
            return "no such repository on the hub, or it is private; check its name"
        if any(sign in text for sign in _OFFLINE):
            advice = "connect once, or give a folder that holds it"
            return f"it is not on this machine and the hub cannot be reached; {advice}"
        if "trust_remote_code" in text:
            return f"it brings code of its own; read that code, then allow it with {setting} trust_remote_code=true"
        if "safetensors" in text and "no file named" in text.lower():
            return _NO_WEIGHTS
        return f"{name}: {text}"[:250]

    # -- messages and tokens

    def tokens(self, messages: Sequence[Message]) -> tuple[int, ...]:
        rendered = self._render([message.as_dict() for message in messages])
        tokens = tuple(self.tokenizer(rendered, add_special_tokens=False)["input_ids"])
        if opening := _OPEN_REASONING.search(rendered):
            self._openings[tokens[-32:]] = opening.group()
        return tokens

    def _render(self, messages: list[dict[str, str]]) -> Any:
        from jinja2.exceptions import TemplateError

        thinking = {"enable_thinking": self._settings["thinking"]} if "thinking" in self._settings else {}
        try:
            return self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **thinking)
        except TemplateError:
            if len(messages) < 2 or messages[0]["role"] != "system":
                raise
            # some templates know no system role: its words go before the first message, as their authors advise
            merged = f"{messages[0]['content']}\n\n{messages[1]['content']}"
            return self._render([{"role": "user", "content": merged}, *messages[2:]])

    @cached_property
    def _hidden(self) -> set[int]:
        """Turn markers and padding are not part of a reply; reasoning stays visible to those who strip it."""
        special = {
            token: self.tokenizer.convert_ids_to_tokens(token).lower() for token in self.tokenizer.all_special_ids
        }
        return {token for token, name in special.items() if not any(mark in name for mark in _REASONING_MARKS)}

    def text(self, tokens: Sequence[int], prompt: Sequence[int]) -> str:
        """The reply; a reasoning block that the prompt opened is opened here too, to tell it from the answer."""
        visible = [token for token in tokens if token not in self._hidden]
        text: str = self.tokenizer.decode(visible, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return self._openings.get(tuple(prompt[-32:]), "") + text

    def stop_tokens(self, model: Any) -> set[int]:
        """Whatever model and tokenizer call an end."""
        ends = (getattr(model.generation_config, "eos_token_id", None), self.tokenizer.eos_token_id)
        listed = (ids if isinstance(ids, list | tuple) else [ids] for ids in ends if ids is not None)
        return {token for ids in listed for token in ids}


def is_out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return type(error).__name__ == "OutOfMemoryError" or "out of memory" in text or "can't allocate memory" in text
