"""All scenarios, by area."""

from __future__ import annotations

from benchmarks.golden import commands, faults, hostile, judges, people, ranked, real, runs, split
from benchmarks.golden.scenario import Scenario

_MODULES = (runs, real, judges, split, people, ranked, hostile, faults, commands)


def scenarios() -> list[Scenario]:
    """Every scenario, those of the quick record first; names are unique."""
    found = [one for module in _MODULES for one in module.scenarios()]
    names = [one.name for one in found]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    return sorted(found, key=lambda one: not one.quick)
