"""`hf:REPO_OR_PATH`: a transformers model in this process, all conversations in lockstep batches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import Identity, Request, set_option, typed_settings
from pytest_clinical_drift.subjects.local_model import LocalModel
from pytest_clinical_drift.transcript import Reply

if TYPE_CHECKING:
    from pytest_clinical_drift.subjects.generation import BatchGenerator

_KNOWN: dict[str, type] = {
    **dict.fromkeys(("max_tokens", "top_k", "seed", "batch_size"), int),
    **dict.fromkeys(("temperature", "top_p", "repetition_penalty"), float),
    **dict.fromkeys(("dtype", "device", "device_map", "revision", "attn_implementation"), str),
    **dict.fromkeys(("trust_remote_code", "thinking"), bool),
}
_DEFAULTS = {"max_tokens": 1024, "temperature": 0.0, "seed": 0, "dtype": "auto", "trust_remote_code": False}
_LEAST = {"max_tokens": 1, "temperature": 0, "top_k": 1, "batch_size": 1}
_DECODING = ("max_tokens", "temperature", "top_p", "top_k", "repetition_penalty", "seed", "thinking", "dtype")
_DTYPES = ("auto", "float32", "bfloat16", "float16")


class HuggingFaceSubject:
    """Loads the model at the first request; cases advance together, each on top of its own cached conversation."""

    def __init__(self, target: str, settings: Mapping[str, str], *, option: str = "--model") -> None:
        self.spec = f"hf:{target}"
        named = set_option(option)
        self._settings = {**_DEFAULTS, **typed_settings(self.spec, settings, _KNOWN, option=named, least=_LEAST)}
        if (dtype := self._settings["dtype"]) not in _DTYPES:
            raise InputError(f"{named} dtype: expected one of {', '.join(_DTYPES)}, found {dtype!r}")
        self._local = LocalModel(target, option, self._settings)
        self._cancelled = threading.Event()
        self._generator: BatchGenerator | None = None
        self._found: dict[str, Any] = {}

    @property
    def batch_size(self) -> int:
        """Conversations at a time; with little memory fewer than wanted."""
        wanted: int = self._settings.get("batch_size", 16)
        return min(wanted, max(1, self._generator.rows // 2)) if self._generator is not None else wanted

    def check(self, cases: Sequence[Case]) -> list[str]:
        self._local.check()
        _ = self._local.tokenizer
        return []

    def identity(self) -> Identity:
        self._local.check()
        import torch

        revision, device = self._local.fingerprint, self._device()
        on_gpu = torch.cuda.is_available() and not device.startswith(("cpu", "mps"))
        decoding = {key: self._settings[key] for key in _DECODING if key in self._settings}
        # what replies of the same weights may differ by: the device, the attention and the libraries
        decoding |= {name: metadata.version(name) for name in ("torch", "transformers")}
        decoding["device"] = f"{device} ({torch.cuda.get_device_name()})" if on_gpu else device
        decoding["attn_implementation"] = self._settings.get("attn_implementation") or "default"
        return Identity(self.spec, revision, revision is not None, decoding, server=self._found or None)

    def _device(self) -> str:
        """As set, or the best one there is."""
        import torch

        best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        chosen: str = self._settings.get("device_map") or self._settings.get("device") or best
        return chosen

    def answer(self, requests: Sequence[Request], deliver: Callable[[Request, Reply], Sequence[Request]]) -> None:
        self._load().answer(requests, deliver, self._cancelled.is_set)

    def cancel(self) -> None:
        self._cancelled.set()

    def close(self) -> None:
        if self._generator is not None:
            from pytest_clinical_drift.subjects.generation import release_memory

            self._generator = None
            release_memory()

    def _load(self) -> BatchGenerator:
        if self._generator is None:
            from pytest_clinical_drift.subjects.generation import BatchGenerator

            model = self._local.load(self._device())
            # a summary and a reply per conversation
            self._generator = BatchGenerator(self._local, model, self._settings, rows=2 * self.batch_size)
            self._found = {
                "dtype": str(model.dtype).removeprefix("torch."),
                "device": str(model.device),
                "repetition_penalty": self._generator.repetition_penalty,
                "reuses_prefixes": self._generator.reuses,
            }
        return self._generator
