"""What a server tells about itself: its version and flags, and the models that it offers."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import httpx2
import yaml

from pytest_clinical_drift.subjects.server_http import Address

_PATIENCE = 3.0


async def ask_about_itself(client: httpx2.AsyncClient, address: Address) -> dict[str, Any]:
    """Version and flags, for the record of a run; an empty mapping when it tells nothing."""
    wanted = yaml.safe_load(resources.files("pytest_clinical_drift").joinpath("data/server_info.yaml").read_bytes())
    models, *answers = await asyncio.gather(
        _get(client, f"{address.base}/models"), *(_get(client, address.root + place) for place in wanted["places"])
    )
    facts = _kept(next((entry for entry in _entries(models) if entry.get("id") == address.model), {}), wanted["model"])
    for fields, answer in zip(wanted["places"].values(), answers, strict=True):
        facts.update(_kept(answer, fields))
    return facts


async def served_models(client: httpx2.AsyncClient, address: Address) -> list[str]:
    """Names of the models that the server offers; empty when it does not say."""
    entries = _entries(await _get(client, f"{address.base}/models"))
    return [entry["id"] for entry in entries if isinstance(entry.get("id"), str)]


async def _get(client: httpx2.AsyncClient, url: str) -> Any:
    """What stands at an address, or None; whatever goes wrong here must not stop a run."""
    try:
        async with asyncio.timeout(_PATIENCE):
            response = await client.get(url)
        return json.loads(response.content) if response.status_code == 200 else None
    except (TimeoutError, httpx2.HTTPError, httpx2.StreamError, ValueError, RecursionError):
        return None


def _entries(answer: Any) -> list[Mapping[str, Any]]:
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def _kept(answer: Any, fields: Sequence[str]) -> dict[str, Any]:
    """Plain values of the wanted fields, under their last name; a mapping is kept with its plain values."""
    kept: dict[str, Any] = {}
    for field in fields:
        value = answer
        for part in field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping):
            value = {str(key): item for key, item in value.items() if _is_plain(item)} or None
        if isinstance(value, dict) or _is_plain(value):
            kept[field.rpartition(".")[2]] = value
    return kept


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int) or (isinstance(value, str) and len(value) <= 300)
