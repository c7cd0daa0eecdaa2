"""The architecture, enforced: imports go one way, pytest stays at the edge, slow libraries late, modules short."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import pytest_clinical_drift

PACKAGE = Path(pytest_clinical_drift.__file__).parent
PICTURE = PACKAGE.parent / "docs" / "architecture.svg"
NAME = PACKAGE.name

# A module imports only from its own layer and from layers before it. errors and the pure metrics serve all.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "metrics"),
    ("cases",),
    ("transcript",),
    ("subjects",),
    ("conversation",),
    ("evidence",),
    # About cases, and would stand beside them if it did not read them with the rules of evidence. The gate asks it only
    # for what can never fire.
    ("authoring",),
    ("judging",),
    ("scoring",),
    ("verdict",),
    ("results",),
    ("report",),
    ("gate",),
    ("ranking",),
    ("plugin", "cli"),
)
ASIDE = {"errors", "metrics", "authoring", "ranking", "plugin", "cli"}
"""Rooms that are not on the way of a conversation, so that the picture leaves them out."""
EVIDENCE = ("reading", "terms", "quantities", "mentions", "facts", "advice", "entities")
"""The same inside evidence; modules at its top come last."""
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
LATE = {"subjects/generation.py", "subjects/kv_pool.py", "subjects/sampling.py"}
"""Modules that are made of a heavy library, and are themselves imported only when their feature is used."""
MOST_LINES, MOST_OF_PLUGIN = 300, 200


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


def own_imports(path: Path) -> Iterator[tuple[tuple[str, ...], int]]:
    """Imported modules of this package, as parts of their names, with line."""
    for name, line, _ in imports(path):
        first, *rest = name.split(".")
        if first == NAME and rest:
            yield tuple(rest), line


def rank_in(layers: Sequence[Sequence[str]], name: str) -> int | None:
    return next((rank for rank, names in enumerate(layers) if name in names), None)


@pytest.mark.parametrize("path", modules(), ids=place)
def test_imports_go_one_way(path: Path) -> None:
    """No module imports from a layer to its right, not even inside a function."""
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if own == "__init__":
        return
    rank = rank_in(LAYERS, own)
    assert rank is not None, f"{place(path)} belongs to no layer; add it to LAYERS"
    for parts, line in own_imports(path):
        other = rank_in(LAYERS, parts[0])
        assert other is not None, f"{place(path)}:{line} imports {parts[0]}, which is in no layer"
        assert other <= rank, f"{place(path)}:{line} ({own}) imports {parts[0]}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "evidence").rglob("*.py")), ids=place)
def test_imports_go_one_way_inside_evidence(path: Path) -> None:
    """Reading knows no term, a mention knows no fact; what gathers the findings stands last."""

    def rank(parts: Sequence[str]) -> int:
        return EVIDENCE.index(parts[0]) if parts[0] in EVIDENCE else len(EVIDENCE)

    own = path.relative_to(PACKAGE / "evidence").with_suffix("").parts
    for parts, line in own_imports(path):
        if parts[0] == "evidence":
            assert rank(parts[1:]) <= rank(own), f"{place(path)}:{line} imports {'.'.join(parts)}"


def test_modules_import_each_other_in_no_circle() -> None:
    """Not even inside one room: whoever reads a module knows what comes before it."""
    names = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path for path in modules()
    }
    needs: dict[str, set[str]] = {}
    for name, path in names.items():
        wanted = {".".join(parts[:depth]) for parts, _ in own_imports(path) for depth in (len(parts), len(parts) - 1)}
        needs[name] = {
            other for other in wanted if other in names and other != name and names[other].name != "__init__.py"
        }
    done: set[str] = set()
    while ready := [name for name, wanted in needs.items() if name not in done and wanted <= done]:
        done.update(ready)
    assert sorted(set(needs) - done) == []


@pytest.mark.parametrize("path", modules(), ids=place)
def test_pytest_and_heavy_libraries_stay_where_they_belong(path: Path) -> None:
    """pytest only at the edge; optional and slow libraries never at module level."""
    own = place(path)
    edge = own in ("plugin.py", "ranking/items.py") or own.startswith("gate/")
    for name, line, top in imports(path):
        root = name.partition(".")[0]
        if root in ("pytest", "_pytest", "xdist"):
            assert edge, f"{own}:{line} imports {root}"
        if not top or own in LATE:
            continue
        module = name.removeprefix(f"{NAME}.").replace(".", "/") + ".py"
        heavy = root in HEAVY or name.startswith("scipy")
        assert not heavy, f"{own}:{line} imports {name} when it is loaded"
        assert module not in LATE, f"{own}:{line} imports {name} when it is loaded"


@pytest.mark.parametrize("path", modules(), ids=place)
def test_modules_fit_a_readers_head(path: Path) -> None:
    """No module above 300 lines; the plugin, which every pytest run loads, stays below 200."""
    most = MOST_OF_PLUGIN - 1 if place(path) == "plugin.py" else MOST_LINES
    assert len(path.read_text(encoding="utf-8").splitlines()) <= most


def test_the_picture_shows_the_rooms_in_their_order() -> None:
    """docs/architecture.svg draws the way of a conversation as the imports have it."""
    drawn = re.findall(r'data-room="(\w+)"', PICTURE.read_text(encoding="utf-8"))
    assert drawn == [name for names in LAYERS for name in names if name not in ASIDE]


def test_importing_the_package_and_plugin_is_light() -> None:
    """An idle run pays for pytest alone: none of our layers, no numpy, no pydantic."""
    program = (
        "import sys, pytest; before = set(sys.modules); import pytest_clinical_drift.plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['pytest_clinical_drift', 'pytest_clinical_drift.plugin']"


def test_public_names_resolve() -> None:
    """Every name that the package promises can be had."""
    for name in pytest_clinical_drift.__all__:
        assert callable(getattr(pytest_clinical_drift, name)), name
    with pytest.raises(AttributeError):
        _ = pytest_clinical_drift.no_such_name
