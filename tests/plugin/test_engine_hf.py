"""A whole pytest run on a local model: the command line a user types, on a model small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine_cases import make_cases
from engine_models import build_model

pytest.importorskip("torch")
pytest.importorskip("transformers")

ROOT = Path(__file__).parents[2]


def test_a_local_model_is_gated_and_its_replies_are_kept(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest names the weights by their hash; the second run generates nothing and says so."""
    cases = make_cases(2, 2)
    pytester.path.joinpath("cases.json").write_text(
        json.dumps([case.model_dump(mode="json", exclude_none=True) for case in cases])
    )
    build_model(pytester.path / "model", [case.patient_summary for case in cases])
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
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
    second.stdout.re_match_lines([r".*8 replies were reused.*", r".*oldest reused reply was generated at 20.*"])
    assert manifests[0]["replies_reused_since"] is None
    assert manifests[1]["replies_reused_since"].startswith("20")
    transcripts = [
        {file.name: file.read_text() for file in pytester.path.glob(f"{folder}/*/transcripts/*")}
        for folder in ("results", "again")
    ]
    assert transcripts[0] == transcripts[1]
