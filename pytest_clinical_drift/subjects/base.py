"""The interface every subject shares, the ones a subject may offer besides, and the settings they understand."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import TypeAdapter, ValidationError

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import Failure, InputError, SubjectError, UnknownSetting
from pytest_clinical_drift.transcript import Message, Purpose, Reply


@dataclass(frozen=True, slots=True)
class Request:
    case_id: str
    """For bookkeeping and replay; a model never sees it."""
    repeat: int
    turn: int
    purpose: Purpose
    messages: tuple[Message, ...]
    record: str | None = None
    """The patient's record, where it goes beside the messages instead of into them."""
    refusal: Callable[[], Failure | None] = field(default=lambda: None, compare=False)
    """Says, when its turn comes, why it must not be sent any more."""
    schema: Mapping[str, Any] | None = field(default=None, compare=False)
    """JSON schema of the wanted answer, for servers that can be held to one."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What exactly was tested."""

    spec: str
    revision: str | None
    """Commit, weight hash or version; None when it cannot be told."""
    proven: bool
    """Whether the revision is a commit or digest, so that stored replies may be reused across runs."""
    settings: Mapping[str, Any]
    """Decoding settings in force, without secrets: two runs that differ here may differ in every reply."""
    server: Mapping[str, Any] | None = None
    """What a server tells about itself, or a function's code; an unfinished run goes on only where it is equal."""

    def fingerprint(self, prompts: str) -> str:
        """Hash of all that an answer depends on besides the question: who answers, how, and our prompts."""
        plain = json.dumps([self.spec, self.revision, dict(self.settings), prompts], sort_keys=True, default=str)
        return hashlib.sha256(plain.encode()).hexdigest()


_DIGEST = re.compile(r"[0-9a-f]{40}|(?:sha256:)?[0-9a-f]{64}")
"""A full commit, or a SHA-256 digest."""


def is_digest(revision: str | None) -> bool:
    """Whether a revision names one content for ever; a branch, a tag or an abbreviated commit does not."""
    return revision is not None and _DIGEST.fullmatch(revision) is not None


class RunStopped(SubjectError):
    """The subject was told to stop in the middle of a reply; nothing was answered."""


class Subject(Protocol):
    """A model under test; it also offers one of the three ways of being asked below.

    However it is asked, a request that fails yields a Reply with an error, never an exception.
    """

    spec: str

    def check(self, cases: Sequence[Case]) -> list[str]:
        """Cheap look before anything runs: InputError for what cannot work, remarks for the header otherwise."""

    def identity(self) -> Identity:
        """What is being tested; may load the model."""

    def close(self) -> None:
        """Give up connections, threads and memory; nothing is held unless a subject says so."""
        return


@runtime_checkable
class SequentialSubject(Protocol):
    """A subject that gains nothing from being asked several things at a time."""

    def respond(self, request: Request) -> Reply:
        """Answer one request."""


@runtime_checkable
class ConcurrentSubject(Protocol):
    """A subject that takes many requests at once and schedules them itself; all calls come from one event loop."""

    @property
    def slots(self) -> int | None:
        """Conversations whose beginnings it can keep, where it says so: one request at a time of each is fastest.

        0: a look at it shows that it takes one request at a time after all, by `respond`.
        """

    async def ask(self, request: Request) -> Reply:
        """Answer one request; cancelling the call gives it up."""

    async def disconnect(self) -> None:
        """The last request was answered: give up connections that belong to the event loop."""
        return


@runtime_checkable
class BatchedSubject(Protocol):
    """A subject that is fastest when many conversations advance together."""

    batch_size: int
    """How many conversations it wants at a time; may shrink while it runs."""

    def answer(self, requests: Sequence[Request], deliver: Callable[[Request, Reply], Sequence[Request]]) -> None:
        """Answer the requests and all that follow from them.

        Each reply is handed over as soon as it is whole; `deliver` returns the requests that can be asked now.
        RunStopped after `cancel`.
        """

    def cancel(self) -> None:
        """End a running `answer` promptly; called from another thread."""


def remembers(subject: Subject) -> bool:
    """Whether a conversation has to be held from its beginning in one run, which a subject says in `stateful`."""
    return bool(getattr(subject, "stateful", False))


def set_option(option: str) -> str:
    """The option that sets what `--model` or `--drift-judge` names."""
    return "--drift-set" if option == "--model" else f"{option}-set"


_EXPECTED = {int: "a whole number", float: "a number", bool: "true or false"}


def typed_settings(
    spec: str,
    given: Mapping[str, str],
    known: Mapping[str, type],
    *,
    option: str = "--drift-set",
    least: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Turn KEY=VALUE texts into typed values, none below its `least`; an unknown key names the valid ones."""
    settings: dict[str, Any] = {}
    for key, text in given.items():
        if key not in known:
            valid = ", ".join(sorted(known)) or "none"
            raise UnknownSetting(f"{option} {key}: unknown setting for {spec}; valid settings: {valid}")
        try:
            value: Any = TypeAdapter(known[key]).validate_strings(text)
        except ValidationError:
            expected = _EXPECTED.get(known[key], known[key].__name__)
            raise InputError(f"{option} {key}: expected {expected}, found {text!r}") from None
        if least and key in least and not value >= least[key]:  # `not >=` also catches nan
            raise InputError(f"{option} {key}: expected at least {least[key]:g}, found {value}")
        settings[key] = value
    return settings


def declared_settings(
    spec: str,
    given: Mapping[str, str],
    known: Mapping[str, type],
    *,
    option: str = "--drift-set",
    least: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Typed settings of a subject or judge that cannot resolve a `revision` itself: it has to be a digest."""
    settings = typed_settings(spec, given, known, option=option, least=least)
    if "revision" not in settings:
        return settings
    revision = str(settings["revision"])
    if not is_digest(revision.lower()):
        raise InputError(
            f"{option} revision: {revision[:80]!r} may name another model tomorrow; give the full commit (40 "
            "hexadecimal digits) or the SHA-256 digest of what is served, or leave revision out"
        )
    return {**settings, "revision": revision.lower()}
