"""The wire to an OpenAI-compatible server: addresses, the key, request bodies, and what its answers mean."""

import email.utils
import json
import os
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import set_option
from pytest_clinical_drift.transcript import CUT_OFF, Message, Reply, read_usage

_MOST_BYTES = 4 * 2**20
"""Of one answer: some hundred times what a long reply with all its reasoning takes."""
_LONGEST_PAUSE = 600.0
"""Seconds; a server that asks for more is treated as asking for this much."""
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529})
_THROTTLING = frozenset({429, 503, 529})
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|size|window)|maximum context|prompt is too long|too many tokens|max_model_len"
    r"|(?:input|prompt)[^.]{0,60}(?:longer than|exceeds)",
    re.IGNORECASE,
)
_SECRET_PARAMETERS = ("key", "token", "secret", "password", "sig")
_KEY_VARIABLE = "CLINICAL_DRIFT_API_KEY"


class ServerFault(Exception):
    """One attempt failed; says why, and whether another may succeed."""

    def __init__(
        self, cause: Failure, *, status: int | None = None, again: bool = True, after: float | None = None
    ) -> None:
        """`again`: worth another attempt; `after`: seconds the server asked us to wait."""
        super().__init__(cause)
        self.cause, self.status, self.again, self.after = cause, status, again, after

    @property
    def throttled(self) -> bool:
        """The server has too much to do: fewer requests at a time would help."""
        return self.status in _THROTTLING or self.silent

    @property
    def silent(self) -> bool:
        """The connection was accepted, and then nothing came in time."""
        return self.cause.code is FailureCode.TOO_SLOW

    @property
    def misplaced(self) -> bool:
        """Nobody accepts connections there, or somebody who is not a model."""
        return self.cause.code in (FailureCode.NO_SERVER, FailureCode.WEB_PAGE)


@dataclass(frozen=True, slots=True)
class Address:
    model: str
    base: str
    """Up to and including `/v1`."""

    @property
    def chat(self) -> str:
        return f"{self.base}/chat/completions"

    @property
    def root(self) -> str:
        """Scheme and host, where servers tell about themselves."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"


def parse_address(target: str, *, option: str = "--model") -> Address:
    """Read `MODEL@URL`, split at the last `@http`; secrets in the URL are refused and not repeated in the message."""
    model, at, rest = target.rpartition("@http")
    if not at or not model:
        raise InputError(
            f"{option} server: write server:MODEL@URL, for example server:my-model@http://localhost:8000/v1"
        )
    try:
        parts = urlsplit("http" + rest)
        port = parts.port
    except ValueError as error:
        raise InputError(f"{option} server:{model}: the URL cannot be read ({error})") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise InputError(f"{option} server:{model}: the URL must look like http://host:port/v1")
    asked = " ".join(parse_qs(parts.query, keep_blank_values=True)).lower()
    if parts.username or parts.password or any(word in asked for word in _SECRET_PARAMETERS):
        raise InputError(
            f"{option} server:{model}: the URL holds a secret; put it into an environment variable "
            f"and name that with {set_option(option)} key_env=NAME"
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return Address(model, f"{parts.scheme}://{parts.netloc}{path or '/v1'}")


class ApiKey:
    """Read from an environment variable only; the one that the user named must be there, the usual one may be."""

    def __init__(self, variable: str | None, option: str) -> None:
        """`option`: the one that names the variable."""
        self._option = option
        if variable is not None and not (variable.isidentifier() and variable.isascii()):
            # it may well be the key itself: do not repeat it
            raise InputError(f"{option} key_env: expected the name of an environment variable that holds the key")
        self._variable = variable or _KEY_VARIABLE
        self._required = variable is not None

    def read(self) -> str | None:
        key = os.environ.get(self._variable, "").strip()
        if not key and self._required:
            named = f"{self._option} key_env={self._variable}"
            raise InputError(f"{named}: the environment variable {self._variable} is not set")
        if not key.isascii() or not key.isprintable():
            raise InputError(f"the environment variable {self._variable} holds characters that cannot be sent as a key")
        return key or None

    def scrub(self, answer: bytes) -> bytes:
        """What came back without the key, which servers like to repeat: it must not reach a file or a page."""
        key = self.read()
        return answer.replace(key.encode(), b"[key]") if key else answer

    @property
    def advice(self) -> str:
        if self.read():
            return f"look at the key in the environment variable {self._variable}"
        other = f"name another with {self._option} key_env=NAME"
        return f"put the key into the environment variable {self._variable}, or {other}"


def request_body(model: str, messages: Sequence[Message], options: Mapping[str, Any]) -> bytes:
    """A chat completion request; ASCII escapes keep lone surrogates representable."""
    body = {"model": model, "messages": [message.as_dict() for message in messages], "stream": False, **options}
    return json.dumps(body, ensure_ascii=True).encode("ascii")


def reason_of(error: Exception) -> str:
    """What a library says went wrong, in one line."""
    return " ".join(str(error).split())[:160] or type(error).__name__


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
        raise _refusal(status, headers, body)
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        start = " ".join(body[:400].decode("utf-8", "replace").split())[:80]
        if start.startswith("<"):
            raise ServerFault(failure(FailureCode.WEB_PAGE, start=start)) from None
        raise ServerFault(failure(FailureCode.NOT_JSON, start=start)) from None
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


def _refusal(status: int, headers: Mapping[str, str], body: bytes) -> ServerFault:
    text = _error_text(body)
    if status in (400, 413, 422) and _TOO_LONG.search(text):
        cause = failure(FailureCode.CONTEXT_LENGTH, detail=f"{status}: {text}")
        return ServerFault(cause, status=status, again=False)
    cause = failure(FailureCode.REFUSED if text else FailureCode.REFUSED_SILENTLY, status=status, error=text)
    again, after = status in _RETRIED, retry_after(headers)
    return ServerFault(cause, status=status, again=again, after=after)


def _error_text(body: bytes) -> str:
    """The server's own words on what went wrong, as one line."""
    text = body[:4000].decode("utf-8", "replace")
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    for _ in range(3):
        if not isinstance(data, Mapping):
            break
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
    milliseconds, text = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            seconds = float(milliseconds) / 1000
        elif text is None:
            return None
        elif text.strip().replace(".", "", 1).isdigit():
            seconds = float(text)
        else:
            when = email.utils.parsedate_to_datetime(text)
            seconds = when.timestamp() - (time.time() if now is None else now)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), _LONGEST_PAUSE) if seconds == seconds else None
