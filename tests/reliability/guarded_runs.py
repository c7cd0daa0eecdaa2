"""Whole runs in a process of their own, watched by `guard.py`; what they tried, wrote and said."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Guarded:
    """A finished run."""

    folder: Path
    code: int
    output: str
    log: tuple[tuple[str, str], ...]

    def tried(self, kind: str) -> list[str]:
        return [what for found, what in self.log if found == kind]

    def written_outside(self, *allowed: str) -> list[str]:
        """Whatever was written, made, renamed or removed in no allowed folder of the project.

        The key of the store, with its lock, is the one thing that lies in the user's state folder.
        """
        places = [*(self.folder / name for name in allowed), temporary(self.folder), state(self.folder)]
        found = (Path(os.path.abspath(self.folder / what)) for what in self.tried("write") if not what.isdigit())
        return sorted({str(p) for p in found if not any(p.is_relative_to(a) for a in places) and str(p) != os.devnull})

    def everything(self) -> str:
        """All that it left behind and said."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return self.output + "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


def temporary(folder: Path) -> Path:
    """Where the run's passing files go; empty again when it is over."""
    return folder.with_name(folder.name + ".tmp")


def state(folder: Path) -> Path:
    """Where the run's user keeps state."""
    return folder.with_name(folder.name + ".state")


def run_pytest(
    folder: Path, *arguments: str, port: int = 0, environment: Mapping[str, str] | None = None, timeout: float = 240
) -> Guarded:
    """A run with the guard on, in a folder of its own."""
    log = folder.with_name(folder.name + ".log")
    given = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(HERE))), "PYTHONDONTWRITEBYTECODE": "1"}
    temporary(folder).mkdir(exist_ok=True)
    given |= {
        "GUARD_LOG": str(log),
        "GUARD_PORT": str(port),
        "TMPDIR": str(temporary(folder)),
        "XDG_STATE_HOME": str(state(folder)),
        "HF_HUB_OFFLINE": "",
        "OMP_NUM_THREADS": "1",
    }
    for name in ("CI", "TORCHINDUCTOR_CACHE_DIR"):  # the latter is set by torch itself, in a process that imports it
        given.pop(name, None)
    given |= environment or {}
    command = [sys.executable, "-m", "pytest", "-p", "guard", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, timeout=timeout, check=False)
    noted = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
    pairs = tuple((kind, what) for kind, _, what in (line.partition("\t") for line in noted))
    return Guarded(folder, done.returncode, done.stdout + done.stderr, pairs)
