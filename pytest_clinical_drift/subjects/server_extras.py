"""What a project adds to every request: headers (`header=NAME:VALUE`) and fields of the body (`body=JSON`).

A value `env:VAR` is read from the environment when it is sent. Records show the variable's name and never its value.
"""

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pytest_clinical_drift.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_REFERENCE = re.compile(r"(?:(?<=\s)|^)env:([A-Za-z_][A-Za-z0-9_]*)$")
"""A whole value, or its last word: `Bearer env:TOKEN`."""
_SECRET = re.compile(r"auth|key|token|secret|passw|cookie|credential", re.IGNORECASE)
_OURS = ("content-type", "content-length", "host", "transfer-encoding", "connection")
_SHORTEST_SECRET = 8
SEPARATOR = "\n"
"""Between the headers of one setting; no header contains it."""


class RequestExtras:
    """Headers and body fields of a project, checked when made; values of the environment are read when sent."""

    def __init__(self, option: str, header: str | None, body: str | None, reserved: Collection[str]) -> None:
        """`reserved`: fields of the body that have a setting of their own, or are the gate's."""
        self._option = option
        self._headers = dict(_read_header(option, line) for line in header.split(SEPARATOR)) if header else {}
        self._body = _read_body(option, body, reserved) if body is not None else {}

    def headers(self) -> dict[str, str]:
        """As they are sent."""
        return {name: self._filled(f"header={name}", value) for name, value in self._headers.items()}

    def fields(self) -> dict[str, Any]:
        """Of the body, as they are sent."""
        filled: dict[str, Any] = self._filled("body", self._body)
        return filled

    def record(self) -> dict[str, Any]:
        """For the manifest: names of variables in place of their values; nothing where nothing was added."""
        headers = [f"{name}:{value}" for name, value in self._headers.items()]
        return {**({"header": headers} if headers else {}), **({"body": self._body} if self._body else {})}

    def scrub(self, answer: bytes) -> bytes:
        """What came back without the values that look like secrets, in case the server repeats them."""
        for text in (*self._headers.values(), *(text for _, text in _named_strings(self._body))):
            if match := _REFERENCE.search(text):
                value = os.environ.get(match[1], "").strip()
                if len(value) >= _SHORTEST_SECRET and not value.isalpha():
                    for form in {value, json.dumps(value)[1:-1]}:
                        answer = answer.replace(form.encode(), f"[{match[1]}]".encode())
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


def merged(options: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a request with a project's own fields; mappings of one name are joined."""
    result = dict(options)
    for key, value in extra.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = {**value, **result[key]} if both else value
    return result


def _named_strings(part: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a body with the key that it stands under."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _named_strings(value, key)
    elif isinstance(part, list):
        for value in part:
            yield from _named_strings(value, name)
    elif isinstance(part, str):
        yield name, part
