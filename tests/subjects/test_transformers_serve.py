"""The server subject against a server that we did not write: `transformers serve` with a tiny model."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from engine_cases import make_cases
from engine_models import build_model
from extras import needs

from pytest_clinical_drift.conversation.dialogue import PROBE
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.huggingface import HuggingFaceSubject
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.transcript import Transcript

pytestmark = needs("torch", "transformers", "fastapi", "uvicorn")

CASES = make_cases(3, 2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [f"{case.patient_summary} {turn.message}" for case in CASES for turn in case.turns]
    return build_model(tmp_path_factory.mktemp("served"), [*texts, PROBE], stops=0)


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    """Starts the server on a free port of the loopback interface, and stops it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _wait_for(address: str, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(f"transformers serve ended:\n{process.communicate()[0][-2000:]}")
        try:
            if httpx2.get(address, timeout=2).status_code == 200:
                return
        except httpx2.HTTPError:
            time.sleep(0.2)
    pytest.fail("transformers serve did not come up")


def talk(subject: ServerSubject | HuggingFaceSubject) -> dict[str, Transcript]:
    done: dict[str, Transcript] = {}
    run_conversations(CASES, subject, Plan(), on_finished=lambda t: done.update({t.case_id: t}))
    return done


def test_a_whole_run_against_transformers_serve(url: str, model: Path) -> None:
    """Every conversation comes to its end, with usage; the replies are those of the same model in this process."""
    subject = ServerSubject(f"{model}@{url}", {"max_tokens": "12", "concurrency": "4"})
    assert subject.check(CASES) == []
    served = talk(subject)
    local = talk(HuggingFaceSubject(str(model), {"max_tokens": "12", "dtype": "float32", "device": "cpu"}))
    assert [transcript.failure for transcript in served.values()] == [None] * 3
    for name, transcript in served.items():
        for ours, theirs in zip(local[name].exchanges, transcript.exchanges, strict=True):
            assert theirs.reply is not None
            assert ours.reply is not None
            assert theirs.reply.text == ours.reply.text
            assert theirs.summary.text == ours.summary.text
            assert theirs.summary.usage.prompt_tokens == ours.summary.usage.prompt_tokens


def test_a_model_that_it_does_not_serve_stops_the_run(url: str) -> None:
    """In one sentence, with the server's own words."""
    with pytest.raises(InputError, match="pinned to"):
        ServerSubject(f"another-model@{url}", {}).check(CASES)
