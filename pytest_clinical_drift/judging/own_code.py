"""The code of a `python:` judge: its module and what that imports of the project, whatever else has been loaded.

The model under test is often a module of the same folder. It must not change who the judge is, else a calibration
made without it would not count.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_clinical_drift.subjects.python import is_foreign


def own_code(module: str) -> str:
    """Hash of a loaded module and of the project's modules that it imports; empty where it has no file.

    Data files, environment variables and modules that are imported by a computed name cannot be seen.
    """
    file = getattr(sys.modules[module], "__file__", None)
    if not file:
        return ""
    parts = module.split(".")
    start = Path(file).resolve()
    above = len(parts) - (start.name != "__init__.py")
    roots = list(dict.fromkeys((start.parents[above], Path.cwd().resolve())))
    sources = {module: start.read_bytes()}
    waiting = [(module, start)]
    while waiting:
        for name in _imported(*waiting.pop(), sources):
            found = _file_of(name, roots)
            if found is None or name in sources or (is_foreign(found) and name.split(".")[0] != parts[0]):
                continue
            sources[name] = found.read_bytes()
            waiting.append((name, found))
    lines = [f"{name} {hashlib.sha256(source).hexdigest()}\n" for name, source in sorted(sources.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _imported(module: str, file: Path, sources: dict[str, bytes]) -> Iterator[str]:
    """Names that a module may import, packages above them included; some are no modules."""
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    try:
        tree = ast.parse(sources[module])
    except (SyntaxError, ValueError):  # an extension module, or one that is generated
        return
    for node in ast.walk(tree):
        named: list[str] = []
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join((*above, *((node.module,) if node.module else ())))
            named = [base, *(f"{base}.{alias.name}" if base else alias.name for alias in node.names)]
        for name in named:
            parts = name.split(".")
            yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1) if name)


def _file_of(name: str, roots: Sequence[Path]) -> Path | None:
    for root in roots:
        place = root.joinpath(*name.split("."))
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if file.is_file():
                return file
    return None
