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
from pytest_clinical_drift.cli import make_parser
from pytest_clinical_drift.gate.options import OPTIONS, SHORT

PACKAGE = Path(pytest_clinical_drift.__file__).parent
MAP = PACKAGE.parent / "docs" / "architecture.md"
LONGEST_MAP = 120
"""Lines: what is longer nobody reads."""
NAME = PACKAGE.name

LINTER = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
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
KNOWN_ELSEWHERE = {"[tool.importlinter]"}
"""What the map names that is neither a file nor code of ours: a table of `pyproject.toml`."""
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


def map_text() -> str:
    return MAP.read_text(encoding="utf-8")


def named_in_code() -> set[str]:
    """What the map sets as code, and the functions beside the diagram of types."""
    text = map_text()
    (diagram,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    prose = text.replace(diagram, "")
    return {*re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose), *re.findall(r"\b[a-z]+_[a-z_]+\b(?!\.)", diagram)}


def found_file(name: str) -> Path | None:
    """A file or folder of the package, of its data or at the top; tests run in a project name files that it writes."""
    for root in (PACKAGE, PACKAGE / "data", PACKAGE.parent):
        if (root / name).exists():
            return root / name
    return None


def defined_names(path: Path) -> set[str]:
    """Classes, functions, methods, fields and constants of a module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
            names |= {node.name, *(f"{node.name}.{method}" for method in methods)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def is_a_command(text: str) -> bool:
    """`--model WORD:TARGET`, `clinical-drift verdict`, `python docs/make_reference.py`."""
    first, _, rest = text.partition(" ")
    if first.startswith("--"):
        return first in {*SHORT, *(name for name, *_ in OPTIONS)}
    if first == "python":
        return found_file(rest) is not None
    if first == "clinical-drift":
        return not rest or f"    {rest} " in make_parser().format_help()
    return False


def test_the_map_is_short() -> None:
    assert len(map_text().splitlines()) <= LONGEST_MAP


def test_the_map_lists_the_layers_in_their_order() -> None:
    """The first column of its table, as the imports have it; what serves all layers comes first."""
    rows = re.findall(r"^\| (`[^|]*`) \|", map_text().partition("## ")[0], re.MULTILINE)
    drawn = [{name.rstrip("/").removesuffix(".py") for name in re.findall(r"`([^`]+)`", row)} for row in rows]
    listed = [set(names.split(" : ")) for names in reversed(LINTER["contracts"][0]["layers"])]
    assert drawn == listed


def test_everything_that_the_map_names_is_there() -> None:
    """A file, a definition of ours, a command, or a text that stands in our code as it is."""
    sources = [path.read_text(encoding="utf-8") for path in modules()]
    known = set().union(*(defined_names(path) for path in modules()))
    named = named_in_code()
    assert len(named) > 120
    missing = set()
    for name in named:
        literal = any(f'"{name}"' in source for source in sources)
        if not (found_file(name) or name in known or literal or is_a_command(name)):
            missing.add(name)
    assert missing == KNOWN_ELSEWHERE


def test_the_map_names_what_its_files_hold() -> None:
    """`OPTIONS` in `gate/options.py`: the name is defined there, in YAML as a key."""
    pairs = re.findall(r"((?:`[\w.]+`(?: and |, ))*`[\w.]+`)\s+in\s+`([\w/.]+\.(?:py|yaml))`", map_text())
    assert len(pairs) > 20
    for names, place in pairs:
        file = found_file(place)
        assert file is not None, place
        for name in re.findall(r"`([\w.]+)`", names):
            if file.suffix == ".yaml":
                assert re.search(rf"^ *{name}:", file.read_text(encoding="utf-8"), re.MULTILINE), f"{name} in {place}"
            else:
                assert name in defined_names(file), f"{name} in {place}"


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
