"""The supported matrix: `python -m benchmarks.matrix [--python PATH …] [--pytest VERSION …] [--keep DIR]
[--check NAME …]`.

Makes a virtual environment for every Python and pytest, installs the package without any extra, and looks: importing
and idling need nothing more; a gate on a control works; whatever needs an extra says in one sentence what to install,
with exit code 4. Prints a table; exits 0 only where every cell holds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
EXTRAS = ("torch", "transformers", "spacy", "scispacy", "sentence_transformers", "polars", "pyarrow")


class Done(NamedTuple):
    """A finished command."""

    code: int
    text: str


def pythons() -> list[str]:
    """Interpreters of the supported versions that are at hand."""
    found = [shutil.which(f"python3.{minor}") for minor in (11, 12, 13)]
    roots = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found += [str(path) for minor in (11, 12, 13) for path in sorted(roots.glob(f"3.{minor}.*/bin/python"))]
    versions: dict[str, str] = {}
    for path in filter(None, found):
        told = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
        if told.returncode == 0:  # a shim of a version that is not installed answers with an error
            versions.setdefault(told.stdout.strip(), path)
    return list(versions.values())


def _idles(run: Callable[..., Done], folder: Path) -> bool:
    """A run without --model is an ordinary one, and has imported none of the extras."""
    names = ", ".join(repr(name) for name in EXTRAS)
    (folder / "test_idle.py").write_text(
        f"import sys\ndef test_idle(): assert not [n for n in ({names}) if n in sys.modules]\n", encoding="utf-8"
    )
    return run("test_idle.py").code == 0


def _imports(run: Callable[..., Done], folder: Path) -> bool:
    (folder / "test_names.py").write_text(
        "import pytest_clinical_drift as package\n"
        "def test_names():\n    for name in package.__all__: getattr(package, name)\n",
        encoding="utf-8",
    )
    return run("test_names.py").code == 0


def _gates(run: Callable[..., Done], folder: Path) -> bool:
    done = run("--model", "control:steady", "-k", "penicillin-anaphylaxis")
    return done.code == 7 and "PARTIAL (1 of 60)" in done.text


def _fails(run: Callable[..., Done], folder: Path) -> bool:
    return run("--model", "control:cliff", "-k", "penicillin-anaphylaxis").code == 1


def _asks_for(extra: str, *arguments: str) -> Callable[[Callable[..., Done], Path], bool]:
    def look(run: Callable[..., Done], folder: Path) -> bool:
        (folder / "weights").mkdir(exist_ok=True)
        (folder / "weights" / "config.json").write_text("{}", encoding="utf-8")
        done = run(*arguments)
        errors = [line for line in done.text.splitlines() if line.startswith("ERROR: ")]
        sentence = re.search(rf"pip install '?pytest-clinical-drift\[[\w,]*{extra}", " ".join(errors))
        return done.code == 4 and len(errors) == 1 and sentence is not None and "Traceback" not in done.text

    return look


STEADY = ("--model", "control:steady", "-k", "penicillin-anaphylaxis")
CHECKS: dict[str, Callable[[Callable[..., Done], Path], bool]] = {
    "imports": _imports,
    "idles": _idles,
    "gates": _gates,
    "fails": _fails,
    "hf": _asks_for("hf", "--model", "hf:./weights"),
    "judge hf": _asks_for("hf", *STEADY, "--drift-judge", "hf:./weights"),
    "nli": _asks_for("hf", *STEADY, "--drift-judge", "nli"),
    "scispacy": _asks_for("scispacy", *STEADY, "--drift-ner", "scispacy"),
    "align": _asks_for("align", *STEADY, "-o", "drift_embedder=./weights"),
    "ranking": _asks_for("ranking", "--slate", str(ROOT / "cases" / "slates" / "example")),
}


def environment(folder: Path, python: str, pytest: str) -> Path:
    """A virtual environment with the package and one pytest, and no extra."""
    if not (folder / "bin" / "python").exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, f"pytest=={pytest}", str(ROOT)], check=True)
    return folder / "bin" / "python"


def look(python: Path, names: Sequence[str]) -> dict[str, bool]:
    """Every check in a folder of its own."""
    found = {}
    for name in names:
        check = CHECKS[name]
        with tempfile.TemporaryDirectory() as place:

            def run(*arguments: str) -> Done:
                command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
                given = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "CI")}
                done = subprocess.run(
                    command,
                    cwd=place,
                    env=given,
                    capture_output=True,
                    text=True,
                    timeout=600,
                    check=False,
                )
                return Done(done.returncode, done.stdout + done.stderr)

            found[name] = check(run, Path(place))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", help="an interpreter; default: all supported ones at hand")
    parser.add_argument("--pytest", action="append", help="a version; default: 8.2.* and 9.*")
    parser.add_argument("--keep", type=Path, help="folder in which the environments stay")
    parser.add_argument("--check", action="append", choices=list(CHECKS), help="default: every one")
    options = parser.parse_args()
    names = options.check or list(CHECKS)
    held: list[bool] = []
    print("| Python | pytest | " + " | ".join(names) + " |\n|" + " --- |" * (len(names) + 2), flush=True)
    with tempfile.TemporaryDirectory() as place:
        for python in options.python or pythons():
            for version in options.pytest or ("8.2.*", "9.*"):
                asked = [python, "-c", "import platform; print(platform.python_version())"]
                number = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
                name = f"{number}-{version}".replace("*", "x")
                built = environment((options.keep or Path(place)) / name, python, version)
                told = subprocess.run(
                    [str(built), "-c", "import sys, pytest; print(sys.version.split()[0], pytest.__version__)"],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                found = look(built, names)
                held.append(all(found.values()))
                cells = [*told.stdout.split(), *("yes" if good else "**no**" for good in found.values())]
                print(f"| {' | '.join(cells)} |", flush=True)
    print(f"{sum(held)} of {len(held)} combinations of Python and pytest hold")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
