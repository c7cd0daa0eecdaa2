"""The architecture, enforced: imports go one way, pytest stays at the edge, heavy libraries are imported when used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_clinical_drift

PACKAGE = Path(pytest_clinical_drift.__file__).parent

# A module imports only from its own layer and from layers above it in this list (errors: from anywhere).
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("cases", "case_files"),
    ("transcript",),
    ("subjects",),
    ("conversation",),
    ("evidence",),
    ("metrics", "ranking"),
    ("assessment", "thresholds"),
    ("scoring", "lapses", "study_c", "sanity"),
    ("verdict", "judgement", "case_values", "set_verdict", "repeats", "trend"),
    ("baseline", "baseline_verdict", "supplement", "token_account"),
    ("report",),
    ("estimate", "comparison", "run", "similarity", "lint", "plans", "ledger"),
    ("options", "selection", "outcome", "slate_run"),
    ("items", "gate_report", "slate_items", "hooks", "plugin", "cli"),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
EDGE = {"plugin.py", "hooks.py", "items.py", "gate_report.py", "slate_items.py"}
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


# Modules that are made of a heavy library, and are themselves imported only when their feature is used.
LATE = {"subjects/kv_batch.py", "subjects/generation.py", "subjects/grouped_attention.py"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer_of(module: str) -> str:
    """`evidence.text` belongs to `evidence`."""
    return module.partition(".")[0]


def imports(path: Path) -> list[tuple[str, int, bool]]:
    """Imported modules (relative ones resolved) with line, and whether the import stands at module level."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = path.relative_to(PACKAGE).with_suffix("").parts
    found: list[tuple[str, int, bool]] = []

    def visit(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            typing_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
            inner = (
                top and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not typing_only
            )
            if isinstance(child, ast.Import):
                found.extend((alias.name, child.lineno, inner) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = ("pytest_clinical_drift", *own[: len(own) - child.level]) if child.level else ()
                name = ".".join((*base, *((child.module or "").split(".") if child.module else ())))
                if name == "pytest_clinical_drift":
                    found.extend((f"{name}.{alias.name}", child.lineno, inner) for alias in child.names)
                else:
                    found.append((name, child.lineno, inner))
            visit(child, inner)

    visit(tree, True)
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    """No module imports from a layer to its right, not even inside a function."""
    own = layer_of(".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    if own == "__init__":
        return
    assert own in RANK, f"{path.name} belongs to no layer; add it to LAYERS"
    for name, line, _ in imports(path):
        if name.startswith("pytest_clinical_drift."):
            other = layer_of(name.removeprefix("pytest_clinical_drift."))
            assert RANK[other] <= RANK[own], f"{path.name}:{line} ({own}) imports {other}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_pytest_and_heavy_libraries_stay_where_they_belong(path: Path) -> None:
    """pytest only at the edge; optional and slow libraries never at module level."""
    for name, line, top in imports(path):
        root = name.partition(".")[0]
        if root in ("pytest", "_pytest", "xdist"):
            assert path.name in EDGE, f"{path.name}:{line} imports {root}"
        if not top or str(path.relative_to(PACKAGE)) in LATE:
            continue
        module = name.removeprefix("pytest_clinical_drift.").replace(".", "/") + ".py"
        heavy = root in HEAVY or name.startswith("scipy")
        assert not heavy, f"{path.name}:{line} imports {name} when it is loaded"
        assert module not in LATE, f"{path.name}:{line} imports {name} when it is loaded"


def test_metrics_and_ranking_do_not_know_each_other() -> None:
    """The two families share nothing but what lies to their left."""
    for family, other in (("metrics", "ranking"), ("ranking", "metrics")):
        for path in (PACKAGE / family).rglob("*.py"):
            for name, line, _ in imports(path):
                assert not name.startswith(f"pytest_clinical_drift.{other}"), f"{path.name}:{line}"


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
