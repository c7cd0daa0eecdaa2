"""`server:MODEL@URL`: any OpenAI-compatible chat server, with many requests in flight."""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx2

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import Identity, Request, Subject, declared_settings, set_option
from pytest_clinical_drift.subjects.limits import AdaptiveLimiter, CaseClock
from pytest_clinical_drift.subjects.server_access import RequestExtras, parse_address
from pytest_clinical_drift.subjects.server_http import (
    ServerFault,
    ask_about_itself,
    read_answer,
    read_bounded,
    refuse_another_revision,
    served_models,
)
from pytest_clinical_drift.transcript import Message, Purpose, Reply, Role

_DECODING: dict[str, type] = {
    **dict.fromkeys(("max_tokens", "seed", "top_k"), int),
    **dict.fromkeys(("temperature", "top_p", "min_p"), float),
    **dict.fromkeys(("frequency_penalty", "presence_penalty", "repetition_penalty"), float),
    "reasoning_effort": str,
    "thinking": bool,
}
_KNOWN = {
    **_DECODING,
    **dict.fromkeys(("timeout", "deadline"), float),
    **dict.fromkeys(("concurrency", "retries"), int),
    **dict.fromkeys(("key_env", "header", "body", "revision"), str),
}
_DEFAULTS = {"max_tokens": 1024, "temperature": 0.0, "timeout": 180.0, "deadline": 1800.0, "retries": 12}
_LEAST = {"max_tokens": 1, "temperature": 0, "timeout": 0.01, "deadline": 0.01, "concurrency": 1, "retries": 1}
_OTHER_LENGTH_OPTION = "max_completion_tokens"
"""What newer hosted models call max_tokens."""
_RESERVED = frozenset((*_DECODING, _OTHER_LENGTH_OPTION, "model", "messages", "stream", "response_format"))
"""Fields of a request that `body` may not set."""
_FIRST_PAUSE, _LONGEST_PAUSE, _JITTER = 0.1, 15.0, 0.25
"""Seconds before the second attempt, doubled for each further one; jitter keeps requests apart that failed together."""
_THROTTLING = frozenset({429, 503, 529})
"""The server has too much to do: fewer requests at a time would help."""
_TOO_SHORT = 0.1
"""Seconds in which no server answers: with so little left, the failure that was had is the cause to tell."""
_SCHEMA_REFUSALS = 3
"""Requests in a row that work only without a schema before none is sent any more."""
_FIRST_PATIENCE = 40.0
"""Seconds for each attempt at the first answer, when the user set no timeout: a small model is loaded in that time."""
_UNSENT = (FailureCode.DEADLINE, FailureCode.SERVER_SILENT)
"""Of a request that waited in vain for its turn."""
_GREETINGS, _PAUSE, _HELLO_TOKENS = 3, 0.3, 16
_HELLO = (Message(Role.USER, "Please answer with the word ready."),)


