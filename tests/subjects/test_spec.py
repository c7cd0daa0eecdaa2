"""SPECs as names of models: when two of them name one."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.judging.chat import HuggingFaceJudge
from pytest_clinical_drift.subjects import local_model
from pytest_clinical_drift.subjects.spec import on_this_machine, parse_spec, same_model


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("server:m@http://localhost:8000/v1", "server:m@http://127.0.0.1:8000/v1/", True),
        ("server:m@http://localhost:8000", "server:m@http://[::1]:8000/v1", True),
        ("server:m@https://models.example", "server:m@https://models.example:443/v1", True),
        ("server:m@https://models.example/a/v1", "server:m@https://models.example/b/v1", False),
        ("server:m@http://localhost:8000/v1", "server:n@http://localhost:8000/v1", False),
        ("server:m@http://localhost:8000/v1", "server:m@http://localhost:8001/v1", False),
        ("server:m@http://LocalHost:8000/v1", "server:m@http://127.0.0.2:8000//v1//", True),
        ("server:m@http://h:8000/v1/chat/completions", "server:m@http://H.:8000/v1", True),
        ("server:m@http://0.0.0.0/v1", "server:m@http://localhost:80", True),
        ("server:m@http://10.0.0.1:8000/v1", "server:m@http://10.0.0.2:8000/v1", False),
        ("server:m@http://localhost:8000/v1", "server:M@http://localhost:8000/v1", False),
        ("server:m@http://h:port/v1", "server:m@http://h:port/v1", True),
        ("hf:org/model", "hf:org/model/", True),
        ("python:a:make", "python:b:make", False),
    ],
)
def test_one_model_under_two_addresses(one: str, other: str, same: bool) -> None:
    """A model is not kept from judging itself by another spelling of its address alone."""
    assert same_model(one, other) is same
    assert same_model(other, one) is same


@pytest.mark.parametrize(
    ("spec", "here"),
    [
        ("server:m@http://localhost:8000/v1", True),
        ("server:m@http://[::1]:8000", True),
        ("server:m@https://localhost.example/v1", False),
        ("hf:localhost", False),
    ],
)
def test_server_that_only_this_machine_reaches(spec: str, here: bool) -> None:
    """A hosted runner cannot use it."""
    assert on_this_machine(spec) is here


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("servr:x@http://h/v1", "server:x@http://h/v1"),
        ("Control:steady", "control:steady"),
        ("x@http://h/v1", "server:x@http://h/v1"),
        ("/models/x@http://h/v1", "server:/models/x@http://h/v1"),
    ],
)
def test_mistyped_prefix_is_answered_with_the_right_one(given: str, meant: str) -> None:
    """The prefix is mended in the suggestion, not put before the mistyped one."""
    with pytest.raises(InputError) as refused:
        parse_spec(given)
    assert str(refused.value).endswith(f"did you mean {meant}?")


def test_without_its_libraries_a_local_judge_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge is asked who it is, to be told from the subject, before anything else."""
    monkeypatch.setattr(local_model.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"--drift-judge hf:\./weights: needs torch; install it with"):
        HuggingFaceJudge("./weights", {}).identity()
