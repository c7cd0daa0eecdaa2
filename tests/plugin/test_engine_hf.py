"""A whole pytest run on a local model: the command line a user types, on a model small enough for a test."""

from __future__ import annotations

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from engine_cases import make_cases
from engine_models import PLAIN, build_model
from engine_runs import ROOT, lay_out, results
from extras import needs

pytestmark = needs("torch", "transformers")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built before pytester comes in: it forgets every module that a test imports, and torch cannot be loaded twice."""
    folder, texts = tmp_path_factory.mktemp("models"), [case.patient_summary for case in make_cases(2)]
    build_model(folder / "short", texts)
    no_system = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + PLAIN
    build_model(folder / "no-system", texts, template=no_system)
    build_model(folder / "endless", texts, stops=0, max_position_embeddings=110_000)
    return folder


@pytest.fixture(autouse=True)
def offline_and_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def test_a_local_model_is_gated_and_its_replies_are_kept(
    models: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest names the weights by their hash; the second run generates nothing and says so.

    With workers too: one process, and no worker, holds the weights.
    """
    lay_out(pytester, monkeypatch, make_cases(2, 2))
    shutil.copytree(models / "short", pytester.path / "model")
    arguments = ["--drift-model", "hf:./model", "--drift-cases", "cases.json", "--drift-set", "max_tokens=8"]
    first = pytester.runpytest_subprocess(*arguments, "-n", "2")
    second = pytester.runpytest_subprocess(*arguments, "--drift-results", "again")
    # random letters are no English text, in which rules would confirm a loss, and the token limit cuts them off
    assert first.ret == second.ret == 6
    manifests = [
        json.loads(next(pytester.path.glob(f"{folder}/*/study_c_results.json")).read_text())["manifest"]
        for folder in ("results", "again")
    ]
    assert manifests[0]["identity_proven"] is True
    assert manifests[0]["revision"] == manifests[1]["revision"]
    assert [manifest["replies_reused"] for manifest in manifests] == [0, 8]
    second.stdout.fnmatch_lines(["  8 of 8 replies come from an earlier run of this model, the oldest of*"])
    assert manifests[0]["replies_reused_since"] is None
    assert manifests[1]["replies_reused_since"].startswith("20")
    transcripts = [
        {file.name: file.read_text() for file in pytester.path.glob(f"{folder}/*/transcripts/*")}
        for folder in ("results", "again")
    ]
    assert transcripts[0] == transcripts[1]


def test_the_first_error_stops_a_running_generation(
    models: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With -x, while the other case is at a reply of a hundred thousand tokens: the run ends, the reply does not."""
    too_long, endless = make_cases(2, 2)
    patient_summary = f"{too_long.patient_summary} {'Much was noted. ' * 30_000}"
    lay_out(pytester, monkeypatch, [too_long.model_copy(update={"patient_summary": patient_summary}), endless])
    given = ("--drift-model", f"hf:{models / 'endless'}", "--drift-cases", "cases.json")
    result = pytester.runpytest_subprocess(*given, "--drift-set", "max_tokens=100000", "-x", timeout=240)
    result.assert_outcomes(errors=1)  # the first case; the set is partial
    result.stdout.fnmatch_lines(["*context length exceeded*"])
    assert not list(pytester.path.glob("results/*/transcripts/case-002.jsonl"))


def refused(pytester: pytest.Pytester, spec: str, *more: str) -> str:
    """What is said of a model that cannot be used: one line, exit code 4, before any test."""
    result = pytester.runpytest_subprocess("--drift-model", spec, "--drift-cases", "cases.json", *more, timeout=240)
    assert result.ret == 4, result.stdout.str()
    (line,) = [line for line in result.errlines if line.startswith("ERROR")]
    assert "Traceback" not in "".join(result.errlines)
    return line


def test_a_model_that_cannot_be_had_is_one_sentence_with_what_to_do(
    models: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offline, no weights in the folder, no chat template: the sentence names the remedy."""
    lay_out(pytester, monkeypatch, make_cases(1, 2))
    assert "not on this machine and the hub cannot be reached; connect once" in refused(pytester, "hf:no-one/no-such")
    assert "no such folder" in refused(pytester, "hf:./nothing")
    for name, missing in (("hollow", "*.safetensors"), ("base", "chat_template*")):
        shutil.copytree(models / "short", pytester.path / name)
        for file in (pytester.path / name).glob(missing):
            file.unlink()
    assert "no weights; download the whole repository" in refused(pytester, "hf:./hollow")
    assert "no chat template, so that it cannot converse; take the instruct version" in refused(pytester, "hf:./base")


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (403, "GatedRepo", "the repository is gated: accept its terms on the hub, then log in with `hf auth login`"),
        (401, "RepoNotFound", "no such repository on the hub, or it is private; check its name"),
    ],
)
def test_what_the_hub_refuses_is_one_sentence_with_what_to_do(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, status: int, code: str, words: str
) -> None:
    """A hub of ours answers as the real one does, for a gated and for an unknown repository."""

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("X-Error-Message", "Access to model someone/medical is restricted.")
            self.send_header("content-length", "0")
            self.end_headers()

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    hub = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    try:
        lay_out(pytester, monkeypatch, make_cases(1, 2))
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{hub.server_port}")
        monkeypatch.setenv("HF_HOME", str(pytester.path / "hub"))
        monkeypatch.delenv("HF_TOKEN", raising=False)
        assert words in refused(pytester, "hf:someone/medical")
    finally:
        hub.shutdown()


def test_too_little_memory_is_an_outage_with_what_to_do(
    models: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine on which nothing fits: INCOMPLETE, exit code 6."""
    lay_out(pytester, monkeypatch, make_cases(1, 2))
    pytester.path.joinpath("starve.py").write_text(
        "import torch\n"
        "from transformers import LlamaForCausalLM\n"
        "def forward(self, *args, **kwargs):\n"
        "    raise torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 20.00 GiB')\n"
        "import functools\n"
        "LlamaForCausalLM.forward = functools.wraps(LlamaForCausalLM.forward)(forward)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{pytester.path}")
    given = ("--drift-model", f"hf:{models / 'short'}", "--drift-cases", "cases.json", "-p", "starve")
    result = pytester.runpytest_subprocess(*given, timeout=240)
    assert result.ret == 6
    (case,) = results(pytester)["cases"]
    cause = "turn 1, reply: out of memory with a single conversation; take a smaller model"
    assert case["repeats"][0]["incomplete"].startswith(cause)


def test_a_template_without_a_system_role_still_gets_the_deployed_prompt(
    models: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every text is generated: the system prompt went before the first message. Four tokens are too few to judge."""
    lay_out(pytester, monkeypatch, make_cases(1, 2))
    pytester.path.joinpath("system.txt").write_text("You are a nurse.")
    given = ("--drift-model", f"hf:{models / 'no-system'}", "--drift-cases", "cases.json")
    result = pytester.runpytest_subprocess(
        *given, "--drift-system", "system.txt", "--drift-set", "max_tokens=4", timeout=240
    )
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*the summary was cut off by the token limit*"])
    (file,) = pytester.path.glob("results/*/transcripts/*.jsonl")
    told = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["status"] for line in told] == ["ok"] * 4
