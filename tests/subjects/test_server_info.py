"""What a server tells about itself: flags that change replies are recorded, whatever else is not."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from engine_runs import answers
from engine_server import completion

from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.transcript import Message

# what each family of servers tells, in the form it tells it, and what is kept of that
VLLM_INFO = {
    "vllm_config": {
        "model_config": {"dtype": "torch.bfloat16", "seed": 0, "hf_token": "hf_secret"},
        "parallel_config": {"tensor_parallel_size": 2, "data_parallel_size": 2},
        "cache_config": {"enable_prefix_caching": True},
    },
    "vllm_env": {"VLLM_BATCH_INVARIANT": True, "VLLM_HOST_IP": "10.0.0.7"},
}
TELLING: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {
            "/v1/models": {"data": [{"id": "m", "created": 123, "max_model_len": 4096, "root": "org/m"}]},
            "/version": {"version": "0.11.2"},
        },
        {
            "root": "org/m",
            "max_model_len": 4096,
            "version": "0.11.2",
        },
    ),
    (
        {"/server_info": VLLM_INFO},
        {
            "dtype": "torch.bfloat16",
            "seed": 0,
            "tensor_parallel_size": 2,
            "data_parallel_size": 2,
            "enable_prefix_caching": True,
            "VLLM_BATCH_INVARIANT": True,
        },
    ),
    (
        {"/server_info": {"api_key": "secret", "tp_size": 4, "enable_deterministic_inference": True}},
        {"tp_size": 4, "enable_deterministic_inference": True},
    ),
    (
        {"/props": {"build_info": "b6000", "default_generation_settings": {"n_ctx": 8192, "is_processing": False}}},
        {"build_info": "b6000", "n_ctx": 8192},
    ),
    (
        {"/version": ["1"], "/props": "?", "/server_info": {"vllm_config": "x"}},
        {},
    ),
    ({"/info": {"version": float("nan"), "model_id": "m" * 999, "model_sha": None, "model_dtype": ["a"]}}, {}),
]


@pytest.mark.parametrize(("told", "kept"), TELLING)
def test_what_the_server_tells_about_itself_is_recorded(told: dict[str, Any], kept: dict[str, Any]) -> None:
    """Version and flags go into the identity; what changes from call to call, secrets and nonsense do not."""

    def handler(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/chat/completions"):
            return httpx2.Response(200, json=completion("ready"))
        found = told.get(request.url.path)
        if found is None:
            return httpx2.Response(404)
        return httpx2.Response(200, text=found if isinstance(found, str) else json.dumps(found))

    subject = ServerSubject("m@http://host/v1", {})
    subject.transport = httpx2.MockTransport(handler)
    subject.check([])
    assert (subject.identity().server or {}) == kept


@pytest.mark.parametrize(
    ("told", "name"), [({}, "repetition_penalty"), ({"/props": {"total_slots": 4}}, "repeat_penalty")]
)
def test_the_repetition_penalty_has_the_name_that_the_server_knows(told: dict[str, Any], name: str) -> None:
    """llama.cpp ignores the usual one without a word: the record would name a setting that was not in force."""
    bodies: list[dict[str, Any]] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/chat/completions"):
            bodies.append(json.loads(request.content))
            return httpx2.Response(200, json=completion("ready"))
        found = told.get(request.url.path)
        return httpx2.Response(404) if found is None else httpx2.Response(200, json=found)

    subject = ServerSubject("m@http://host/v1", {"repetition_penalty": "1.1"})
    subject.transport = httpx2.MockTransport(handler)
    subject.check([])
    answers(subject, [Request("case-001", 0, 1, "dialogue", (Message("user", "Hello"),))])
    assert {key: value for key, value in bodies[-1].items() if "penalty" in key} == {name: 1.1}
    assert subject.identity().settings["repetition_penalty"] == 1.1