class ServerSubject(Subject):
    """Asks a server; outages are retried within bounds and never counted as forgetting."""

    def __init__(self, target: str, settings: Mapping[str, str], *, option: str = "--model") -> None:
        self.spec = f"server:{target}"
        self.address = parse_address(target, option=option)
        self._chat = httpx2.URL(self.address.chat)
        self._option, self._set_option = option, set_option(option)
        given = declared_settings(self.spec, settings, _KNOWN, option=self._set_option, least=_LEAST)
        self._settings = {**_DEFAULTS, **given}
        self._extras = RequestExtras(self._set_option, given, _RESERVED)
        self._first_patience = min(given.get("timeout", _FIRST_PATIENCE), self._settings["deadline"])
        self._length_option = "max_tokens"
        self._server: dict[str, Any] = {}
        self.transport: httpx2.AsyncBaseTransport | None = None
        """Stands in for the network."""
        self.limiter = AdaptiveLimiter(self._settings.get("concurrency"))
        self._client: httpx2.AsyncClient | None = None
        self._clocks: dict[tuple[str, int], CaseClock] = {}
        self._last_sign_of_life = time.monotonic()
        self._pending = 0
        """Requests under way: silence counts only while there is one."""
        self._schema_refused = 0
        """Requests in a row that the server took only without a schema."""
        self.trouble: Failure | None = None
        """Why the last attempt failed, until one succeeds: it is tried again meanwhile, and people wait."""

    # -- before the first case

    def check(self, cases: Sequence[Case]) -> list[str]:
        return asyncio.run(self._preflight())

    async def _preflight(self) -> list[str]:
        """One small request shows whether address, key and model name are right."""
        try:
            await self._first_answer()
            facts = json.dumps(await ask_about_itself(self._connect(), self.address))
            self._server = json.loads(self._extras.scrub(facts.encode()))
            refuse_another_revision(self._server, self._settings.get("revision"), option=self._set_option)
        except ServerFault as fault:
            raise InputError(await self._explain(fault)) from None
        finally:
            await self.disconnect()
        if self.trouble is None:
            return []
        return [f"{self.address.base} returns errors ({self.trouble}); cases without a reply become INCOMPLETE"]

    async def _first_answer(self) -> None:
        """Greet until there is an answer; keeps the trouble of a server that is there, raises what shows none is.

        An outage of a server that answers (429, 5xx) is not wrong input: the run goes on and asks again.
        """
        self.trouble = None
        for attempt in range(1, _GREETINGS + 1):
            options = {**self._options(0), self._length_option: _HELLO_TOKENS}
            try:
                await self._attempt(_HELLO, options, self._first_patience)
                return
            except ServerFault as fault:
                trouble, code = fault, fault.cause.code
            if code is FailureCode.TOKEN_LIMIT:
                return  # it thought for longer than a greeting takes: it is there
            wants_other = trouble.status == 400 and _OTHER_LENGTH_OPTION in trouble.cause.values.get("error", "")
            if wants_other and self._length_option != _OTHER_LENGTH_OPTION:
                self._length_option = _OTHER_LENGTH_OPTION
                await self._first_answer()  # an answer to our first wording is not an outage
                return
            misplaced = code in (FailureCode.NO_SERVER, FailureCode.WEB_PAGE)
            if not trouble.again or misplaced or (attempt == _GREETINGS and trouble.status is None):
                raise trouble
            await asyncio.sleep(_PAUSE)
        self.trouble = trouble.cause

    async def _explain(self, fault: ServerFault) -> str:
        start = f"{self._option} server:{self.address.model}"
        if fault.status in (401, 403):
            return f"{start}: {self.address.base} refuses access ({fault.cause}); {self._extras.advice()}"
        if fault.status == 404:
            names = [entry.get("id") for entry in await served_models(self._connect(), self.address)]
            others = [name for name in names if isinstance(name, str)][:5]
            known = f"; it serves {', '.join(others)}" if others else ""
            return f"{start}: {self.address.chat} does not know this model or address ({fault.cause}){known}"
        silent = fault.cause.code is FailureCode.TOO_SLOW
        more = f"; raise the limit with {self._set_option} timeout=SECONDS" if silent else ""
        return f"{start}: {self.address.base} cannot be used: {fault.cause}{more}"

    def identity(self) -> Identity:
        decoding = {key: value for key, value in self._settings.items() if key in _DECODING} | self._extras.record()
        revision = self._settings.get("revision")
        return Identity(self.spec, revision, revision is not None, decoding, server=self._server or None)

    @property
    def slots(self) -> int | None:
        """llama.cpp tells it: a conversation that stays in one slot is never read again from its beginning."""
        count = self._server.get("total_slots")
        return count if isinstance(count, int) and count > 0 else None

    # -- during the run

    async def ask(self, request: Request) -> Reply:
        """Attempts within the bounds."""
        clock = self._clocks.setdefault((request.case_id, request.repeat), CaseClock(self._settings["deadline"]))
        if not self._pending:
            self._last_sign_of_life = time.monotonic()
        self._pending += 1
        tries = failures = 0
        trouble: ServerFault | None = None
        try:
            while True:
                tries += 1
                try:
                    return await self._in_turn(request, clock)
                except ServerFault as fault:
                    if trouble is not None and fault.cause.code in _UNSENT:  # why it had to ask again is known
                        return Reply("", error=replace(trouble.cause, attempts=tries - 1))
                    trouble = fault
                failures += trouble.after is None  # being told to wait is flow control, bounded by the deadline
                growing = min(_FIRST_PAUSE * 2.0 ** min(failures - 1, 10), _LONGEST_PAUSE)
                pause = (growing if trouble.after is None else trouble.after) + random.uniform(0, _JITTER)
                too_late = pause + _TOO_SHORT >= self._time_left(clock)
                if not trouble.again or failures >= self._settings["retries"] or too_late:
                    return Reply("", error=replace(trouble.cause, attempts=tries))
                self.trouble = trouble.cause
                with clock:
                    await asyncio.sleep(pause)
        finally:
            self._pending -= 1

    async def _in_turn(self, request: Request, clock: CaseClock) -> Reply:
        """Wait for a free place, then make one attempt."""
        cuts = await self._place(request)
        try:
            started = time.monotonic()
            patience = min(self._settings["timeout"], self._time_left(clock))
            if (refused := request.refusal()) is not None:
                raise ServerFault(refused, again=False)
            if patience <= 0:
                raise ServerFault(failure(FailureCode.DEADLINE, seconds=self._settings["deadline"]), again=False)
            with clock:
                reply = await self._structured_attempt(request, patience)
        except ServerFault as fault:
            if fault.status in _THROTTLING or fault.cause.code is FailureCode.TOO_SLOW:
                self.limiter.complained(cuts, fault.after)
            raise
        finally:
            self.limiter.release()
        self._last_sign_of_life, self.trouble = time.monotonic(), None
        seconds = self._last_sign_of_life - started
        self.limiter.answered(slowly=seconds > self._settings["timeout"] / 3)
        return replace(reply, seconds=seconds)

    async def _place(self, request: Request) -> int:
        """The limiter's leave to ask; not for ever: a server that is silent for a whole deadline is down."""
        probe = request.purpose == Purpose.SUMMARY
        # conversations advance together; a reply goes before the summary that runs beside it
        priority = (request.turn + probe, int(probe))
        while (patience := self._silence_left()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    return await self.limiter.acquire(priority)
        raise ServerFault(failure(FailureCode.SERVER_SILENT, seconds=self._settings["deadline"]), again=False)

    def _silence_left(self) -> float:
        return self._last_sign_of_life + float(self._settings["deadline"]) - time.monotonic()

    def _time_left(self, clock: CaseClock) -> float:
        return min(clock.left(), self._silence_left())

    async def _structured_attempt(self, request: Request, patience: float) -> Reply:
        """One attempt, held to a schema where one is wanted and the server takes it."""
        options = self._options(request.repeat)
        if request.schema is None or self._schema_refused >= _SCHEMA_REFUSALS:
            return await self._attempt(request.messages, options, patience)
        schema = {"name": "answer", "schema": dict(request.schema), "strict": True}
        held = {**options, "response_format": {"type": "json_schema", "json_schema": schema}}
        try:
            reply = await self._attempt(request.messages, held, patience)
            self._schema_refused = 0
            return reply
        except ServerFault as fault:
            if fault.status not in (400, 404, 415, 422, 501):
                raise
        # the same request without a schema: only where that works was the schema the trouble
        reply = await self._attempt(request.messages, options, patience)
        self._schema_refused += 1
        return reply

    async def _attempt(self, messages: Sequence[Message], options: Mapping[str, Any], patience: float) -> Reply:
        said = [message.as_dict() for message in messages]
        # ASCII escapes keep lone surrogates representable
        body = json.dumps({"model": self.address.model, "messages": said, "stream": False, **options}).encode("ascii")
        try:
            async with asyncio.timeout(patience):
                async with self._connect().stream("POST", self._chat, content=body) as response:
                    content = self._extras.scrub(await read_bounded(response.aiter_bytes()))
        except TimeoutError:
            raise ServerFault(failure(FailureCode.TOO_SLOW, seconds=patience)) from None
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            reason = " ".join(str(error).split())[:160] or type(error).__name__
            if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
                raise ServerFault(failure(FailureCode.NO_SERVER, place=self.address.root, error=reason)) from None
            raise ServerFault(failure(FailureCode.BROKEN_CONNECTION, error=reason)) from None
        return read_answer(response.status_code, response.headers, content)

    def _options(self, repeat: int) -> dict[str, Any]:
        """Decoding settings as the server wants them; each repeat gets a seed of its own."""
        chosen = {key: self._settings[key] for key in _DECODING if key in self._settings}
        chosen[self._length_option] = chosen.pop("max_tokens")
        if "seed" in chosen:
            chosen["seed"] += repeat
        if "thinking" in chosen:
            chosen["chat_template_kwargs"] = {"enable_thinking": chosen.pop("thinking")}
        if self.slots is not None and "repetition_penalty" in chosen:
            chosen["repeat_penalty"] = chosen.pop("repetition_penalty")  # llama.cpp ignores the usual name
        return self._extras.added_to(chosen)

    def _connect(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = httpx2.AsyncClient(
                headers={"content-type": "application/json", **self._extras.headers()},
                timeout=httpx2.Timeout(None, connect=15.0),  # the patience of each attempt bounds the rest
                limits=httpx2.Limits(),
                transport=self.transport,
            )
        return self._client

    async def disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
