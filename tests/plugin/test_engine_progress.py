"""What a person sees while a model answers: a line now and then, nothing with -q; times per test."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from engine_cases import make_cases
from engine_runs import arguments, lay_out
from engine_server import ChatServer

FIGURES = r"\d/4 cases, \d+/12 turns, \d+/24 replies, [\d.]+/s, \d+ s left"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return lay_out(pytester, monkeypatch)


def test_a_line_says_how_far_the_run_is(project: pytest.Pytester) -> None:
    """Plain text, without control characters."""
    with ChatServer(delay=0.6) as server:
        result = project.runpytest(*arguments(server))
    result.stdout.re_match_lines([rf"clinical-drift: {FIGURES}$"])
    assert "\x1b" not in result.stdout.str()


def test_quiet_runs_show_no_progress(project: pytest.Pytester) -> None:
    """-q."""
    with ChatServer(delay=0.6) as server:
        result = project.runpytest(*arguments(server, "-q"))
    result.stdout.no_re_match_line(".*cases, .*replies")


@pytest.mark.slow
def test_each_test_tells_its_own_generation_time(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one request at a time the first test waits for nearly all; its time is that of its own six requests.

    The server takes 0.2 s for each, so that no case can have been generated in less than 1.2 s.
    """
    project = lay_out(pytester, monkeypatch, make_cases(4))
    with ChatServer(delay=0.2) as server:
        more = ("--drift-set", "concurrency=1", "--junitxml=junit.xml", "--durations=0", "-vv")
        result = project.runpytest(*arguments(server, *more))
    cases = [
        case
        for case in ElementTree.parse(project.path / "junit.xml").getroot().iter("testcase")
        if "case-00" in f"{case.get('classname')}{case.get('name')}"
    ]
    times = [float(case.get("time", "nan")) for case in cases]
    assert len(times) == 4
    assert min(times) >= 1.2
    assert max(times) < sum(times) / 2
    assert [line for line in result.outlines if re.match(r"\d+\.\d\ds setup +study_c/case-001", line)]
