"""A small chat server for tests and benchmarks: deterministic replies, a delay, and faults on demand."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

FAULTS = ("429", "500", "hang", "reset", "truncate", "garble")
Answer = tuple[int, dict[str, str], bytes]


def reply_text(messages: list[dict[str, str]]) -> str:
    """A reply that depends on every word of the conversation."""
    digest = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
    return f"Noted {digest[:12]}. Please keep taking your medicines as before and call us if anything changes."


def completion(text: str, **extra: Any) -> dict[str, Any]:
    """A well-formed answer."""
    message = {"role": "assistant", "content": text, **extra.pop("message", {})}
    usage = extra.pop("usage", {"prompt_tokens": 7, "completion_tokens": len(text.split())})
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": extra.pop("finish_reason", "stop")}],
        "usage": usage,
    }


def as_json(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    return status, {"content-type": "application/json", **(headers or {})}, json.dumps(data).encode()


@dataclass
class ChatServer:
    """Serves /v1/chat/completions from a thread; `with ChatServer() as server: … server.url`."""

    delay: float = 0.0
    fault_rate: float = 0.0
    seed: int = 0
    limit: int | None = None
    """More requests than this at a time are answered with 429."""
    hang_seconds: float = 30.0
    answer: Callable[[dict[str, Any]], Answer | None] | None = None
    """Overrides single answers; gets the request body."""
    tells: dict[str, Any] = field(default_factory=dict)
    """What stands at other addresses: JSON by path."""
    faults: list[str] = field(default_factory=list)
    """How it misbehaved."""
    requests: list[str] = field(default_factory=list)
    """A hash per chat request that arrived, faults included; the preflight is left out."""
    answered: list[str] = field(default_factory=list)
    """A hash per reply that was sent whole."""
    headers: list[dict[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    port: int = 0
    keep: Callable[[str, str], None] | None = None
    """Called with ("asked" | "answered", hash), for tests that outlive a process."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> ChatServer:
        self._random = random.Random(self.seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._connection, "127.0.0.1", self.port, backlog=1024), self._loop
        ).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Refuse new connections and break the open ones."""

        async def end() -> None:
            self._server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(end(), self._loop).result(5)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.split("\r\n")
                headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines) if k}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                if not await self._serve(first.split()[1], headers, body, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            writer.close()

    async def _serve(self, path: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter) -> bool:
        if not path.endswith("/chat/completions"):
            found = self.tells.get(path)
            return await _send(
                writer, as_json({"detail": "Not Found"} if found is None else found, 200 if found else 404)
            )
        request = json.loads(body)
        preflight = len(request["messages"]) == 1 and "ready" in request["messages"][0]["content"]
        mark = hashlib.sha256(json.dumps(request["messages"]).encode()).hexdigest()[:16]
        self.headers.append(headers)
        if not preflight:
            self.requests.append(mark)
            if self.keep:
                self.keep("asked", mark)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            sound, goes_on = await self._reply(request, writer)
        finally:
            self.at_once -= 1
        if sound and not preflight:
            self.answered.append(mark)
            if self.keep:
                self.keep("answered", mark)
        return goes_on

    async def _reply(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> tuple[bool, bool]:
        chosen = self.answer(request) if self.answer else None
        if chosen is not None:
            return chosen[0] == 200, await _send(writer, chosen)
        if self.limit is not None and self.at_once > self.limit:
            return False, await _send(writer, as_json({"error": {"message": "slow down"}}, 429))
        if self.delay:
            await asyncio.sleep(self.delay)
        whole = as_json(completion(reply_text(request["messages"])))
        if self._random.random() >= self.fault_rate:
            return True, await _send(writer, whole)
        return False, await self._misbehave(self._random.choice(FAULTS), whole, writer)

    async def _misbehave(self, fault: str, whole: Answer, writer: asyncio.StreamWriter) -> bool:
        self.faults.append(fault)
        if fault == "429":
            return await _send(writer, as_json({"error": "rate"}, 429, {"retry-after": "0.05"}))
        if fault == "500":
            return await _send(writer, (500, {"content-type": "text/html"}, b"<html>oops</html>"))
        if fault == "hang":
            await asyncio.sleep(self.hang_seconds)
            return False
        if fault == "reset":
            writer.transport.abort()
            return False
        if fault == "truncate":
            half = whole[2][: len(whole[2]) // 2]
            writer.write(_head(200, whole[1], len(whole[2])) + half)
            await writer.drain()
            return False
        garbled = whole[2].replace(b'"choices"', b'"ch\xffoices"')
        return await _send(writer, (200, whole[1], garbled))


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> bool:
    status, headers, body = answer
    writer.write(_head(status, headers, len(body)) + body)
    await writer.drain()
    return True


def _head(status: int, headers: dict[str, str], length: int) -> bytes:
    lines = [f"HTTP/1.1 {status} X", *(f"{k}: {v}" for k, v in headers.items()), f"content-length: {length}", "", ""]
    return "\r\n".join(lines).encode("latin-1")


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether the condition came true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
