"""Templates hold loops, conditions on fields and words: no line over 140 characters, no call but of a macro."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment, nodes

import pytest_clinical_drift

FOLDER = Path(pytest_clinical_drift.__file__).parent / "data" / "templates"
LONGEST_LINE = 140
NOT_CONVERTED = frozenset(
    {
        "dossier.js",
        "review.js",
    }
)
"""Templates that still compute; a template leaves this list with its last fault."""


def faults(name: str, source: str) -> list[str]:
    """What is wrong with a template, or a script of a page: a sentence with the line for each fault."""
    lines = enumerate(source.splitlines(), start=1)
    found = [f"{name}:{number}: {len(line)} characters" for number, line in lines if len(line) > LONGEST_LINE]
    if name.endswith(".j2"):
        found += [f"{name}:{call.lineno}: a call of something that is no macro" for call in foreign_calls(source)]
    return found


def foreign_calls(source: str) -> list[nodes.Call]:
    """Calls of anything but a macro, defined here or imported; filters and tests are no calls."""
    tree = Environment(extensions=["jinja2.ext.do"]).parse(source)
    macros = {"caller"}
    modules = set()
    for macro in tree.find_all(nodes.Macro):
        macros.add(macro.name)
    for imported in tree.find_all(nodes.FromImport):
        macros.update(name if isinstance(name, str) else name[1] for name in imported.names)
    for module in tree.find_all(nodes.Import):
        modules.add(module.target)

    def is_macro(called: nodes.Expr) -> bool:
        if isinstance(called, nodes.Name):
            return called.name in macros
        of_module = isinstance(called, nodes.Getattr) and isinstance(called.node, nodes.Name)
        return of_module and called.node.name in modules

    return [call for call in tree.find_all(nodes.Call) if not is_macro(call.node)]


TEMPLATES = sorted(path.name for path in FOLDER.iterdir() if path.suffix in (".j2", ".js"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_holds_no_program(name: str) -> None:
    """A converted template has no fault, and one that has none is not in the list of the others."""
    found = faults(name, (FOLDER / name).read_text(encoding="utf-8"))
    if name in NOT_CONVERTED:
        assert found, f"{name} has no fault any more: take it out of NOT_CONVERTED"
    else:
        assert not found, "\n".join(found)


def test_list_names_only_templates() -> None:
    assert set(TEMPLATES) >= NOT_CONVERTED


@pytest.mark.parametrize(
    "source",
    [
        "{{ name|upper }}",
        "{% macro row(cell) %}{{ cell }}{% endmacro %}{{ row(1) }}",
        '{% import "charts.j2" as charts %}{{ charts.forest(rows) }}',
        '{% from "charts.j2" import forest as wood %}{{ wood(rows) }}',
        "{% for key, value in rows|items %}{{ value if value is defined }}{% endfor %}",
        "x" * LONGEST_LINE,
    ],
)
def test_linter_accepts(source: str) -> None:
    assert faults("page.html.j2", source) == []


@pytest.mark.parametrize(
    "source",
    [
        "{{ grade_rank(alarm) }}",
        "{{ rows.items() }}",
        '{{ "{:,}".format(count) }}',
        "{% if total(rows) > 3 %}many{% endif %}",
        '{% from "charts.j2" import forest as wood %}{{ forest(rows) }}',
        "x" * (LONGEST_LINE + 1),
    ],
)
def test_linter_refuses(source: str) -> None:
    """One fault, with its line."""
    (fault,) = faults("page.html.j2", "\n" + source)
    assert fault.startswith("page.html.j2:2: ")
