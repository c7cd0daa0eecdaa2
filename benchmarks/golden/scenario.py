"""What is recorded: a scenario is a name, the files of its folder, and the commands that run there."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ARCHIVES = ("calibration", "recorded")
"""Frozen material that is kept packed."""


@dataclass(frozen=True)
class Material:
    """Where the frozen material lies, unpacked."""

    frozen: Path
    shared: Path | None
    """Conversations and attacks that are not part of the project; None where they are not at hand."""

    def find(self, source: str) -> Path:
        """A file or folder by its name: `shared/…`, `helpers/…`, else frozen material."""
        first, _, rest = source.partition("/")
        if first == "shared":
            assert self.shared is not None, source
            return self.shared / rest
        if first == "helpers":
            return HERE / source
        return self.frozen / source

    def read(self, source: str) -> str:
        return self.find(source).read_text(encoding="utf-8")


def unpack(folder: Path, shared: Path | None) -> Material:
    """Lay out the frozen material in a folder."""
    shutil.copytree(HERE / "data", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.tar.xz"))
    for name in ARCHIVES:
        with tarfile.open(HERE / "data" / f"{name}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
    return Material(folder, shared)


@dataclass(frozen=True)
class File:
    """A file of the scenario's folder: a copy of `source` (a file or folder), or `text`, or what `made` returns."""

    path: str
    source: str = ""
    text: str = ""
    made: Callable[[Material], str] | None = None

    def write(self, folder: Path, material: Material) -> None:
        target = folder / self.path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not self.source:
            text = self.made(material) if self.made else self.text
            target.write_text(text, encoding="utf-8")
            return
        found = material.find(self.source)
        if found.is_dir():
            shutil.copytree(found, target, dirs_exist_ok=True)
            make_writable(target)
        else:
            shutil.copyfile(found, target)


def make_writable(folder: Path) -> None:
    """Copies of write-protected files are written to and removed again."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


@dataclass(frozen=True)
class Scenario:
    name: str
    """With slashes: `control/steady`."""
    files: tuple[File, ...]
    commands: tuple[tuple[str, ...], ...]
    """The first word is pytest, clinical-drift, python or a program; `glob:PATTERN` stands for what it finds."""
    quick: bool = False
    """Part of the quick record."""
    shared: bool = False
    """Needs material that is not part of the project."""
    pages: bool = False
    """The words of its HTML pages are kept too."""
    environment: dict[str, str] = field(default_factory=dict)


def expanded(words: tuple[str, ...], folder: Path) -> Iterator[str]:
    """The words of a command, with patterns replaced by the paths that they find."""
    for word in words:
        if not word.startswith("glob:"):
            yield word
            continue
        pattern = word.removeprefix("glob:")
        found = sorted(str(path.relative_to(folder)) for path in folder.glob(pattern))
        yield from found or [pattern]
