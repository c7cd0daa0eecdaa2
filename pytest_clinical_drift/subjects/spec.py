"""Reads `--model SPEC` and builds the subject it names; nothing is loaded or contacted here."""

import difflib
import ipaddress
import os
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import Subject

_SUBJECTS = {
    "control": "control:ControlSubject",
    "replay": "replay:ReplaySubject",
    "server": "server:ServerSubject",
    "hf": "huggingface:HuggingFaceSubject",
    "python": "python:PythonSubject",
}
"""By kind its module and class, imported only when chosen."""
_ENTRY_POINTS = "clinical_drift.subjects"
"""Group of entry points by which packages add subjects: a class called with the target and the settings."""


class Spec(NamedTuple):
    kind: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}"


def parse_spec(text: str) -> Spec:
    """Split a SPEC; an unknown `word:` prefix is an error, never a hub look-up."""
    text = text.strip()
    if not text:
        raise InputError("--model is empty; write for example control:steady or server:MODEL@URL")
    if not text.isprintable():
        raise InputError(f"--model {text}: holds characters that cannot be shown")
    prefix, colon, rest = text.partition(":")
    kinds = (*_SUBJECTS, *sorted(_installed())) if colon and prefix not in _SUBJECTS else tuple(_SUBJECTS)
    if colon and prefix in kinds:
        if not rest:
            raise InputError(f"--model {text}: missing value after {prefix}:")
        return Spec(prefix, rest)
    if colon and not _is_path(text) and (near := difflib.get_close_matches(prefix.lower(), kinds, n=1)):
        raise InputError(f"--model {text}: unknown prefix {prefix + ':'!r}; did you mean {near[0]}:{rest}?")
    if "@http" in text:  # also where servers name their models by a path
        raise InputError(f"--model {text}: did you mean server:{text}?")
    if _is_path(text):
        return Spec("hf", text)
    if colon:
        known = ", ".join(f"{kind}:" for kind in kinds)
        raise InputError(f"--model {text}: unknown prefix {prefix + ':'!r}; known ones: {known}")
    from pytest_clinical_drift.subjects.control import CONTROLS

    if text in CONTROLS:
        raise InputError(f"--model {text}: did you mean control:{text}? A model of that name is hf:{text}")
    return Spec("hf", text)


def build_subject(spec: Spec, settings: Mapping[str, str]) -> Subject:
    if spec.kind in _SUBJECTS:
        point = metadata.EntryPoint(spec.kind, f"{__package__}.{_SUBJECTS[spec.kind]}", _ENTRY_POINTS)
    else:
        point = _installed()[spec.kind]
    subject: Subject = point.load()(spec.target, settings)
    return subject


def _installed() -> dict[str, metadata.EntryPoint]:
    """Subjects that installed packages add, by their prefix."""
    return {point.name: point for point in metadata.entry_points(group=_ENTRY_POINTS)}


def model_slug(spec: Spec) -> str:
    """A name for folders and test ids: `control:steady` gives `control-steady`."""
    target = spec.target
    if spec.kind == "server":
        target = target.rpartition("@http")[0] or target
    if spec.kind in ("replay", "hf") and _is_path(target):
        path = Path(target)
        # every run's recording lies in a folder of this name; the one above it tells which run
        named = path.parent if path.name == "transcripts" and path.parent.name else path
        target = named.stem or target
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", f"{spec.kind}-{target}").strip("-.")
    return slug[:100]


def same_model(one: str, other: str) -> bool:
    """Whether two SPECs name one model, however the address of a server is spelt."""
    return plain_spec(one) == plain_spec(other)


def plain_spec(spec: str) -> str:
    """A SPEC in the one form that all spellings of it have in common; for comparing, never shown.

    Of a server: `localhost` and every other name of this machine, the host's case, the scheme's own port, `/v1`, what
    follows it, and slashes that add nothing do not count.
    """
    name, at, address = spec.strip().rpartition("@http")
    if not at:
        return spec.strip().rstrip("/")
    try:
        url = urlsplit(f"http{address}")
        port = url.port or (443 if url.scheme == "https" else 80)
    except ValueError:  # in a ledger that somebody has edited
        return spec.strip()
    host = (url.hostname or "").rstrip(".")
    if host == "localhost" or _is_this_machine(host):
        host = "localhost"
    path = re.sub(r"/+", "/", url.path).rstrip("/").removesuffix("/chat/completions").removesuffix("/v1")
    return f"{name}@{host}:{port}{path}"


def _is_this_machine(host: str) -> bool:
    """Whether an address is one of this machine's own, such as 127.0.0.1, ::1 or 0.0.0.0."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def on_this_machine(spec: str) -> bool:
    """Whether a SPEC names a server that only this machine reaches."""
    _, at, address = spec.rpartition("@http")
    host = urlsplit(f"http{address}").hostname or ""
    return bool(at) and (host == "localhost" or _is_this_machine(host))


def _is_path(text: str) -> bool:
    # os.path.exists, unlike Path.exists, bears a name that is too long
    return bool(re.match(r"[./~]|[A-Za-z]:[\\/]", text)) or os.path.exists(text)
