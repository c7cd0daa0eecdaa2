"""Bad input: one clear sentence with the place, exit code 4, never a traceback."""

from __future__ import annotations

import json

import pytest
import yaml
from small_project import Project, refused


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("gpt:large", "unknown prefix 'gpt:'"),
        ("qwen@http://127.0.0.1:1/v1", "did you mean server:qwen@http://127.0.0.1:1/v1?"),
        ("control:", "missing value after control:"),
        ("control:nobody", "steady"),
        ("replay:nowhere.jsonl", "no such file"),
        ("python:nomodule:make", "cannot import nomodule"),
        ("python:json:nofactory", "has no nofactory"),
        ("python:json", "write python:module:factory"),
        ("python:json:loads", "the factory raised"),
    ],
)
def test_spec(project: Project, spec: str, expected: str) -> None:
    """A SPEC that cannot work is refused before anything runs."""
    assert expected in refused(project(), "--model", spec, "--drift-cases", "mycases")


MODEL = ("--model", "python:model:make")


def test_missing_cases(project: Project) -> None:
    """A folder of cases that is not there."""
    assert "no such file or folder" in refused(project(), *MODEL, "--drift-cases", "nowhere")


def test_broken_case(project: Project) -> None:
    """Unreadable YAML among the cases names file and line."""
    pytester = project()
    (pytester.path / "mycases" / "broken.yaml").write_text("id: [x\nturns: y", encoding="utf-8")
    message = refused(pytester, *MODEL, "--drift-cases", "mycases")
    assert "broken.yaml, line 2" in message


def test_a_fact_that_nobody_tells(project: Project) -> None:
    """A model cannot forget what its record does not say: the case is refused, the model not failed."""
    pytester = project()
    file = pytester.path / "mycases" / "anna.yaml"
    case = yaml.safe_load(file.read_text(encoding="utf-8"))
    case["critical_entities"].append({"id": "clot", "text": "pulmonary embolism in 2021", "kind": "diagnosis"})
    file.write_text(yaml.safe_dump(case, sort_keys=False), encoding="utf-8")
    message = refused(pytester, *MODEL, "--drift-cases", "mycases")
    assert "anna.yaml, line " in message
    assert "'pulmonary embolism in 2021' not found in the patient summary" in message


def test_two_cases_of_one_id(project: Project) -> None:
    """The same id twice names both files."""
    pytester = project()
    text = (pytester.path / "mycases" / "anna.yaml").read_text(encoding="utf-8")
    (pytester.path / "mycases" / "again.yaml").write_text(text, encoding="utf-8")
    message = refused(pytester, *MODEL, "--drift-cases", "mycases")
    assert "anna.yaml" in message
    assert "again.yaml" in message


def test_case_of_one_turn(project: Project) -> None:
    """Drift cannot be measured on one turn."""
    assert "at least 2 turns" in refused(project(turns=1), *MODEL, "--drift-cases", "mycases")


@pytest.mark.parametrize(
    ("written", "misspelt", "expected"),
    [
        ("hard_stop: true\n", "hard_stop: true\n  forbids: [penicillin, nsiad]\n", "fact allergy: forbids 'nsiad'"),
        ("message: Question number 2?\n", "message: Two?\n  expect: {must_not: [take nsiad]}\n", "turn 2: must_not"),
    ],
)
def test_what_can_never_fire(project: Project, written: str, misspelt: str, expected: str) -> None:
    """A rule about something unknown ends the run with file, line, place and the nearest known name."""
    pytester = project()
    file = pytester.path / "mycases" / "bela.yaml"
    text = file.read_text(encoding="utf-8").replace(written, misspelt)
    file.write_text(text, encoding="utf-8")
    line = next(number for number, said in enumerate(text.splitlines(), 1) if "nsiad" in said)
    message = refused(pytester, *MODEL, "--drift-cases", "mycases")
    assert f"bela.yaml, line {line}: {expected}" in message
    assert message.endswith("did you mean nsaid?")


def test_update_of_an_unknown_fact(project: Project) -> None:
    """An update that names no fact ends the run with its line and the nearest fact."""
    pytester = project()
    file = pytester.path / "mycases" / "bela.yaml"
    text = file.read_text(encoding="utf-8").replace(
        "Question number 2?\n", "Two?\n  updates:\n  - {fact: alergy, ended: true}\n"
    )
    file.write_text(text, encoding="utf-8")
    line = next(number for number, said in enumerate(text.splitlines(), 1) if "alergy" in said)
    message = refused(pytester, *MODEL, "--drift-cases", "mycases")
    assert f"bela.yaml, line {line}: turn 2 updates 'alergy'" in message
    assert message.endswith("did you mean allergy?")


