"""The first requests to a server: is somebody there, may we ask, is the model known, and what does it tell of itself.

Whatever shows that address, key or model name are wrong ends the run before the first case. A server that answers, but
with an outage of its own (429, 5xx), is no wrong input: the run goes on, and cases that stay without a reply are
INCOMPLETE.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import resources
from typing import Any

import httpx2
import yaml

from pytest_clinical_drift.errors import Failure, FailureCode, failure
from pytest_clinical_drift.subjects.server_http import Address, ServerFault

PATIENCE = 40.0
"""Seconds for one answer, when the user set no timeout: enough for a small model to be loaded on demand."""
_ATTEMPTS, _SILENT_ATTEMPTS = 8, 3
_LONGEST_PAUSE = 10.0
_SPEAK_AFTER = 3.0
_INFO_PATIENCE = 3.0

Say = Callable[[str], object]


async def first_answer(
    attempt: Callable[[], Awaitable[object]], *, place: str, patience: float, say: Say
) -> ServerFault | None:
    """Ask until there is an answer; returns the trouble of a server that is there, raises what shows there is none."""
    silent = 0
    last_cause: Failure | None = None
    notice = f"waiting for the first answer of {place}, at most {patience:g} s"
    for failures in range(1, _ATTEMPTS + 1):
        # whoever sits in front of a silent terminal is told what for
        alarm = asyncio.get_running_loop().call_later(_SPEAK_AFTER, say, notice)
        try:
            await attempt()
            return None
        except ServerFault as fault:
            trouble = fault
        finally:
            alarm.cancel()
        if trouble.cause.code is FailureCode.TOKEN_LIMIT:
            return None  # it thought for longer than a greeting takes: it is there
        silent += trouble.silent
        if silent == _SILENT_ATTEMPTS:
            trouble.cause = failure(FailureCode.KEEPS_SILENT, seconds=trouble.cause.values["seconds"], times=silent)
        last = failures == _ATTEMPTS
        if not trouble.again or trouble.misplaced or silent == _SILENT_ATTEMPTS or (last and trouble.status is None):
            raise trouble
        if last:
            break
        if trouble.cause != last_cause:
            last_cause = trouble.cause
            say(f"{place}: {last_cause}; asking again")
        await asyncio.sleep(min(0.3 * failures if trouble.after is None else trouble.after, _LONGEST_PAUSE))
    return trouble


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
        async with asyncio.timeout(_INFO_PATIENCE):
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
