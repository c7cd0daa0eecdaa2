"""What was said: messages, replies, and whole conversations as JSONL that `replay:` reads again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.core.enums import Word
from pytest_clinical_drift.errors import Failure

CUT_OFF = ("length", "max_tokens", "model_length")
"""Finish reasons by which servers tell that the token limit cut a reply off."""


class Role(Word):
    """Who speaks in a chat message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Purpose(Word):
    """What a request is for: a reply, the summary after a turn, or one of the whole transcript in one message."""

    DIALOGUE = "dialogue"
    SUMMARY = "summary"
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the model sees it."""

    role: Role
    content: str

    def as_dict(self) -> dict[str, str]:
        return {"role": str(self.role), "content": self.content}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, as the server or tokenizer counted them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def read_usage(usage: object) -> Usage:
    """The counts in a server's answer or a recording; anything but a count is unknown."""
    if not isinstance(usage, Mapping):
        return Usage()
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request, or the reason why there is none."""

    text: str
    """Raw text, hidden reasoning included; empty when there is an error."""
    error: Failure | None = None
    """Why no answer could be had; None for every well-formed answer, an empty one too."""
    reasoning: str = ""
    """Reasoning that the server delivered apart from the text."""
    usage: Usage = Usage()
    truncated: bool | None = None
    """Whether the token limit cut it off; None when the source cannot tell."""
    seconds: float | None = None
    """Time spent on generating it."""
    recorded: bool = True
    """False where a recording holds summaries only: there was a reply once, it is not known."""
    reused_from: str | None = None
    """When a stored reply was first generated, if this is one."""
    resumed: bool = False
    """Whether this very run stored it, before it was interrupted: such a reply is not a reused one."""
    asked: bool = True
    """False where the schedule requests no summary after the turn: nothing is missing there."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn: the patient's message, the reply, and the summary after it, where one was requested."""

    turn: int
    message: str
    reply: Reply
    summary: Reply
    cleaned: bool = False
    """Repetition was cut from the reply before it went into the history."""

    @property
    def has_summary(self) -> bool:
        """Whether a summary was requested and came."""
        return self.summary.asked and self.summary.error is None


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation on one case."""

    case_id: str
    exchanges: tuple[Exchange, ...]
    repeat: int = 0
    failure: Failure | None = None
    """Why the conversation could not be carried to its end; None when it was."""
    single: Reply | None = None
    """Summary of the same transcript given in one message; None where it was not requested."""

    @property
    def replies(self) -> list[Reply]:
        """Everything that the model was asked for, in its order."""
        asked: list[Reply] = []
        for exchange in self.exchanges:
            asked += [reply for reply in (exchange.reply, exchange.summary) if reply.asked]
        if self.single is not None:
            asked.append(self.single)
        return asked


def write_transcript(transcript: Transcript, folder: Path) -> Path:
    """Write `<folder>/<case-id>.jsonl` (with the repeat's number from the second one on), a line per reply as asked."""
    folder.mkdir(parents=True, exist_ok=True)
    suffix = f".{transcript.repeat}" if transcript.repeat else ""
    path = folder / f"{transcript.case_id}{suffix}.jsonl"
    lines: list[str] = []
    for exchange in transcript.exchanges:
        if exchange.reply.recorded:
            lines.append(_line(transcript, exchange, Purpose.DIALOGUE, exchange.reply))
        if exchange.summary.asked:
            lines.append(_line(transcript, exchange, Purpose.SUMMARY, exchange.summary))
    if transcript.single is not None:
        lines.append(_line(transcript, transcript.exchanges[-1], Purpose.SINGLE, transcript.single))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _line(transcript: Transcript, exchange: Exchange, variant: Purpose, reply: Reply) -> str:
    record = {
        "case_id": transcript.case_id,
        "turn_num": exchange.turn,
        "variant": variant,
        "response_text": reply.text,
        "status": "ok" if reply.error is None else "error",
        "repeat": transcript.repeat or None,
        "error": f"{reply.error}{reply.error.trace}" if reply.error else None,
        "error_code": reply.error.code if reply.error else None,
        "reasoning": reply.reasoning or None,
        "truncated": reply.truncated,
        "message": exchange.message if variant == Purpose.DIALOGUE else None,
        "prompt_tokens": reply.usage.prompt_tokens,
        "completion_tokens": reply.usage.completion_tokens,
    }
    # ASCII escapes keep lone surrogates and control characters representable
    return json.dumps({key: value for key, value in record.items() if value is not None}, ensure_ascii=True)
