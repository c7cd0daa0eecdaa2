"""What a server tells about itself: version and flags, for the record of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx2

from .server_http import Address

_PATIENCE = 3.0
_MODEL_FIELDS = ("root", "parent", "owned_by", "max_model_len", "quantization", "meta")
# where each family of servers tells its version and flags, and which fields are worth keeping
_PLACES: dict[str, tuple[str, ...]] = {
    "/version": ("version",),  # vLLM
    "/info": ("model_id", "model_sha", "model_dtype", "version", "max_total_tokens"),  # TGI
    "/props": ("build_info", "model_path", "total_slots", "n_ctx"),  # llama.cpp
    "/get_server_info": (  # SGLang
        "version",
        "model_path",
        "revision",
        "dtype",
        "quantization",
        "tp_size",
        "dp_size",
        "context_length",
        "attention_backend",
        "sampling_backend",
        "enable_deterministic_inference",
        "random_seed",
    ),
    "/api/version": ("version",),  # Ollama
}


async def ask_about_itself(client: httpx2.AsyncClient, address: Address) -> dict[str, Any]:
    """Everything of note that it tells; an empty mapping when it tells nothing."""
    answers = await asyncio.gather(
        _get(client, f"{address.base}/models"), *(_get(client, address.root + place) for place in _PLACES)
    )
    told: dict[str, Any] = {}
    model = next((entry for entry in _entries(answers[0]) if entry.get("id") == address.model), {})
    told.update(_kept(model, _MODEL_FIELDS))
    for fields, answer in zip(_PLACES.values(), answers[1:], strict=True):
        told.update(_kept(answer, fields))
    return told


async def served_models(client: httpx2.AsyncClient, address: Address) -> list[str]:
    """Names of the models that the server offers; empty when it does not say."""
    entries = _entries(await _get(client, f"{address.base}/models"))
    return [entry["id"] for entry in entries if isinstance(entry.get("id"), str)]


async def _get(client: httpx2.AsyncClient, url: str) -> Any:
    """JSON from an address, or None; whatever goes wrong here must not stop a run."""
    try:
        async with asyncio.timeout(_PATIENCE):
            response = await client.get(url)
        return json.loads(response.content) if response.status_code == 200 else None
    except (TimeoutError, httpx2.HTTPError, httpx2.StreamError, ValueError, RecursionError):
        return None


def _entries(answer: Any) -> list[Mapping[str, Any]]:
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def _kept(answer: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    """Plain values of the wanted fields; a mapping is kept with its plain values."""
    if not isinstance(answer, Mapping):
        return {}
    kept: dict[str, Any] = {}
    for field in fields:
        value = answer.get(field)
        if isinstance(value, Mapping):
            value = {str(key): item for key, item in value.items() if _is_plain(item)} or None
        if value is not None and (_is_plain(value) or isinstance(value, dict)):
            kept[field] = value
    return kept


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 300)
