"""Seals on stored entries: only what was written with the key of this user or pipeline is used again.

A seal is a keyed hash (HMAC-SHA256), and its key lies outside the store. A plain hash would prove nothing against
somebody who can write the store, because they can compute it as well.
"""

import hmac
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from pytest_clinical_drift.errors import InputError

KEY_VARIABLE = "CLINICAL_DRIFT_STORE_KEY"
"""Environment variable with the key of a pipeline, whose machines share stores."""
_SHORTEST = 32
"""Characters of a key from the environment; a shorter one could be guessed from a store."""
_KEY_BYTES = 32
_LOCK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Sealer:
    """Makes and checks seals."""

    key: bytes
    problem: str = ""
    """Why nothing that is stored now can be used by a later run; empty where it can."""

    def seal(self, *parts: str | None) -> str:
        """The seal of an entry; `parts` name its kind, whose it is, and all that it says."""
        plain = json.dumps(parts, ensure_ascii=True)
        return hmac.new(self.key, plain.encode("ascii"), "sha256").hexdigest()

    def fits(self, seal: object, *parts: str | None) -> bool:
        """Whether a seal was made with this key from these parts; values of any type may stand in a store."""
        if not isinstance(seal, str) or any(not isinstance(part, str | None) for part in parts):
            return False
        return hmac.compare_digest(seal.encode("utf-8", "replace"), self.seal(*parts).encode("ascii"))


def own_sealer() -> Sealer:
    """With the pipeline's key from the environment, else with the user's own, which is made at first use."""
    given = os.environ.get(KEY_VARIABLE, "").strip()
    if given:
        if len(given) < _SHORTEST:
            raise InputError(
                f"environment variable {KEY_VARIABLE}: shorter than {_SHORTEST} characters; make a key with "
                "`openssl rand -hex 32`"
            )
        return Sealer(given.encode("utf-8", "surrogateescape"))
    try:
        return Sealer(_key_of_user())
    except (OSError, RuntimeError, ValueError) as error:  # no home, or one that cannot be written
        problem = (
            f"reply cache: later runs cannot use it, because its key cannot be kept ({type(error).__name__}: {error}); "
            f"give one in the environment variable {KEY_VARIABLE}"
        )
        return Sealer(secrets.token_bytes(_KEY_BYTES), problem)


def passing_sealer() -> Sealer:
    """For entries that live no longer than the process."""
    return Sealer(secrets.token_bytes(_KEY_BYTES))


def key_file() -> Path:
    """Where the user's key lies: in their own state folder, never beside a store."""
    if os.name == "nt":
        folder = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        folder = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(folder) / "clinical-drift" / "store.key"


def _key_of_user() -> bytes:
    file = key_file()
    if (known := _read_key(file)) is not None:
        return known
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(f"{file}.lock", timeout=_LOCK_SECONDS):
        if (known := _read_key(file)) is not None:  # another process was faster
            return known
        made = secrets.token_hex(_KEY_BYTES)
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(made)
    return made.encode("ascii")


def _read_key(file: Path) -> bytes | None:
    """The key in a file; None where there is none, or one that others can read, as any file of a checkout can be."""
    if not file.is_file():
        return None
    if os.name == "posix" and file.stat().st_mode & 0o077:
        return None
    text = file.read_bytes().strip()
    return text if len(text) == 2 * _KEY_BYTES else None
