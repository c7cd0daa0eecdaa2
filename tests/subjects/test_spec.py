"""SPECs as names of models: when two of them name one."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.subjects.spec import same_model


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("server:m@http://localhost:8000/v1", "server:m@http://127.0.0.1:8000/v1/", True),
        ("server:m@http://localhost:8000", "server:m@http://[::1]:8000/v1", True),
        ("server:m@https://models.example", "server:m@https://models.example:443/v1", True),
        ("server:m@https://models.example/a/v1", "server:m@https://models.example/b/v1", False),
        ("server:m@http://localhost:8000/v1", "server:n@http://localhost:8000/v1", False),
        ("server:m@http://localhost:8000/v1", "server:m@http://localhost:8001/v1", False),
        ("hf:org/model", "hf:org/model/", True),
        ("python:a:make", "python:b:make", False),
    ],
)
def test_one_model_under_two_addresses(one: str, other: str, same: bool) -> None:
    """A model is not kept from judging itself by another spelling of its address alone."""
    assert same_model(one, other) is same
    assert same_model(other, one) is same
