"""A whole pytest run on a local model: the command line a user types, on a model small enough for a test."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from engine_cases import make_cases
from engine_models import build_model
from engine_runs import lay_out

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built before pytester comes in: it forgets every module that a test imports, and torch cannot be loaded twice."""
    folder, texts = tmp_path_factory.mktemp("models"), [case.patient_summary for case in make_cases(2)]
    build_model(folder / "short", texts)
    build_model(folder / "endless", texts, stops=0, max_position_embeddings=110_000)
    return folder


@pytest.fixture(autouse=True)
def offline_and_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def test_a_local_model_is_gated_and_its_replies_are_kept(
    models: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest names the weights by their hash; the second run generates nothing and says so."""
    lay_out(pytester, monkeypatch, make_cases(2, 2))
    shutil.copytree(models / "short", pytester.path / "model")
    arguments = ["--drift-model", "hf:./model", "--drift-cases", "cases.json", "--drift-set", "max_tokens=8"]
    first = pytester.runpytest_subprocess(*arguments)
    second = pytester.runpytest_subprocess(*arguments, "--drift-results", "again")
    assert first.ret == second.ret == 1  # a random model remembers nothing
    manifests = [
        json.loads(next(pytester.path.glob(f"{folder}/*/study_c_results.json")).read_text())["manifest"]
        for folder in ("results", "again")
    ]
    assert manifests[0]["identity_proven"] is True
    assert manifests[0]["revision"] == manifests[1]["revision"]
    assert [manifest["replies_reused"] for manifest in manifests] == [0, 8]
    second.stdout.fnmatch_lines(["*8 replies reused from the store, the oldest generated at*"])
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
    result.assert_outcomes(errors=1, skipped=1)  # the first case; the set is partial
    result.stdout.fnmatch_lines(["*context length exceeded*"])
    assert not list(pytester.path.glob("results/*/transcripts/case-002.jsonl"))
