"""`hf:REPO_OR_PATH`: a transformers model in this process, all conversations in lockstep batches."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import FailureCode, InputError, SubjectError, failure
from pytest_clinical_drift.subjects.base import Identity, Request, set_option, typed_settings
from pytest_clinical_drift.subjects.chat_template import ChatTemplate
from pytest_clinical_drift.subjects.weights import Weights, is_out_of_memory
from pytest_clinical_drift.transcript import Reply, Usage

if TYPE_CHECKING:
    from pytest_clinical_drift.subjects.generation import BatchGenerator, Job, Line

_KNOWN: dict[str, type] = {
    **dict.fromkeys(("max_tokens", "top_k", "seed", "batch_size"), int),
    **dict.fromkeys(("temperature", "top_p", "repetition_penalty"), float),
    **dict.fromkeys(("dtype", "device", "device_map", "revision", "attn_implementation"), str),
    **dict.fromkeys(("trust_remote_code", "thinking"), bool),
}
_DEFAULTS = {"max_tokens": 1024, "temperature": 0.0, "seed": 0, "dtype": "auto", "trust_remote_code": False}
_LEAST = {"max_tokens": 1, "temperature": 0, "top_k": 1, "batch_size": 1}
_DECODING = ("max_tokens", "temperature", "top_p", "top_k", "repetition_penalty", "seed", "thinking")
_DTYPES = ("auto", "float32", "bfloat16", "float16")


class HuggingFaceSubject:
    """Loads the model at the first request; cases advance together, each on top of its own cached conversation."""

    def __init__(self, target: str, settings: Mapping[str, str], *, option: str = "--model") -> None:
        self.spec = f"hf:{target}"
        named = set_option(option)
        self._settings = {**_DEFAULTS, **typed_settings(self.spec, settings, _KNOWN, option=named, least=_LEAST)}
        if (dtype := self._settings["dtype"]) not in _DTYPES:
            raise InputError(f"{named} dtype: expected one of {', '.join(_DTYPES)}, found {dtype!r}")
        self._weights = Weights(target, self.spec, option, self._settings)
        self.batch_size: int = self._settings.get("batch_size") or 16
        self.rows_at_once = 2 * self.batch_size
        """A summary and a reply per conversation; halves when memory runs out."""
        self._cancelled = threading.Event()
        self._template: ChatTemplate | None = None
        self._generator: BatchGenerator | None = None
        self._room = 0
        self._found: dict[str, Any] = {}
        self._revision: str | None = None

    # -- before the first case

    def check(self, cases: Sequence[Case]) -> list[str]:
        self._weights.check()
        self._load_template()
        return []

    def identity(self) -> Identity:
        if self._revision is None:
            self._weights.check()
            local = self._weights.path.exists()
            self._revision = self._weights.fingerprint(None if local else self._load_template().config)
        decoding = {key: self._settings[key] for key in _DECODING if self._settings.get(key) is not None}
        decoding["dtype"] = self._settings["dtype"]
        decoding |= self._arithmetic()
        proven = self._revision is not None
        return Identity(self.spec, self._revision, proven, decoding, server=self._found or None)

    def _arithmetic(self) -> dict[str, str]:
        """What replies of the same weights may differ by: the device, the attention and the libraries."""
        versions = {name: metadata.version(name) for name in ("torch", "transformers")}
        attention = self._settings.get("attn_implementation") or "default"
        return {"device": self._device_name(), "attn_implementation": attention, **versions}

    def _device_name(self) -> str:
        """As set, or the best one there is; of a GPU also its model."""
        import torch

        chosen: str = self._settings.get("device_map") or self._settings.get("device") or _best_device()
        on_gpu = torch.cuda.is_available() and not chosen.startswith(("cpu", "mps"))
        return f"{chosen} ({torch.cuda.get_device_name()})" if on_gpu else chosen

    def _load_template(self) -> ChatTemplate:
        if self._template is None:
            self._template = ChatTemplate.load(self._weights, self._settings.get("thinking"))
        return self._template

    # -- during the run

    def answer(self, requests: Sequence[Request], deliver: Callable[[Request, Reply], Sequence[Request]]) -> None:
        generator = self._load()
        waiting: dict[Job, None] = {}

        def accept(asked: Sequence[Request]) -> list[Job]:
            """Jobs for these requests; what cannot be asked is delivered at once, with the reason."""
            jobs: list[Job] = []
            pending = list(asked)
            while pending:
                job = self._job(request := pending.pop(0))
                if isinstance(job, Reply):
                    pending += deliver(request, job)
                else:
                    jobs.append(job)
            waiting.update(dict.fromkeys(jobs))
            return jobs

        def hand_over(job: Job, line: Line) -> list[Job]:
            del waiting[job]
            return accept(deliver(job.request, self._reply(job, line)))

        accept(requests)
        while waiting:
            try:
                generator.generate(list(waiting), hand_over, self.rows_at_once, self._cancelled.is_set)
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
            # outside of the handler, which would keep the tensors of the failed attempt alive
            if waiting and not self._make_room(generator, len(waiting)):
                del waiting[job := next(iter(waiting))]
                accept(deliver(job.request, Reply("", error=failure(FailureCode.OUT_OF_MEMORY))))

    def _make_room(self, generator: BatchGenerator, jobs: int) -> bool:
        """Give up everything cached and halve the batch; False when there was nothing left to give up."""
        alone = self.rows_at_once == 1
        held = generator.forget()
        _release_memory()
        self.rows_at_once = max(1, min(self.rows_at_once, jobs) // 2)
        self.batch_size = max(1, self.rows_at_once // 2)
        return held or not alone

    def cancel(self) -> None:
        self._cancelled.set()

    def close(self) -> None:
        if self._generator is not None:
            self._generator.forget()
            self._generator = None
            _release_memory()

    def _job(self, request: Request) -> Job | Reply:
        try:
            prompt = self._load_template().tokens(request.messages)
        except Exception as error:  # a template is a program of the model's author and may raise anything
            return Reply("", error=failure(FailureCode.CHAT_TEMPLATE, error=f"{type(error).__name__}: {error}"[:270]))
        room = self._room - len(prompt)
        if room < 1:
            too_long = failure(FailureCode.CONTEXT_LENGTH, detail=f"{len(prompt)} tokens of {self._room}")
            return Reply("", error=too_long, usage=Usage(len(prompt), None))
        from pytest_clinical_drift.subjects.generation import Job

        # a seed of its own for every reply: what else is in the batch does not matter, and the same words get the same
        digest = hashlib.sha256(f"{self._settings['seed']} {request.repeat} {prompt}".encode()).digest()
        limit, seed = min(self._settings["max_tokens"], room), int.from_bytes(digest[:7], "big")
        return Job(request, prompt, limit, seed, since=time.monotonic())

    def _reply(self, job: Job, line: Line) -> Reply:
        text = self._load_template().text(line.made, job.prompt)
        usage = Usage(len(job.prompt), len(line.made))
        return Reply(text, usage=usage, truncated=line.truncated, seconds=time.monotonic() - job.since)

    def _load(self) -> BatchGenerator:
        if self._generator is None:
            from pytest_clinical_drift.subjects.generation import BatchGenerator
            from pytest_clinical_drift.subjects.sampling import Chooser

            template = self._load_template()
            model = self._load_model()
            chosen = {key: self._settings.get(key) for key in ("top_p", "top_k", "repetition_penalty")}
            if chosen["repetition_penalty"] is None:
                chosen["repetition_penalty"] = getattr(model.generation_config, "repetition_penalty", None)
            chooser = Chooser(self._settings["temperature"], **chosen)
            self._generator = BatchGenerator(model, template.stop_tokens(model), chooser)
            # most tokens of prompt and reply together; a model that does not say so has no limit
            most = getattr(model.config.get_text_config(), "max_position_embeddings", None)
            self._room = most if isinstance(most, int) and most > 0 else 1 << 30
            self._found = {
                "dtype": str(model.dtype).removeprefix("torch."),
                "device": str(model.device),
                "repetition_penalty": chosen["repetition_penalty"],
                "reuses_prefixes": self._generator.reuses,
            }
        return self._generator

    def _load_model(self) -> Any:
        from transformers import AutoModelForCausalLM

        passed_on = ("dtype", "device_map", "attn_implementation")
        options = self._weights.options | {name: self._settings[name] for name in passed_on if name in self._settings}
        try:
            model = AutoModelForCausalLM.from_pretrained(self._weights.place, **options)
            if "device_map" not in options:
                model = model.to(self._settings.get("device") or _best_device())
        except Exception as error:  # every format of weights has errors of its own
            raise SubjectError(f"the model could not be loaded ({self._weights.why_not_loaded(error)})") from None
        return model.eval()


def _best_device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def _release_memory() -> None:
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
