"""The key to a server: read from an environment variable only, and kept out of every message."""

from __future__ import annotations

import os
import re

from pytest_clinical_drift.errors import InputError

DEFAULT_VARIABLE = "CLINICAL_DRIFT_API_KEY"
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HIDDEN = "[key]"


class ApiKey:
    """Knows where the key is; the variable that the user named must be there, the usual one may be."""

    def __init__(self, variable: str | None) -> None:
        if variable is not None and not _VARIABLE_NAME.fullmatch(variable):
            # it may well be the key itself: do not repeat it
            raise InputError("--drift-set key_env: expected the name of an environment variable that holds the key")
        self._variable = variable

    def read(self) -> str | None:
        """The key, or None where there is none to send."""
        name = self._variable or DEFAULT_VARIABLE
        key = os.environ.get(name, "").strip()
        if not key:
            if self._variable is not None:
                raise InputError(f"--drift-set key_env={name}: the environment variable {name} is not set")
            return None
        if not key.isascii() or not key.isprintable():
            raise InputError(f"the environment variable {name} holds characters that cannot be sent as a key")
        return key

    def headers(self) -> dict[str, str]:
        """What goes with every request."""
        key = self.read()
        return {"authorization": f"Bearer {key}"} if key else {}

    def scrub(self, text: str) -> str:
        """The text without the key, which servers and libraries like to repeat."""
        key = self.read()
        return text.replace(key, _HIDDEN) if key else text

    @property
    def advice(self) -> str:
        """What to do when the server refuses access."""
        name = self._variable or DEFAULT_VARIABLE
        if self.read():
            return f"look at the key in the environment variable {name}"
        return f"put the key into the environment variable {name}, or name another with --drift-set key_env=NAME"
