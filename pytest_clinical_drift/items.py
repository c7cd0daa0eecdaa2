"""Cases as pytest items: one test per case, with a text that tells what was lost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from .assessment import CaseAssessment
from .cases import Case
from .report.case_text import case_report, headline
from .run import GateRun
from .selection import STUDY
from .transcript import Transcript
from .verdict import INCOMPLETE, CaseVerdict


class CaseFailure(Exception):
    """A case did not get through the gate; its text is the whole message."""


@dataclass(frozen=True, slots=True)
class DriftResult:
    """What a project's own test gets from the `drift_result` fixture."""

    case: Case
    transcripts: tuple[Transcript, ...]
    assessments: tuple[CaseAssessment, ...]
    """One per repeat."""
    verdict: CaseVerdict

    @property
    def assessment(self) -> CaseAssessment:
        """The first (usually the only) repeat."""
        return self.assessments[0]

    @property
    def generation_seconds(self) -> float | None:
        """Time that the subject spent on this case; None when it was not measured."""
        measured = [run.generation_seconds for run in self.assessments if run.generation_seconds is not None]
        return sum(measured) if measured else None


class Gatekeeper(Protocol):
    """What an item needs of the run it belongs to."""

    run: GateRun

    def result(self, case_id: str) -> DriftResult: ...

    def fails(self, verdict: CaseVerdict) -> bool: ...

    def figures(self, result: DriftResult) -> list[tuple[str, object]]: ...


class CaseGroup(pytest.Collector):
    """One case; its test id does not depend on where the case file lies."""

    def __init__(self, *, plugin: Gatekeeper, case_id: str, **kwargs: Any) -> None:
        super().__init__(name=case_id, nodeid=f"{STUDY}/{case_id}", **kwargs)
        self.plugin = plugin

    def collect(self) -> Iterable[pytest.Item]:
        yield CaseItem.from_parent(self, plugin=self.plugin, case_id=self.name)


class CaseItem(pytest.Item):
    """The test of one case on one model."""

    def __init__(self, *, plugin: Gatekeeper, case_id: str, parent: pytest.Collector, **kwargs: Any) -> None:
        slug = plugin.run.slug
        super().__init__(name=slug, parent=parent, nodeid=f"{STUDY}/{case_id}::{slug}", **kwargs)
        self.plugin = plugin
        self.case_id = case_id
        self.result: DriftResult | None = None
        self.add_marker(pytest.mark.clinical_drift)
        for tag in plugin.run.cases[case_id].tags:
            self.add_marker(getattr(pytest.mark, mark_name(tag)))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.case_id} on {self.plugin.run.slug}"

    def setup(self) -> None:
        """Wait for the conversation and score it; a subject that could not be run is an error, not a failure."""
        self.result = self.plugin.result(self.case_id)
        if self.config.getini("drift_junit_properties"):
            self.user_properties.extend(self.plugin.figures(self.result))
        if self.result.verdict.verdict == INCOMPLETE:
            raise CaseFailure(case_report(self.result.verdict, self.result.assessments))

    def runtest(self) -> None:
        if self.result is not None and self.plugin.fails(self.result.verdict):
            raise CaseFailure(case_report(self.result.verdict, self.result.assessments))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return self._repr_failure_py(excinfo, style)

    def _repr_failure_py(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Our own text instead of a traceback; pytest asks here for errors of set-up as well."""
        if not isinstance(excinfo.value, CaseFailure) or self.result is None:
            return super()._repr_failure_py(excinfo, style)
        message = headline(self.result.verdict, self.result.assessments)
        return failure_repr(str(excinfo.value), f"{STUDY}/{self.case_id}", message)


def mark_name(tag: str) -> str:
    """A case's tag as a pytest mark: `pressure:cost` is chosen by `-m pressure_cost`."""
    return re.sub(r"\W+", "_", tag)


def failure_repr(text: str, place: str, message: str) -> ReprExceptionInfo:
    """A failure text whose one-line message survives into junit, with and without xdist."""
    entry = ReprEntryNative([line + "\n" for line in text.splitlines()])
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([entry], None, style="native"),
        reprcrash=ReprFileLocation(place, 0, message),
    )
