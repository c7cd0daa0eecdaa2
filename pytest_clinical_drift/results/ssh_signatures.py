"""Signatures over files by SSH keys: `ssh-keygen -Y`, in the namespace of this package."""

import base64
import binascii
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.judging.opinions import person

NAMESPACE = "clinical-drift"
_SIGNER = re.compile(
    r"""(?P<names>\S+)
    (?:\s+(?P<options>(?:[^\s"]|"[^"]*")+))??
    \s+(?P<type>(?:ssh|ecdsa|sk)-\S+)
    \s+(?P<key>[A-Za-z0-9+/=]+)
    (?:\s.*)?""",
    re.VERBOSE,
)
"""A line of an allowed-signers file, as ssh-keygen(1) describes it."""
_DEVELOPERS = re.compile(r"#+\s*developers?\s*:\s*(?P<names>.+)", re.IGNORECASE)
_ABOUT_DEVELOPERS = re.compile(r"#+\s*developer", re.IGNORECASE)
_NAME = re.compile(r"[^\s,;:\"*?!]+")
_ARMOR = re.compile(r"-----BEGIN SSH SIGNATURE-----(.+?)-----END SSH SIGNATURE-----", re.DOTALL)
_MAGIC = b"SSHSIG"

Key = tuple[bytes, ...]
"""The parts of a public key."""


def signature_of(file: Path) -> Path:
    """Where the signature of a file lies."""
    return file.with_name(f"{file.name}.sig")


def sign_file(file: Path, key: Path) -> Path:
    """Sign a file with a private key; ssh-keygen asks the terminal for a passphrase."""
    if not key.is_file():
        raise InputError(f"--key {key}: not a file")
    signature_of(file).unlink(missing_ok=True)
    done = _keygen("sign", "-f", str(key), "-n", NAMESPACE, str(file))
    if done.returncode or not signature_of(file).is_file():
        raise InputError(f"--key {key}: ssh-keygen does not sign with it")
    return signature_of(file)


def is_signed_by(file: Path, signer: str, allowed: Path) -> bool:
    """Whether the signature of a file is that of a signer whom the allowed-signers file names."""
    signature = signature_of(file)
    if not signature.is_file():
        return False
    options = ("-f", str(allowed), "-I", signer, "-n", NAMESPACE, "-s", str(signature))
    return _keygen("verify", *options, given=file.read_bytes()).returncode == 0


# -- who may sign


@dataclass(frozen=True, slots=True)
class AllowedSigners:
    """Who may sign, and who develops the model."""

    keys: tuple[tuple[str, Key], ...]
    """Every name with every key of it."""
    developers: frozenset[str]
    """Names on lines such as `# developers: dev@example.org`, and all that have a key in common with one of them."""

    def names_of(self, key: Key) -> frozenset[str]:
        """Everybody to whom any line gives a key."""
        return frozenset(name for name, held in self.keys if held == key)


def read_signers(allowed: Path) -> AllowedSigners:
    """The allowed-signers file; InputError with file and line where it leaves open who somebody is."""
    keys: list[tuple[str, Key]] = []
    developers: set[str] = set()
    for number, line in enumerate(read_text(allowed).split("\n"), start=1):
        text = line.strip(" \t\r")
        place = f"{allowed}:{number}"
        if _ABOUT_DEVELOPERS.match(text):
            developers.update(_developers_on(place, text))
        elif text and not text.startswith("#"):
            keys += _signers_on(place, text)
    return AllowedSigners(tuple(keys), _with_other_names(developers, keys))


def _developers_on(place: str, text: str) -> list[str]:
    found = _DEVELOPERS.fullmatch(text)
    names = [name.strip() for name in found["names"].split(",")] if found else []
    if not names or not all(map(_NAME.fullmatch, names)):
        raise InputError(f"{place}: write '# developers: NAME, NAME' with a comma between names, found {text!r}")
    return [person(name) for name in names]


def _signers_on(place: str, text: str) -> list[tuple[str, Key]]:
    found = _SIGNER.fullmatch(text)
    if not found:
        raise InputError(f"{place}: not a line of an allowed-signers file; write 'NAME ssh-ed25519 KEY'")
    if "cert-authority" in (found["options"] or "").lower():
        raise InputError(f"{place}: cert-authority says nothing about who holds which key; list the key of each person")
    names = found["names"].split(",")
    for name in names:
        if not _NAME.fullmatch(name):
            raise InputError(f"{place}: {name!r} is not the name of one person; name each person, without patterns")
    key = _parts_of(found["key"])
    if not key:
        raise InputError(f"{place}: the public key cannot be read")
    return [(person(name), key) for name in names]


def _with_other_names(developers: set[str], keys: list[tuple[str, Key]]) -> frozenset[str]:
    """A developer under a second name is still one: every name that shares a key with one, however many in between."""
    known = set(developers)
    while True:
        held = {key for name, key in keys if name in known}
        found = known | {name for name, key in keys if key in held}
        if found == known:
            return frozenset(known)
        known = found


def _parts_of(encoded: str) -> Key:
    """The length-prefixed parts of a key in base64, each without leading zeros; empty where it is not one."""
    try:
        return _split(base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        return ()


def _split(blob: bytes) -> Key:
    parts = []
    while blob:
        end = 4 + int.from_bytes(blob[:4], "big")
        if len(blob) < end:
            return ()
        parts.append(blob[4:end].lstrip(b"\0"))
        blob = blob[end:]
    return tuple(parts)


def signing_key(file: Path) -> Key:
    """The public key inside the signature of a file; empty where there is none."""
    signature = signature_of(file)
    armor = _ARMOR.search(signature.read_text(encoding="utf-8", errors="replace")) if signature.is_file() else None
    if armor is None:
        return ()
    try:
        blob = base64.b64decode("".join(armor[1].split()), validate=True)
    except (binascii.Error, ValueError):
        return ()
    start = len(_MAGIC) + 4  # behind the version
    end = start + 4 + int.from_bytes(blob[start : start + 4], "big")
    return _split(blob[start + 4 : end]) if blob.startswith(_MAGIC) else ()


def has_keygen() -> bool:
    return shutil.which("ssh-keygen") is not None


def _keygen(act: str, *options: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    if not has_keygen():
        raise MissingDependency("ssh-keygen is not installed: it signs releases (apt install openssh-client)")
    return subprocess.run(["ssh-keygen", "-Y", act, *options], input=given, capture_output=True, check=False)
