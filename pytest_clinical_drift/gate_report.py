"""The gate on the whole set as one more test result, and figures for junit files."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from _pytest.junitxml import xml_key

from .items import failure_repr
from .outcome import RunOutcome
from .report.clean import one_line, printable
from .selection import STUDY
from .verdict import CAUTION, FAIL, INCOMPLETE, PARTIAL, SetVerdict

GATE = "whole-set"


def report_gate(session: pytest.Session, outcome: RunOutcome, verdict: SetVerdict) -> None:
    """Send the set's result where the results of tests go: terminal, junit and exit code; on the controller only."""
    config = session.config
    if (terminal := config.pluginmanager.get_plugin("terminalreporter")) is not None:
        terminal.ensure_newline()
    slug, figures = outcome.run.slug, outcome.gate_properties()
    when, result, longrepr = _result(outcome, verdict)
    phases: list[tuple[Any, Any, Any]] = [(when, result, longrepr), ("teardown", "passed", None)]
    for phase, phase_result, detail in phases:
        report = pytest.TestReport(
            nodeid=f"{STUDY}/{GATE}::{slug}",
            location=(f"{STUDY}/{GATE}", None, slug),
            keywords={},
            outcome=phase_result,
            longrepr=detail,
            when=phase,
            user_properties=figures if config.getini("drift_junit_properties") else [],
        )
        report.drift_figures = figures  # type: ignore[attr-defined]
        report.drift_gate = True  # type: ignore[attr-defined]
        report.drift_verdict = verdict.verdict  # type: ignore[attr-defined]
        if phase == when:
            session.testscollected += 1
            config.hook.pytest_runtest_logstart(nodeid=report.nodeid, location=report.location)
            write_figures(config, report)
        config.hook.pytest_runtest_logreport(report=report)


def _result(outcome: RunOutcome, verdict: SetVerdict) -> tuple[Any, Any, Any]:
    """Phase, outcome and text of the report: INCOMPLETE is an error of set-up, PARTIAL a skip."""
    if verdict.verdict == PARTIAL:
        return "call", "skipped", (f"{STUDY}/{GATE}", None, verdict.headline)
    strict = outcome.run.settings.strict and verdict.verdict == CAUTION
    if verdict.verdict not in (FAIL, INCOMPLETE) and not strict:
        return "call", "passed", None
    message = f"{verdict.headline}: {'; '.join(verdict.reasons)}" if verdict.reasons else verdict.headline
    text = "\n".join((verdict.headline, *(f"  {reason}" for reason in verdict.reasons), "the table stands at the end"))
    longrepr = failure_repr(text, f"{STUDY}/{GATE}", one_line(message, 300))
    return "setup" if verdict.verdict == INCOMPLETE else "call", "failed", longrepr


def name_suite(config: pytest.Config, name: str) -> None:
    """Name the junit suite after the model, unless the project has named it."""
    xml = config.stash.get(xml_key, None)
    if xml is not None and xml.suite_name == "pytest":
        xml.suite_name = name


def write_figures(config: pytest.Config, report: pytest.TestReport) -> None:
    """Figures as `name=value` lines in junit's system-out, which CI pages show."""
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    figures: list[tuple[str, object]] = getattr(report, "drift_figures", [])
    element = ElementTree.Element("system-out")
    element.text = "\n".join(f"{name}={printable(str(value))}" for name, value in figures)
    xml.node_reporter(report).append(element)
