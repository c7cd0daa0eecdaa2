"""What a server tells about itself: version and flags, for the record of a run."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Mapping
from typing import Any

import httpx2

from pytest_clinical_drift.subjects.server_http import Address

_PATIENCE = 3.0
_MODEL_FIELDS = ("root", "parent", "owned_by", "max_model_len", "quantization", "meta")
_SGLANG = (
    "version",
    "model_path",
    "revision",
    "dtype",
    "quantization",
    "kv_cache_dtype",
    "tp_size",
    "pp_size",
    "dp_size",
    "context_length",
    "attention_backend",
    "sampling_backend",
    "disable_radix_cache",
    "enable_deterministic_inference",
    "random_seed",
)
_VLLM = (
    "vllm_config.model_config.dtype",
    "vllm_config.model_config.quantization",
    "vllm_config.model_config.revision",
    "vllm_config.model_config.seed",
    "vllm_config.parallel_config.tensor_parallel_size",
    "vllm_config.parallel_config.pipeline_parallel_size",
    "vllm_config.parallel_config.data_parallel_size",
    "vllm_config.cache_config.enable_prefix_caching",
    "vllm_config.cache_config.cache_dtype",
    "vllm_env.VLLM_BATCH_INVARIANT",
    "vllm_env.VLLM_ATTENTION_BACKEND",
)
# Where each family of servers tells its version and flags, and which of them are worth keeping; a dot leads into a
# part of the answer. Nothing that changes while the server runs, and nothing that might be a secret.
_PLACES: dict[str, tuple[str, ...]] = {
    "/version": ("version",),  # vLLM
    "/info": ("model_id", "model_sha", "model_dtype", "version", "max_total_tokens"),  # TGI
    "/props": ("build_info", "model_path", "total_slots", "n_ctx", "default_generation_settings.n_ctx"),  # llama.cpp
    "/api/version": ("version",),  # Ollama
    "/get_server_info": _SGLANG,
    "/server_info?config_format=json": (*_SGLANG, *_VLLM),  # newer SGLang; vLLM in its development mode
}
_METRICS = "/metrics"
"""vLLM shows its cache settings here without being asked to."""
_CACHE_LINE = re.compile(r"^vllm:cache_config_info\{([^\n]{0,4000}?)\} ", re.MULTILINE)
_LABEL = re.compile(r'\b(\w+)="([^"\n]{0,100})"')
_CACHE_FIELDS = ("enable_prefix_caching", "cache_dtype", "prefix_caching_hash_algo")


async def ask_about_itself(client: httpx2.AsyncClient, address: Address) -> dict[str, Any]:
    """Everything of note that it tells; an empty mapping when it tells nothing."""
    models, metrics, *answers = await asyncio.gather(
        _get(client, f"{address.base}/models"),
        _get(client, address.root + _METRICS, as_json=False),
        *(_get(client, address.root + place) for place in _PLACES),
    )
    model = next((entry for entry in _entries(models) if entry.get("id") == address.model), {})
    told = {**_kept(model, _MODEL_FIELDS), **_cache_settings(metrics)}
    for fields, answer in zip(_PLACES.values(), answers, strict=True):
        told.update(_kept(answer, fields))
    return told


async def served_models(client: httpx2.AsyncClient, address: Address) -> list[str]:
    """Names of the models that the server offers; empty when it does not say."""
    entries = _entries(await _get(client, f"{address.base}/models"))
    return [entry["id"] for entry in entries if isinstance(entry.get("id"), str)]


async def _get(client: httpx2.AsyncClient, url: str, *, as_json: bool = True) -> Any:
    """What stands at an address, or None; whatever goes wrong here must not stop a run."""
    try:
        async with asyncio.timeout(_PATIENCE):
            response = await client.get(url)
        if response.status_code != 200:
            return None
        return json.loads(response.content) if as_json else response.content.decode("utf-8", "replace")
    except (TimeoutError, httpx2.HTTPError, httpx2.StreamError, ValueError, RecursionError):
        return None


def _entries(answer: Any) -> list[Mapping[str, Any]]:
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def _cache_settings(metrics: str | None) -> dict[str, Any]:
    """The flags in vLLM's metrics, which spell true and false as Python does."""
    line = _CACHE_LINE.search(metrics or "")
    labels = dict(_LABEL.findall(line.group(1))) if line else {}
    spelled = {"True": True, "False": False}
    return {name: spelled.get(labels[name], labels[name]) for name in _CACHE_FIELDS if name in labels}


def _kept(answer: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    """Plain values of the wanted fields, under their last name; a mapping is kept with its plain values."""
    kept: dict[str, Any] = {}
    for field in fields:
        value = answer
        for part in field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping):
            value = {str(key): item for key, item in value.items() if _is_plain(item)} or None
        if value is not None and (_is_plain(value) or isinstance(value, dict)):
            kept[field.rpartition(".")[2]] = value
    return kept


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int) or (isinstance(value, str) and len(value) <= 300)
