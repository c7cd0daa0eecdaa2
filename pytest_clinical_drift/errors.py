"""The errors that leave a module: what a user did wrong, and what kept a subject from answering."""

from __future__ import annotations

_LONGEST = 1000
"""Characters of a sentence that somebody is meant to read."""
_MOST = 20
"""Faults that are told at once."""


class DriftError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(DriftError):
    """Something the user gave cannot be used; the message is one sentence that names the place (exit code 4).

    Further arguments are further faults of the same file, each on a line of its own.
    """

    def __str__(self) -> str:
        """Each on one line and harmless to a terminal: files, and what they hold, may be anybody's."""
        more = [f"and {len(self.args) - _MOST} more"] if len(self.args) > _MOST else []
        return "\n".join(_harmless(str(line)) for line in (*self.args[:_MOST], *more))


class UnknownSetting(InputError):
    """A setting that a model or judge does not know; the message names the valid ones."""


class MissingDependency(InputError):
    """A feature was asked for whose optional dependency or weights are not here; the message says what to install."""


class SubjectError(DriftError):
    """The subject could not be run: the case is INCOMPLETE, which says nothing about the model's memory."""


def _harmless(text: str) -> str:
    flat = " ".join(text.split())
    shown = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in flat)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def sentence(error: DriftError | OSError) -> str:
    """What to tell the user; of a file or folder that the system refuses (a full disk, a name too long) its place."""
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename is not None else ""
        error = InputError(f"{place}cannot be used ({error.strerror or type(error).__name__})")
    return str(error)
