"""What an OpenAI-compatible server answers: a reply, a fault, or facts about itself."""

import asyncio
import email.utils
import json
import math
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx2

from pytest_clinical_drift.core.packaged import load_data
from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import is_digest
from pytest_clinical_drift.subjects.server_access import Address
from pytest_clinical_drift.transcript import CUT_OFF, Reply, read_usage

_MOST_BYTES = 4 * 2**20
"""Of one answer: some hundred times what a long reply with all its reasoning takes."""
_LONGEST_PAUSE = 600.0
"""Seconds; a server that asks for more is treated as asking for this much."""
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529})
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|size|window)|maximum context|prompt is too long|too many tokens|max_model_len"
    r"|(?:input|prompt)[^.]{0,60}(?:longer than|exceeds)",
    re.IGNORECASE,
)
_PATIENCE = 3.0
"""Seconds for what a server says about itself."""


class ServerFault(Exception):
    """One attempt failed; says why, and whether another may succeed."""

    def __init__(
        self, cause: Failure, *, status: int | None = None, again: bool = True, after: float | None = None
    ) -> None:
        """`again`: worth another attempt; `after`: seconds the server asked us to wait."""
        super().__init__(cause)
        self.cause, self.status, self.again, self.after = cause, status, again, after


async def read_bounded(parts: AsyncIterator[bytes]) -> bytes:
    """The body of an answer, as long as it is one that a model would give."""
    body = bytearray()
    async for part in parts:
        body += part
        if len(body) > _MOST_BYTES:
            raise ServerFault(failure(FailureCode.TOO_LARGE, bytes=_MOST_BYTES), again=False)
    return bytes(body)


def read_answer(status: int, headers: Mapping[str, str], body: bytes) -> Reply:
    """The reply in a server's answer; ServerFault for everything that is none."""
    if status != 200:
        text = _error_text(body)
        if status in (400, 413, 422) and _TOO_LONG.search(text):
            cause = failure(FailureCode.CONTEXT_LENGTH, detail=f"{status}: {text}")
            raise ServerFault(cause, status=status, again=False)
        cause = failure(FailureCode.REFUSED if text else FailureCode.REFUSED_SILENTLY, status=status, error=text)
        raise ServerFault(cause, status=status, again=status in _RETRIED, after=retry_after(headers))
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        start = " ".join(body[:400].decode("utf-8", "replace").split())[:80]
        code = FailureCode.WEB_PAGE if start.startswith("<") else FailureCode.NOT_JSON
        raise ServerFault(failure(code, start=start)) from None
    try:
        if data.get("error"):
            raise ServerFault(failure(FailureCode.REPORTED, error=_error_text(body)))
        choice = data["choices"][0]
        said = choice["message"]
        content = _content(said)
    except (KeyError, IndexError, TypeError, AttributeError):
        raise ServerFault(failure(FailureCode.NO_REPLY_IN_ANSWER)) from None
    finish = choice.get("finish_reason")
    if finish in ("error", "abort", "cancelled"):
        raise ServerFault(failure(FailureCode.ABORTED, finish=finish))
    thoughts, truncated = said.get("reasoning_content") or said.get("reasoning"), finish in CUT_OFF
    reasoning = thoughts if isinstance(thoughts, str) else ""
    if truncated and reasoning and not content.strip():
        raise ServerFault(failure(FailureCode.TOKEN_LIMIT), again=False)
    return Reply(content, reasoning=reasoning, usage=read_usage(data.get("usage")), truncated=truncated)


def _content(said: Mapping[str, Any]) -> str:
    """The visible text; null stands for nothing said, unless a refusal says it; parts are joined."""
    content = said["content"] if "content" in said else said["refusal"]
    if content is None:
        return str(said.get("refusal") or "")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type", "text") == "text")
    raise TypeError


def _error_text(body: bytes) -> str:
    """The server's own words on what went wrong, as one line."""
    text = body[:4000].decode("utf-8", "replace")
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    for _ in range(3):
        if isinstance(data, Mapping):
            data = next((data[name] for name in ("error", "message", "detail") if data.get(name)), None)
    if isinstance(data, str):
        text = data
    elif data is not None:
        text = json.dumps(data, ensure_ascii=True)
    elif text.lstrip().startswith("<"):
        text = ""  # an HTML error page says nothing that its status does not
    return "".join(char for char in " ".join(text.split())[:200] if char.isprintable())


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds the server asks us to wait: a number, milliseconds, or a date."""
    milliseconds, text = headers.get("retry-after-ms"), headers.get("retry-after", "")
    try:
        if milliseconds is not None:
            seconds = float(milliseconds) / 1000
        elif text.strip().replace(".", "", 1).isdigit():
            seconds = float(text)
        else:
            when = email.utils.parsedate_to_datetime(text)
            seconds = when.timestamp() - (time.time() if now is None else now)
    except (ValueError, TypeError, OverflowError):
        return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), _LONGEST_PAUSE)


async def ask_about_itself(client: httpx2.AsyncClient, address: Address) -> dict[str, Any]:
    """Version and flags, for the record of a run; an empty mapping when it says nothing."""
    wanted = load_data("server_info")
    models, *answers = await asyncio.gather(
        served_models(client, address), *(_get(client, address.root + place) for place in wanted["places"])
    )
    facts = _kept(next((entry for entry in models if entry.get("id") == address.model), {}), wanted["model"])
    for fields, answer in zip(wanted["places"].values(), answers, strict=True):
        facts.update(_kept(answer, fields))
    return facts


def refuse_another_revision(facts: Mapping[str, Any], declared: str | None, *, option: str) -> None:
    """A server that names the commit of its weights has to name the one that was declared."""
    for name in ("revision", "model_sha"):
        told = str(facts.get(name, "")).lower()
        if declared is not None and is_digest(told) and told != declared:
            raise InputError(f"{option} revision={declared}: the server says that it serves {told}; give that commit")


async def served_models(client: httpx2.AsyncClient, address: Address) -> list[Mapping[str, Any]]:
    """What the server says of the models that it offers; empty when it does not say."""
    answer = await _get(client, f"{address.base}/models")
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


async def _get(client: httpx2.AsyncClient, url: str) -> Any:
    """What stands at an address, or None; whatever goes wrong here must not stop a run."""
    try:
        async with asyncio.timeout(_PATIENCE):
            response = await client.get(url)
        return json.loads(response.content) if response.status_code == 200 else None
    except (TimeoutError, httpx2.HTTPError, httpx2.StreamError, ValueError, RecursionError):
        return None


def _kept(answer: Any, fields: Sequence[str]) -> dict[str, Any]:
    """Plain values of the wanted fields, under their last name; a mapping is kept with its plain values."""
    kept: dict[str, Any] = {}
    for field in fields:
        value = answer
        for part in field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping):
            value = {str(key): item for key, item in value.items() if _is_plain(item)}
        if _is_plain(value) or (isinstance(value, dict) and value):
            kept[field.rpartition(".")[2]] = value
    return kept


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int) or (isinstance(value, str) and len(value) <= 300)
