"""What a person sees while a model answers: a bar on a terminal, lines in a log, nothing with -q; times per test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from engine_cases import make_cases
from engine_runs import arguments, lay_out
from engine_server import ChatServer

FIGURES = r"\d/4 cases, \d+/12 turns, \d+/24 replies, [\d.]+/s, \d+ s left"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return lay_out(pytester, monkeypatch)


def on_a_terminal(project: pytest.Pytester, given: list[str], **environment: str) -> str:
    """Everything that a run writes to a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *given],
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment},
    )
    os.close(theirs)
    pieces: list[bytes] = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # how Linux tells that the other side is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    process.wait()
    return b"".join(pieces).decode()


@pytest.mark.slow
def test_a_terminal_shows_a_bar_and_is_left_clean(project: pytest.Pytester) -> None:
    """Redrawn in place, gone when the test has its conversation; no plain lines."""
    with ChatServer(delay=0.6) as server:
        written = on_a_terminal(project, arguments(server))
    bars = re.findall(rf"\r  \[=* *\] {FIGURES}\x1b\[K", written)
    assert len(bars) > 1
    assert "\r\x1b[K\x1b[A" in written
    assert "clinical-drift: 0/4" not in written


def test_a_log_gets_plain_lines(project: pytest.Pytester) -> None:
    """CI, or whatever else is no terminal: a line that says how far the run is, without control characters."""
    with ChatServer(delay=0.6) as server:
        result = project.runpytest(*arguments(server))
    result.stdout.re_match_lines([rf"clinical-drift: {FIGURES}$"])
    assert "\x1b" not in result.stdout.str()


@pytest.mark.slow
def test_quiet_runs_show_no_progress(project: pytest.Pytester) -> None:
    """-q, on a terminal too."""
    with ChatServer(delay=0.6) as server:
        written = on_a_terminal(project, arguments(server, "-q"))
    assert "cases, " not in written
    assert "\x1b[A" not in written


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
