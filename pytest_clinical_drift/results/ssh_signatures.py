"""Signatures over files by SSH keys: `ssh-keygen -Y`, in the namespace of this package."""

import re
import shutil
import subprocess
from pathlib import Path

from pytest_clinical_drift.errors import InputError, MissingDependency

NAMESPACE = "clinical-drift"
_DEVELOPERS = re.compile(r"^#\s*developers?:\s*(.+)$", re.MULTILINE | re.IGNORECASE)


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


def names_of_key(file: Path, allowed: Path) -> tuple[str, ...]:
    """Everybody to whom the allowed-signers file gives the key that signed."""
    done = _keygen("find-principals", "-s", str(signature_of(file)), "-f", str(allowed))
    return tuple(name for line in done.stdout.decode("utf-8", "replace").splitlines() for name in line.split(","))


def developers_in(allowed: Path) -> tuple[str, ...]:
    """Names on lines such as `# developers: dev@example.org`: they may neither sign nor review."""
    found = _DEVELOPERS.findall(allowed.read_text(encoding="utf-8"))
    return tuple(name.strip() for line in found for name in line.split(",") if name.strip())


def has_keygen() -> bool:
    return shutil.which("ssh-keygen") is not None


def _keygen(act: str, *options: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    if not has_keygen():
        raise MissingDependency("ssh-keygen is not installed: it signs releases (apt install openssh-client)")
    return subprocess.run(["ssh-keygen", "-Y", act, *options], input=given, capture_output=True, check=False)
