"""What every run promises, whatever the subject: no network, no stray file, no pickle, no secret in what it leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from engine_cases import make_cases
from engine_models import build_model
from engine_server import ChatServer, as_json, completion, reply_text
from guarded_runs import Guarded, run_pytest, state, temporary
from reviewing import KEPT, case, recording

from pytest_clinical_drift import load_cases
from pytest_clinical_drift.errors import DriftError, InputError
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.transcript import Message

KEY, OTHER = "sk-guarded-4711-secret", "hf_guarded_0815_secret"
SECRETS = {
    "CLINICAL_DRIFT_API_KEY": KEY,
    "OPENAI_API_KEY": OTHER,
    "HF_TOKEN": OTHER,
    "MY_PASSWORD": "guarded-swordfish",
}
MODEL = f"""
def make():
    return lambda messages: {KEPT!r} if "handover summary" in messages[-1]["content"] else "Thank you."
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two patients; what a recording says of the second one does not end."""
    folder = tmp_path / "project"
    for name in ("cases", "recorded"):
        (folder / name).mkdir(parents=True)
    for case_id, told in {"anna": [KEPT] * 3, "bela": [KEPT, "word " * 100_000, KEPT]}.items():
        (folder / "cases" / f"{case_id}.yaml").write_text(yaml.safe_dump(case(case_id)), encoding="utf-8")
        (folder / "recorded" / f"{case_id}.jsonl").write_text(recording(case_id, told), encoding="utf-8")
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    return folder


ENDLESS = b'{"choices": [{"message": {"content": "' + b"na " * 4_000_000 + b'"}}]}'


def answer(body: dict[str, Any]) -> Any:
    """A server that repeats the key it was given, wherever it can, and of Bela cannot stop talking."""
    if "Bela" in str(body) and "handover summary" in str(body["messages"][-1]):
        return 200, {"content-type": "application/json"}, ENDLESS
    text = f"{KEPT} Your key is {KEY}. {reply_text(body['messages'])}"
    return as_json({**completion(text), "system_fingerprint": KEY})


def check(found: Guarded) -> None:
    assert "Traceback" not in found.output
    assert "INTERNALERROR" not in found.output
    assert found.tried("connect") == []
    assert found.tried("look up") == []
    assert found.tried("program") == []
    assert found.written_outside("results", ".clinical-drift") == []
    assert list(temporary(found.folder).iterdir()) == []
    whole = found.everything()
    kept = [file for file in state(found.folder).rglob("*") if file.is_file()]
    assert {file.name for file in kept} <= {"store.key", "store.key.lock"}
    assert not [file for file in kept if file.read_text() and file.read_text() in whole]
    for secret in (KEY, OTHER, SECRETS["MY_PASSWORD"]):
        assert secret not in whole
    files = sorted(found.folder.rglob("study_c_results.json"), key=lambda file: len(file.parts))
    (runs,) = (found.folder / "results").glob("*/runs")
    assert [file.parent.parent for file in files] == [found.folder / "results", runs]


@pytest.mark.parametrize(
    ("spec", "code", "said"),
    [
        ("control:steady", 0, "PASSED"),
        pytest.param("python:model:make", 7, "UNSETTLED", marks=pytest.mark.slow),
        pytest.param(
            *("replay:recorded", 6, "the reply has 500,000 characters, over the limit of 200,000"),
            marks=pytest.mark.slow,
        ),
        ("server:../../m@{url}", 6, "response exceeds 4,194,304 bytes; discarded"),
    ],
)
def test_no_network_no_stray_file_no_pickle_no_secret(spec: str, code: int, said: str, project: Path) -> None:
    """Only the given address is spoken to; its echo of the key reaches neither file nor page; no reply is endless."""
    with ChatServer(answer=answer, tells={"/v1/models": {"data": [{"id": "m", "owned_by": KEY}]}}) as server:
        given = ("--model", spec.format(url=server.url), "--drift-cases", "cases", "--junitxml=results/j.xml")
        found = run_pytest(project, *given, port=server.port, environment=SECRETS)
    assert found.code == code, found.output[-3000:]
    assert said in " ".join(found.output.split())
    check(found)
    assert found.tried("pickle") == []
    assert any(header.get("authorization") == f"Bearer {KEY}" for header in server.headers) is spec.startswith("server")
    assert state(project).exists() is spec.startswith(("server", "python"))  # nothing is stored of the others
    assert sum(path.stat().st_size for path in (project / "results").rglob("*") if path.is_file()) < 1_000_000


@pytest.mark.torch
def test_a_local_model_needs_no_network_either(project: Path, tmp_path: Path) -> None:
    """Weights in a folder: nothing is looked up, though the hub is not declared offline."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    model = build_model(tmp_path / "weights", [found.patient_summary for found in make_cases(2)])
    found = run_pytest(
        project,
        *("--model", f"hf:{model}", "--drift-cases", "cases", "--drift-set", "max_tokens=4"),
        environment={
            **SECRETS,
            "HF_HOME": f"{project}/results/hub",
            "TORCHINDUCTOR_CACHE_DIR": f"{project}/results/torch",
        },
    )
    assert found.code in (1, 6), found.output[-3000:]  # a random model remembers nothing, or does not come to an end
    check(found)


def _use(subject: Any) -> None:
    subject.check(make_cases(1))
    subject.identity()
    subject.respond(Request("case-001", 0, 1, "dialogue", (Message("user", "hello"),)))


@pytest.mark.torch
def test_code_that_comes_with_weights_is_not_run(tmp_path: Path) -> None:
    """`trust_remote_code` stays off: a folder that brings its own class is refused, and nothing of it runs."""
    pytest.importorskip("transformers")
    from pytest_clinical_drift.subjects.spec import build_subject, parse_spec

    folder, trace = tmp_path / "weights", tmp_path / "ran"
    folder.mkdir()
    config = {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "evil.py").write_text(f"open({str(trace)!r}, 'w').write('x')\n", encoding="utf-8")
    subject = build_subject(parse_spec(f"hf:{folder}"), {})
    with pytest.raises(DriftError):
        _use(subject)
    assert not trace.exists()


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system ['touch ran']", "!!python/name:os.system"])
def test_yaml_is_loaded_safely(tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag that would call Python is refused with file and line."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "case.yaml"
    file.write_text(f"id: x\npatient_summary: {tag}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"case\.yaml, line 2: not valid YAML \(could not determine a constructor"):
        load_cases(file)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["../up", "/etc/x", "a/b", "a\\b", "..", ".hidden", "a\n", "", "con\x00"])
def test_a_case_id_is_a_plain_name(name: str, tmp_path: Path) -> None:
    """It becomes part of file names, so that nothing but letters, digits, dots and hyphens is taken."""
    file = tmp_path / "case.json"
    file.write_text(json.dumps({**case("anna"), "id": name}), encoding="utf-8")
    with pytest.raises(InputError, match=r"case\.json, line 1: id: "):
        load_cases(file)


@pytest.mark.parametrize("name", ["server:a\x1b[31mb@http://127.0.0.1:1/v1", "replay:\u202egnp", "control:\x00"])
def test_a_model_name_can_be_printed(name: str) -> None:
    """It stands in every header and report, so that nothing that steers a terminal is taken for one."""
    from pytest_clinical_drift.subjects.spec import parse_spec

    with pytest.raises(InputError, match="holds characters that cannot be shown"):
        parse_spec(name)
