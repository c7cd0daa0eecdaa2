"""The errors that leave a module: what a user did wrong, and what kept a subject from answering."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pytest_clinical_drift.core.packaged import load_data

_LONGEST = 1000
"""Characters of one sentence."""
_MOST = 20
"""Faults of one file that are listed."""


class DriftError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(DriftError):
    """Something the user gave cannot be used; the message is one sentence that names the place (exit code 4).

    Further arguments are further faults of the same file, each on a line of its own.
    """

    def __str__(self) -> str:
        """Each on one line and harmless to a terminal: files, and what they hold, may be anybody's."""
        lines = [_harmless(line) for line in self.args[:_MOST]]
        if len(self.args) > _MOST:
            lines.append(f"and {len(self.args) - _MOST} more")
        return "\n".join(lines)


def _harmless(line: object) -> str:
    """One bounded line without control characters."""
    text = " ".join(str(line).split())
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


class UnknownSetting(InputError):
    """A setting that a model or judge does not know; the message names the valid ones."""


class MissingDependency(InputError):
    """A feature was asked for whose optional dependency or weights are not here; the message says what to install."""


def not_loadable(module: str, error: Exception, missing: str, misfit: str) -> MissingDependency:
    """What to tell where an import fails: `missing` without the package, else how it fails beside numpy, and `misfit`.

    A package built for another numpy raises almost anything when it is imported.
    """
    if isinstance(error, ModuleNotFoundError) and error.name == module:
        return MissingDependency(missing)
    versions = dict.fromkeys((module, "numpy"), "of unknown version")
    for package in versions:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    installed = " beside ".join(f"{package} {number}" for package, number in versions.items())
    return MissingDependency(f"{installed} cannot be loaded ({type(error).__name__}: {error}): {misfit}")


class SubjectError(DriftError):
    """The subject could not be run: the case is INCOMPLETE, which says nothing about the model's memory."""


def sentence(error: DriftError | OSError) -> str:
    """What to tell the user; of a file or folder that the system refuses (a full disk, a name too long) its place."""
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename is not None else ""
        error = InputError(f"{place}cannot be used ({error.strerror or type(error).__name__})")
    return str(error)


class FailureCode(StrEnum):
    """Why there is no reply, or no finished conversation; sentences and their values are in `data/failures.yaml`."""

    NO_SERVER = "no_server"
    BROKEN_CONNECTION = "broken_connection"
    TOO_SLOW = "too_slow"
    DEADLINE = "deadline"
    SERVER_SILENT = "server_silent"
    BUDGET = "budget"
    UNCOUNTED = "uncounted"
    WEB_PAGE = "web_page"
    NOT_JSON = "not_json"
    NO_REPLY_IN_ANSWER = "no_reply_in_answer"
    TOO_LARGE = "too_large"
    REPORTED = "reported"
    REFUSED = "refused"
    REFUSED_SILENTLY = "refused_silently"
    CONTEXT_LENGTH = "context_length"
    TOKEN_LIMIT = "token_limit"
    """Reached inside the reasoning, so that there is no reply."""
    ABORTED = "aborted"
    OUT_OF_MEMORY = "out_of_memory"
    CHAT_TEMPLATE = "chat_template"
    RAISED = "raised"
    WRONG_TYPE = "wrong_type"
    ENDLESS = "endless"
    NOT_REQUESTED = "not_requested"
    CASE_NOT_RECORDED = "case_not_recorded"
    SINGLE_NOT_RECORDED = "single_not_recorded"
    REPLY_NOT_RECORDED = "reply_not_recorded"
    RECORDED = "recorded"
    RECORDED_STATUS = "recorded_status"
    RECORDED_ERROR = "recorded_error"
    CASE_NOT_SHOWN = "case_not_shown"
    SUMMARY_CUT = "summary_cut"
    REPLY_CUT = "reply_cut"
    SUBJECT_STOPPED = "subject_stopped"
    SHARD_MISSING = "shard_missing"


@dataclass(frozen=True, slots=True)
class Failure:
    """A code with plain values; `str()` gives the sentence, which only people read."""

    code: FailureCode
    values: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 1
    turn: int | None = None
    part: str = ""
    """reply, summary or single: what failed."""
    trace: str = field(default="", compare=False)
    """The way to an error in the project's own code."""

    def __str__(self) -> str:
        turn = f"turn {self.turn}" if self.turn is not None else ""
        part = "the transcript in one message" if self.part == "single" else self.part
        place = ", ".join(filter(None, (turn, part)))
        after = f", after {self.attempts} attempts" if self.attempts > 1 else ""
        text = coded_sentence("failures", self.code, self.values)
        return f"{place}: {text}{after}" if place else f"{text}{after}"


def failure(code: FailureCode, **values: Any) -> Failure:
    return Failure(code, values)


def coded_sentence(table: str, code: str, values: Mapping[str, Any]) -> str:
    """The sentence for a code, from a table of `data/`."""
    sentence: str = load_data(table)[code]
    return sentence.format(**values)
