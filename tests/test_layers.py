"""The architecture, enforced: imports go one way, pytest stays at the edge, slow libraries late."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import pytest_clinical_drift

PACKAGE = Path(pytest_clinical_drift.__file__).parent
PICTURE = PACKAGE.parent / "docs" / "architecture.svg"
MAP = PICTURE.with_suffix(".md")
NAME = PACKAGE.name

LINTER = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
ASIDE = {"core", "errors", "metrics", "versions", "authoring", "ranking", "plugin", "cli"}
"""Layers that are not on the way of a conversation, so that the picture leaves them out."""
HEAVY = {
    "torch",
    "transformers",
    "spacy",
    "scispacy",
    "sentence_transformers",
    "polars",
    "pyarrow",
    "sklearn",
    "pandas",
}
LATE = {"subjects/generation.py", "subjects/kv_pool.py"}
"""Modules that are made of a heavy library, and are themselves imported only when their feature is used."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def place(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def imports(path: Path) -> list[tuple[str, int, bool]]:
    """Imported modules (relative ones resolved) with line, and whether the import stands at module level."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = path.relative_to(PACKAGE).with_suffix("").parts
    found: list[tuple[str, int, bool]] = []

    def visit(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            typing_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            inner = top and not function and not typing_only
            if isinstance(child, ast.Import):
                found.extend((alias.name, child.lineno, inner) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = (NAME, *own[: len(own) - child.level]) if child.level else ()
                name = ".".join((*base, *((child.module or "").split(".") if child.module else ())))
                folder = PACKAGE.joinpath(*name.split(".")[1:]).is_dir() and name.split(".")[0] == NAME
                found.extend((f"{name}.{alias.name}", child.lineno, inner) for alias in child.names if folder)
                if not folder:
                    found.append((name, child.lineno, inner))
            visit(child, inner)

    visit(tree, True)
    return found


def test_imports_go_one_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No import from a later layer, no circle, pytest at the edge: the contracts in pyproject.toml."""
    monkeypatch.chdir(PACKAGE.parent)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


def heavy_imports(path: Path) -> list[str]:
    """Imports at module level that load an optional or slow library."""
    found = []
    for name, line, top in imports(path):
        module = name.removeprefix(f"{NAME}.").replace(".", "/") + ".py"
        heavy = name.partition(".")[0] in HEAVY or name.startswith("scipy") or module in LATE
        if top and heavy:
            found.append(f"{place(path)}:{line} imports {name} when it is loaded")
    return found


@pytest.mark.parametrize("path", [path for path in modules() if place(path) not in LATE], ids=place)
def test_heavy_libraries_are_imported_when_used(path: Path) -> None:
    """Optional and slow libraries never at module level."""
    assert heavy_imports(path) == []


@pytest.mark.parametrize("name", sorted(LATE))
def test_late_modules_are_made_of_a_heavy_library(name: str) -> None:
    """Else they could be imported like any other; and the search for heavy imports finds some."""
    assert heavy_imports(PACKAGE / name) != []


def test_the_picture_shows_the_layers_in_their_order() -> None:
    """docs/architecture.svg draws the way of a conversation as the imports have it."""
    drawn = re.findall(r'data-layer="(\w+)"', PICTURE.read_text(encoding="utf-8"))
    listed = [name for names in reversed(LINTER["contracts"][0]["layers"]) for name in names.split(" : ")]
    assert drawn == [name for name in listed if name not in ASIDE]


def test_the_map_names_files_that_are_there() -> None:
    """Every path in docs/architecture.md lies in the package or at the top; a bare name is that of a file of ours."""
    named = re.findall(r"`([\w.*/-]+\.(?:py|yaml|j2|js|md|toml)|[\w.]+/[\w./]*)`", MAP.read_text(encoding="utf-8"))
    assert len(named) > 200
    given = {"dossier.yaml"}  # a project's own
    for name in {*named} - given:
        found = any(any(root.glob(name.rstrip("/"))) for root in (PACKAGE, PACKAGE / "data", PACKAGE.parent))
        assert found or ("/" not in name and any(PACKAGE.rglob(name))), name


def test_the_map_names_what_its_files_hold() -> None:
    """`CUT_OFF` in `transcript.py`: the name is defined there, as a class, function, constant or macro."""
    pairs = re.findall(r"((?:`\w+`(?: and |, ))*`\w+`) in `([\w/.]+\.(?:py|j2))`", MAP.read_text(encoding="utf-8"))
    assert len(pairs) > 20
    for names, file in pairs:
        folder = PACKAGE.parent if file.startswith("docs/") else PACKAGE
        source = (folder / file).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names.replace(" and ", " ")):
            defined = rf"^ *(?:class|def|async def) {name}\b|^(?:\w+, )*{name}(?:, \w+)*(?::.*)? = |macro {name}\("
            assert re.search(defined, source, re.MULTILINE), f"{name} in {file}"


def test_importing_the_package_and_plugin_is_light() -> None:
    """An idle run pays for pytest and the declared options: none of our layers, no numpy, no pydantic."""
    program = (
        "import sys, pytest; before = set(sys.modules); import pytest_clinical_drift.plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    ours = ("", ".gate", ".gate.options", ".plugin")
    assert loaded.strip() == str([f"pytest_clinical_drift{name}" for name in ours])


def test_public_names_resolve() -> None:
    """Every name that the package promises can be had."""
    for name in pytest_clinical_drift.__all__:
        assert callable(getattr(pytest_clinical_drift, name)), name
    with pytest.raises(AttributeError):
        _ = pytest_clinical_drift.no_such_name
