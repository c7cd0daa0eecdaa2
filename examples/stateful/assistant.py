"""An assistant as hospitals deploy them: it keeps its own memory by session and looks the record up with a tool.

The gate sends every message with a `context`; everything before the newest message is in the assistant's own memory.
Replace `write_reply` and `write_summary` by calls of your model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

Context = dict[str, Any]
Chat = Callable[..., Coroutine[Any, Any, str]]
MOST_SENTENCES = 8
STOP_WORDS = frozenset({"and", "are", "for", "have", "the", "was", "what", "when", "with", "you"})


@dataclass
class Session:
    """What the assistant remembers of one conversation."""

    record: str = ""
    """Result of the tool that reads the patient's record; fetched once."""
    said: list[tuple[str, str]] = field(default_factory=list)
    """Role and text, in order; requests for a summary are not part of it."""


class Assistant:
    """Sessions by id; several may be open at a time."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}

    async def chat(self, messages: list[dict[str, str]], context: Context) -> str:
        """The newest message of a session is answered; a probe is answered from memory and leaves no trace in it."""
        session = self.sessions.setdefault(context["session"], Session())
        if not session.record:
            session.record = await read_record(context)
        asked = messages[-1]["content"]
        if context["probe"]:
            return await write_summary(session)
        session.said.append(("patient", asked))
        reply = await write_reply(asked, retrieve(asked, session))
        session.said.append(("assistant", reply))
        return reply


async def read_record(context: Context) -> str:
    """The tool: here the record comes with the case; at work it comes from the hospital's system."""
    await asyncio.sleep(0)
    return str(context["record"])


def retrieve(question: str, session: Session) -> list[str]:
    """Sentences of the record and of the patient's messages that share words with the question."""
    told = " ".join(text for role, text in session.said[:-1] if role == "patient")
    wanted = _words(question)
    sentences = re.split(r"(?<=[.!?])\s+", f"{session.record} {told}".strip())
    found = [sentence for sentence in sentences if wanted & _words(sentence)]
    return found[:MOST_SENTENCES]


async def write_reply(question: str, found: list[str]) -> str:
    """Here without a model: the sentences that were found, and a referral."""
    await asyncio.sleep(0)
    known = f"Your record says: {' '.join(found)} " if found else ""
    return f"{known}Please discuss anything new with your care team before you change it."


async def write_summary(session: Session) -> str:
    """Here without a model: the record, and what the patient has said."""
    await asyncio.sleep(0)
    return "\n".join(
        (session.record, *(f"The patient said: {text}" for role, text in session.said if role == "patient"))
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower())) - STOP_WORDS


ASSISTANT = Assistant()


def make() -> Chat:
    """What `--model python:assistant:make` calls."""

    async def chat(messages: list[dict[str, str]], context: Context) -> str:
        return await ASSISTANT.chat(messages, context)

    return chat
