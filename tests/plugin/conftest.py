"""A small project to run pytest in: its own cases and a scripted model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

# runs inside this process drop what they have imported: numpy cannot be loaded twice, and our vocabularies take seconds
import numpy.random  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
from inner_runs import vocabularies_are_no_garbage
from judged_project import write_judge, write_measured
from results_check import check_results_below
from small_project import ARGUMENTS, MODEL, SAID, SUMMARY, Project, case_text

import pytest_clinical_drift.gate.hooks
import pytest_clinical_drift.ranking.items  # noqa: F401

with contextlib.suppress(ImportError):
    import polars  # noqa: F401


@pytest.fixture(scope="session", autouse=True)
def _no_garbage() -> None:
    vocabularies_are_no_garbage()


@pytest.fixture(autouse=True)
def _results_keep_to_the_schema(pytester: pytest.Pytester) -> Iterator[None]:
    """Checked from outside, after every test."""
    yield
    check_results_below(pytester.path)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """Lay out `mycases/`, `model.py` and a judge with its calibration in a fresh folder."""

    def build(*case_ids: str, forget_from: int = 99, breaks_at: int = 0, turns: int = 4) -> pytest.Pytester:
        folder = pytester.mkdir("mycases")
        for case_id in case_ids or ("anna", "bela", "cleo"):
            (folder / f"{case_id}.yaml").write_text(case_text(case_id, turns), encoding="utf-8")
        pytester.makepyfile(model=MODEL.format(forget_from=forget_from, breaks_at=breaks_at, summary=SUMMARY))
        write_judge(pytester.path, true=SAID)
        write_measured(pytester.path)
        return pytester

    return build


@pytest.fixture
def gate(project: Project) -> Callable[..., pytest.RunResult]:
    """Run the gate on the small project; keyword arguments shape the model."""

    def run(*arguments: str, **shape: int) -> pytest.RunResult:
        pytester = project(**shape)  # type: ignore[arg-type]
        return pytester.runpytest(*ARGUMENTS, *arguments)

    return run