def test_thresholds(project: Project) -> None:
    """A gate with an unknown metric is refused with its file and line."""
    pytester = project()
    (pytester.path / "limits.yaml").write_text(
        "clinical_drift:\n  metrics:\n    bleu: {direction: higher, pass: '> 1', caution: '> 0', why: none}\n",
        encoding="utf-8",
    )
    message = refused(pytester, *MODEL, "--drift-cases", "mycases", "--drift-thresholds", "limits.yaml")
    assert "limits.yaml, line 3" in message
    assert "unknown metric 'bleu'" in message


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--drift-set", "temperature"), "write KEY=VALUE"),
        (("--drift-set", "colour=blue"), "valid settings: concurrency, deadline, revision, timeout"),
        (("--drift-repeats", "0"), "at least 1"),
        (("--drift-repeats", "two"), "whole number"),
        (("--drift-nli-stride", "-1"), "at least 1"),
        (("--drift-prices", "2.5"), "expected two prices of 0 or more such as 2.5,10"),
        (("--drift-prices", "nan,1"), "expected two prices of 0 or more"),
        (("--drift-judge", "oracle"), "write one of rules, server:MODEL@URL"),
        (("--drift-ner", "oracle"), "oracle"),
        (("--drift-system", "nowhere.txt"), "cannot be read"),
        (("--drift-thresholds", "nowhere.yaml"), "cannot be read"),
    ],
)
def test_options(project: Project, arguments: tuple[str, ...], expected: str) -> None:
    """Each option says what it expected."""
    assert expected in refused(project(), *MODEL, "--drift-cases", "mycases", *arguments)


def recording(pytester: pytest.Pytester, rows: list[dict[str, object]]) -> str:
    (pytester.path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return "replay:run.jsonl"


def row(case_id: str, turn: int, variant: str, **extra: object) -> dict[str, object]:
    return {
        "case_id": case_id,
        "turn_num": turn,
        "variant": variant,
        "response_text": "There is nothing to say of her.",
        "status": "ok",
        **extra,
    }


def test_replay_faults(project: Project) -> None:
    """Empty, foreign, half and garbled recordings are each told in a sentence."""
    pytester = project("anna")
    cases = ("--drift-cases", "mycases")
    assert "the recording is empty" in refused(pytester, "--model", recording(pytester, []), *cases)
    foreign = recording(pytester, [row("zoe", 1, "summary")])
    assert "none of its 1 recorded cases" in refused(pytester, "--model", foreign, *cases)
    half = recording(pytester, [row("anna", turn, kind) for turn in (1, 2) for kind in ("summary", "dialogue")])
    assert "has no summary for turn 3–4 of 4" in refused(pytester, "--model", half, *cases)
    (pytester.path / "run.jsonl").write_text('{"case_id": "anna"\n', encoding="utf-8")
    assert "run.jsonl, line 1: not valid JSON" in refused(pytester, "--model", "replay:run.jsonl", *cases)
    odd = recording(pytester, [row("anna", 1, "poem")])
    assert "variant must be" in refused(pytester, "--model", odd, *cases)


def test_recorded_failure_is_incomplete(project: Project) -> None:
    """A row with status error ends its case as INCOMPLETE; the rest of the run is kept (exit code 6)."""
    pytester = project("anna", "bela")
    rows = [row("anna", turn, kind) for turn in (1, 2, 3, 4) for kind in ("dialogue", "summary")]
    rows += [row("bela", 1, "dialogue"), row("bela", 1, "summary", status="error", error="CUDA out of memory")]
    rows += [row("stranger", 1, "summary")]
    result = pytester.runpytest("--model", recording(pytester, rows), "--drift-cases", "mycases")
    assert result.ret == 1  # what anna's recording says has nothing to do with her facts
    result.stdout.fnmatch_lines(
        ["*1 recorded case is not in the set, ignored: stranger*", "*turn 1, summary: CUDA out of memory*"]
    )


def test_drift_options_without_a_model(pytester: pytest.Pytester) -> None:
    """Our options alone say what is missing."""
    assert refused(pytester, "--drift-strict") == "--drift-strict needs --drift-model SPEC"
