"""`hf:REPO_OR_PATH`: a transformers model in this process, all conversations in lockstep batches."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import Identity, Request, set_option, typed_settings
from pytest_clinical_drift.subjects.local_model import LocalModel
from pytest_clinical_drift.transcript import Reply, Usage

if TYPE_CHECKING:
    from pytest_clinical_drift.subjects.generation import BatchGenerator, Job

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
        self._room = 0
        """Most tokens of prompt and reply together."""
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
        revision = self._local.fingerprint
        decoding = {key: self._settings[key] for key in _DECODING if key in self._settings}
        # what replies of the same weights may differ by: the device, the attention and the libraries
        decoding |= {name: metadata.version(name) for name in ("torch", "transformers")}
        decoding["device"] = self._device_name()
        decoding["attn_implementation"] = self._settings.get("attn_implementation") or "default"
        return Identity(self.spec, revision, revision is not None, decoding, server=self._found or None)

    def _device(self) -> str:
        """As set, or the best one there is."""
        import torch

        best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        device: str = self._settings.get("device") or best
        return device

    def _device_name(self) -> str:
        """Of a GPU also its model."""
        import torch

        chosen: str = self._settings.get("device_map") or self._device()
        on_gpu = torch.cuda.is_available() and not chosen.startswith(("cpu", "mps"))
        return f"{chosen} ({torch.cuda.get_device_name()})" if on_gpu else chosen

    # -- during the run

    def answer(self, requests: Sequence[Request], deliver: Callable[[Request, Reply], Sequence[Request]]) -> None:
        def hand_over(job: Job) -> list[Job]:
            return [self._job(request) for request in deliver(job.request, self._reply(job))]

        generator = self._load()
        generator.generate([self._job(request) for request in requests], hand_over, self._cancelled.is_set)

    def cancel(self) -> None:
        self._cancelled.set()

    def close(self) -> None:
        if self._generator is not None:
            from pytest_clinical_drift.subjects.generation import release_memory

            self._generator = None
            release_memory()

    def _job(self, request: Request) -> Job:
        from pytest_clinical_drift.subjects.generation import Job

        prompt: tuple[int, ...] = ()
        fault = None
        try:
            prompt = self._local.tokens(request.messages)
        except Exception as error:  # a template is a program of the model's author and may raise anything
            fault = failure(FailureCode.CHAT_TEMPLATE, error=f"{type(error).__name__}: {error}"[:270])
        room = self._room - len(prompt)
        if room < 1:
            fault = failure(FailureCode.CONTEXT_LENGTH, detail=f"{len(prompt)} tokens of {self._room}")
        # a seed of its own for every reply: what else is in the batch does not matter, and the same words get the same
        digest = hashlib.sha256(f"{self._settings['seed']} {request.repeat} {prompt}".encode()).digest()
        limit, seed = min(self._settings["max_tokens"], room), int.from_bytes(digest[:7], "big")
        return Job(request, prompt, limit, seed, time.monotonic(), fault)

    def _reply(self, job: Job) -> Reply:
        if job.fault is not None:
            too_long = job.fault.code is FailureCode.CONTEXT_LENGTH
            return Reply("", error=job.fault, usage=Usage(len(job.prompt)) if too_long else Usage())
        text, usage = self._local.text(job.made, job.prompt), Usage(len(job.prompt), len(job.made))
        return Reply(text, usage=usage, truncated=job.truncated, seconds=time.monotonic() - job.since)

    def _load(self) -> BatchGenerator:
        if self._generator is None:
            from pytest_clinical_drift.subjects.generation import BatchGenerator, Chooser

            _ = self._local.tokenizer  # which tells of bad input, before the weights are read
            model = self._local.load(self._device())
            penalty = self._settings.get("repetition_penalty")
            if penalty is None:
                penalty = getattr(model.generation_config, "repetition_penalty", None)
            top_p, top_k = self._settings.get("top_p"), self._settings.get("top_k")
            chooser = Chooser(self._settings["temperature"], top_p, top_k, penalty)
            # a summary and a reply per conversation
            rows = 2 * self.batch_size
            self._generator = BatchGenerator(model, self._local.stop_tokens(model), chooser, rows)
            # a model that does not say so has no limit
            most = getattr(model.config.get_text_config(), "max_position_embeddings", None)
            self._room = most if isinstance(most, int) and most > 0 else 1 << 30
            self._found = {
                "dtype": str(model.dtype).removeprefix("torch."),
                "device": str(model.device),
                "repetition_penalty": penalty,
                "reuses_prefixes": self._generator.reuses,
            }
        return self._generator
