"""How a server is reached: its address, and what a project adds to every request.

That is the key, headers (`header=NAME:VALUE`) and fields of the body (`body=JSON`). A value `env:VAR` is read from the
environment when it is sent. Records show the variable's name and never its value.
"""

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import set_option

_KEY_VARIABLE = "CLINICAL_DRIFT_API_KEY"
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_REFERENCE = re.compile(r"(?:(?<=\s)|^)env:([A-Za-z_][A-Za-z0-9_]*)$")
"""A whole value, or its last word: `Bearer env:TOKEN`."""
_SECRET = re.compile(r"auth|key|token|secret|passw|cookie|credential", re.IGNORECASE)
_SECRET_PARAMETERS = ("key", "token", "secret", "password", "sig")
_OURS = ("content-type", "content-length", "host", "transfer-encoding", "connection")
_SHORTEST_SECRET = 8


@dataclass(frozen=True, slots=True)
class Address:
    model: str
    base: str
    """Up to and including `/v1`."""
    root: str
    """Scheme and host, where servers tell about themselves."""

    @property
    def chat(self) -> str:
        return f"{self.base}/chat/completions"


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
        httpx2.URL("http" + rest)
    except (ValueError, httpx2.InvalidURL) as error:
        raise InputError(f"{option} server:{model}: the URL cannot be read ({error})") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise InputError(f"{option} server:{model}: the URL must look like http://host:port/v1")
    asked = " ".join(parse_qs(parts.query, keep_blank_values=True)).lower()
    if parts.username or parts.password or any(word in asked for word in _SECRET_PARAMETERS):
        raise InputError(
            f"{option} server:{model}: the URL holds a secret; put it into an environment variable "
            f"and name that with {set_option(option)} key_env=NAME"
        )
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/").removesuffix("/chat/completions")
    return Address(model, f"{root}{path or '/v1'}", root)


class RequestExtras:
    """Key, headers and body fields, checked when made; values of the environment are read when sent."""

    def __init__(self, option: str, settings: Mapping[str, Any], reserved: Collection[str]) -> None:
        """`reserved`: fields of the body that have a setting of their own, or are the gate's."""
        self._option = option
        named = settings.get("key_env")
        if named is not None and not (named.isidentifier() and named.isascii()):
            # it may well be the key itself: do not repeat it
            raise InputError(f"{option} key_env: expected the name of an environment variable that holds the key")
        self._key_variable, self._needs_key = named or _KEY_VARIABLE, named is not None
        header, body = settings.get("header"), settings.get("body")
        self._headers = dict(_read_header(option, line) for line in header.split("\n")) if header else {}
        self._body = _read_body(option, body, reserved) if body is not None else {}
        self._sent: dict[str, str] = {}
        """What was read from the environment, by the variable's name."""

    def key(self) -> str:
        """From the environment only; the variable that the user named must be set, the usual one may be."""
        key = os.environ.get(self._key_variable, "").strip()
        if not key and self._needs_key:
            named = f"{self._option} key_env={self._key_variable}"
            raise InputError(f"{named}: the environment variable {self._key_variable} is not set")
        if not key.isascii() or not key.isprintable():
            named = f"the environment variable {self._key_variable}"
            raise InputError(f"{named} holds characters that cannot be sent as a key")
        return key

    def advice(self) -> str:
        """What to do where access is refused."""
        if self.key():
            return f"look at the key in the environment variable {self._key_variable}"
        other = f"name another with {self._option} key_env=NAME"
        return f"put the key into the environment variable {self._key_variable}, or {other}"

    def headers(self) -> dict[str, str]:
        """As they are sent."""
        key = {"authorization": f"Bearer {self.key()}"} if self.key() else {}
        return key | {name: self._filled(f"header={name}", value) for name, value in self._headers.items()}

    def added_to(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a request with a project's own fields; mappings of one name are joined."""
        result = dict(options)
        for key, value in self._filled("body", self._body).items():
            both = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = {**value, **result[key]} if both else value
        return result

    def record(self) -> dict[str, Any]:
        """For the manifest: names of variables in place of their values; nothing where nothing was added."""
        headers = [f"{name}:{value}" for name, value in self._headers.items()]
        return {**({"header": headers} if headers else {}), **({"body": self._body} if self._body else {})}

    def scrub(self, answer: bytes) -> bytes:
        """What came back without the key and whatever looks like a secret: servers repeat them, files must not."""
        hidden: dict[str, str] = {}
        for name, value in sorted(self._sent.items()):
            if len(value) >= _SHORTEST_SECRET and not value.isalpha():
                hidden |= {value: name, json.dumps(value)[1:-1]: name}
        if key := self.key():
            hidden[key] = "key"
        for form in sorted(hidden, key=len, reverse=True):  # one may hold another
            answer = answer.replace(form.encode(), f"[{hidden[form]}]".encode())
        return answer

    def _filled(self, setting: str, part: Any) -> Any:
        """With values of the environment; InputError where a variable is not set, or cannot be sent."""
        if isinstance(part, dict):
            return {key: self._filled(setting, value) for key, value in part.items()}
        if isinstance(part, list):
            return [self._filled(setting, value) for value in part]
        if not isinstance(part, str) or not (match := _REFERENCE.search(part)):
            return part
        value = os.environ.get(match[1], "").strip()
        if not value or not value.isascii() or not value.isprintable():
            trouble = "cannot be sent as it is" if value else "is not set"
            raise InputError(f"{self._option} {setting}: the environment variable {match[1]} {trouble}")
        self._sent[match[1]] = value
        return part[: match.start()] + value


def _read_header(option: str, line: str) -> tuple[str, str]:
    name, colon, value = (part.strip() for part in line.partition(":"))
    if not colon or not value or not _NAME.fullmatch(name):
        raise InputError(f"{option} header: write header=NAME:VALUE, for example header=X-Team:env:TEAM")
    if name.lower() in _OURS:
        raise InputError(f"{option} header={name}: this header is part of every request already")
    if not value.isascii() or not value.isprintable():
        raise InputError(f"{option} header={name}: the value has characters that cannot be sent")
    if _SECRET.search(name) and not _REFERENCE.search(value):
        raise InputError(
            f"{option} header={name}: put the value into an environment variable and write header={name}:env:VARIABLE"
        )
    return name.lower(), value


def _read_body(option: str, text: str, reserved: Collection[str]) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError(f'{option} body: expected a JSON object such as {{"user": "gate"}}')
    for name in body:
        if name in reserved:
            raise InputError(f"{option} body: {name} is set by the gate or by a setting of its own")
    for name, value in _named_strings(body):
        if _SECRET.search(name) and not name.endswith("tokens") and not _REFERENCE.search(value):
            raise InputError(f'{option} body: put {name} into an environment variable and write "env:VARIABLE"')
    return body


def _named_strings(part: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a body with the key that it stands under."""
    if isinstance(part, str):
        yield name, part
    elif isinstance(part, dict | list):
        pairs = part.items() if isinstance(part, dict) else [(name, value) for value in part]
        for key, value in pairs:
            yield from _named_strings(value, key)
