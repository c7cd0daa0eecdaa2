"""The files that `clinical-drift start` writes into a project, line by line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clinical_drift.report.page import text_lines

_TEMPLATE = "start.txt.j2"


@dataclass(frozen=True, slots=True)
class Project:
    """What the files say of a project."""

    model: str
    judges: Sequence[str]
    settings: Mapping[str, Any]
    """Of the model."""
    judge_settings: Mapping[str, Any]
    keys: Sequence[str]
    """Environment variables that hold keys of servers."""


def pytest_ini(project: Project) -> list[str]:
    return text_lines(_TEMPLATE, "pytest_ini", project=project)


def thresholds_file() -> list[str]:
    return text_lines(_TEMPLATE, "thresholds")


def ci_file(system: str, project: Project, package: str) -> list[str]:
    """The workflow of a CI system, github or gitlab; `package` is what it installs."""
    return text_lines(_TEMPLATE, system, project=project, package=package)
