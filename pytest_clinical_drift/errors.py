"""The errors that leave a module: what a user did wrong, and what kept a subject from answering."""

from __future__ import annotations


class DriftError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(DriftError):
    """Something the user gave cannot be used; the message is one sentence that names the place (exit code 4)."""


class MissingDependency(InputError):
    """A feature was asked for whose optional dependency or weights are not here; the message says what to install."""


class SubjectError(DriftError):
    """The subject could not be run: the case is INCOMPLETE, which says nothing about the model's memory."""
