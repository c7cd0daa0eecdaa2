"""Where a local model lies: a repository, a folder or one `.gguf` file; what identifies it, and why loading failed."""

import hashlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import file_hash
from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.subjects.base import set_option

_HASHED = ("*.safetensors", "*.bin", "*.json", "*.jinja", "*.model", "*.txt", "*.py")
_NO_WEIGHTS = "the folder holds no weights; download the whole repository, or name one .gguf file"
_INSTALL = "pip install 'pytest-clinical-drift[hf]'"


@dataclass(frozen=True)
class Weights:
    target: str
    spec: str
    """As the user wrote it, for messages."""
    option: str
    """The one that names it: --model, or --drift-judge."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """trust_remote_code and revision, where they were given."""

    @property
    def path(self) -> Path:
        return Path(self.target).expanduser()

    @property
    def is_gguf(self) -> bool:
        """One file holds configuration, tokenizer and weights."""
        return self.path.suffix.lower() == ".gguf"

    @property
    def place(self) -> str:
        return str(self.path.parent if self.is_gguf else self.path)

    @property
    def options(self) -> dict[str, Any]:
        options = {"trust_remote_code": bool(self.settings.get("trust_remote_code"))}
        if self.is_gguf:
            return {**options, "gguf_file": self.path.name}
        return options | ({"revision": self.settings["revision"]} if "revision" in self.settings else {})

    def check(self) -> None:
        """Libraries are there, and so is a path that was given."""
        for module in ("torch", "transformers", *(("gguf",) if self.is_gguf else ())):
            if importlib.util.find_spec(module) is None:
                raise MissingDependency(f"{self.option} {self.spec}: needs {module}; install it with {_INSTALL}")
        if self.is_gguf and not self.path.is_file():
            raise InputError(f"{self.option} {self.spec}: no such file")
        if self.target.startswith((".", "/", "~")) and not self.is_gguf and not self.path.is_dir():
            raise InputError(f"{self.option} {self.spec}: no such folder")
        if self.path.is_dir() and not [*self.path.glob("*.safetensors"), *self.path.glob("*.bin")]:
            raise InputError(f"{self.option} {self.spec}: {_NO_WEIGHTS}")

    def fingerprint(self, config: object) -> str | None:
        """The hub's commit, or a hash over every file of a local model; None where neither proves the weights."""
        if self.is_gguf:
            return file_hash(self.path)
        if not self.path.is_dir():
            commit = getattr(config, "_commit_hash", None)
            return commit if isinstance(commit, str) else None
        if (self.path / "adapter_config.json").exists():
            return None  # most of the weights lie elsewhere
        digest = hashlib.sha256()
        for file in sorted({file for pattern in _HASHED for file in self.path.glob(pattern)}):
            digest.update(f"{file.name} {file_hash(file)}\n".encode())
        return digest.hexdigest()

    def why_not_loaded(self, error: BaseException) -> str:
        """What kept a model from being loaded, and what to do about it, in one sentence."""
        name, text = type(error).__name__, " ".join(str(error).split())
        if is_out_of_memory(error):
            return f"out of memory; take a smaller model, a larger machine, or {set_option(self.option)} dtype=bfloat16"
        if "gated" in name.lower() or "gated repo" in text.lower():
            return "the repository is gated: accept its terms on the hub, then log in with `hf auth login`"
        if name == "RepositoryNotFoundError" or "is not a valid model identifier" in text or "404" in text:
            return "no such repository on the hub, or it is private; check its name"
        if any(
            sign in text for sign in ("couldn't connect", "offline", "ConnectionError", "Max retries", "resolve host")
        ):
            return (
                "it is not on this machine and the hub cannot be reached; connect once, or give a folder that holds it"
            )
        if "trust_remote_code" in text:
            allowed = f"{set_option(self.option)} trust_remote_code=true"
            return f"it brings code of its own; read that code, then allow it with {allowed}"
        if "safetensors" in text and "no file named" in text.lower():
            return _NO_WEIGHTS
        return f"{name}: {text}"[:250]


def hide_bars() -> None:
    """Loading bars would be drawn across pytest's own output."""
    from transformers.utils import logging

    logging.disable_progress_bar()


def is_out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return type(error).__name__ == "OutOfMemoryError" or "out of memory" in text or "can't allocate memory" in text
