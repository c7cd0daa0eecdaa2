"""`log.jsonl`: every answer that was given in a run, conversation by conversation; `canaries.jsonl`, the same of texts
with inserted faults.

Each conversation opens with a line of its own. The log says what was asked, why, and what came back, as it came; with
the transcripts and `run.json` everything that a verdict says follows from it.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.core.files import write_atomically
from pytest_clinical_drift.core.findings import FindingKey
from pytest_clinical_drift.core.log import Answer, Asked, Measurement
from pytest_clinical_drift.core.parsing import JSONFault, parse_json
from pytest_clinical_drift.core.words import Why
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.for_reviewers import JudgedConversation
from pytest_clinical_drift.scoring.assessment import CaseAssessment

LOG_FILE = "log.jsonl"
CANARIES_FILE = "canaries.jsonl"
Group = tuple[str, int]
"""A case and its repeat."""
_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
_MEASUREMENT: TypeAdapter[Measurement] = TypeAdapter(Measurement)


@dataclass(frozen=True, slots=True)
class ConversationLog:
    """What the log holds of one conversation."""

    case_id: str
    repeat: int
    asked: tuple[Asked, ...] = ()
    answers: tuple[Answer, ...] = ()
    canaries: tuple[Answer, ...] = ()
    measured: Measurement = field(default_factory=Measurement)
    judged: bool = True
    """False where the conversation was stopped before anything was made of it."""

    @property
    def group(self) -> Group:
        return self.case_id, self.repeat


def log_of(judged: JudgedConversation | None, scored: CaseAssessment) -> ConversationLog:
    """What a run keeps of a conversation."""
    measured = Measurement(
        alignment=scored.alignment,
        alignment_reason=scored.alignment_reason,
        replies_reused=scored.replies_reused,
        notes=scored.notes,
        scores=scored.scores,
        failure=scored.failure,
    )
    if judged is None:
        return ConversationLog(scored.case_id, scored.repeat, measured=measured, judged=False)
    return ConversationLog(
        scored.case_id, scored.repeat, asked_in(judged), judged.answers, judged.canary_answers, measured
    )


def asked_in(judged: JudgedConversation) -> tuple[Asked, ...]:
    """What was asked in a conversation, and why."""
    return tuple(
        Asked(finding.key, finding.why, finding.question)
        for finding in judged.judgement.findings.values()
        if finding.why is not None
    )


def logs_of(judged: Mapping[Group, JudgedConversation], scored: Iterable[CaseAssessment]) -> list[ConversationLog]:
    """The log of a run, by case and repeat."""
    logs = [log_of(judged.get((one.case_id, one.repeat)), one) for one in scored]
    return sorted(logs, key=lambda log: log.group)


def write_log(folder: Path, logs: Iterable[ConversationLog]) -> None:
    """Write a run's log, and that of its canaries where there were any."""
    lines: list[str] = []
    canaries: list[str] = []
    for log in logs:
        opening = _opening(log)
        lines.append(opening)
        lines.append(_line("measured", _MEASUREMENT.dump_python(log.measured, mode="json", exclude_defaults=True)))
        lines += [_asked_line(asked) for asked in log.asked]
        lines += [_answer_line(answer) for answer in log.answers]
        if log.canaries:
            canaries.append(opening)
            canaries += [_answer_line(answer) for answer in log.canaries]
    write_atomically(folder / LOG_FILE, "".join(lines))
    if canaries:
        write_atomically(folder / CANARIES_FILE, "".join(canaries))


def read_log(folder: Path) -> dict[Group, ConversationLog]:
    """The log of a run, by conversation; InputError in one sentence where it cannot be read."""
    logs: dict[Group, ConversationLog] = {}
    for conversation in _conversations(folder / LOG_FILE):
        if conversation.group in logs:
            raise InputError(f"{folder / LOG_FILE}: holds {conversation.case_id} twice; one of them was added")
        logs[conversation.group] = conversation
    if not (folder / CANARIES_FILE).exists():
        return logs
    for canaries in _conversations(folder / CANARIES_FILE):
        known = logs.get(canaries.group)
        if known is None:
            raise InputError(f"{folder / CANARIES_FILE}: holds {canaries.case_id}, which the log of the run does not")
        logs[canaries.group] = dataclasses.replace(known, canaries=canaries.answers)
    return logs


def _line(entry: str, content: Mapping[str, Any]) -> str:
    return json.dumps({"entry": entry, **content}, ensure_ascii=True) + "\n"


def _opening(log: ConversationLog) -> str:
    return _line("conversation", {"case_id": log.case_id, "repeat": log.repeat, "judged": log.judged})


def _asked_line(asked: Asked) -> str:
    return _line("asked", {"key": str(asked.key), "why": asked.why, "question": asked.question})


def _answer_line(answer: Answer) -> str:
    """An answer without what it does not say."""
    content = dataclasses.asdict(answer)
    return _line("answer", {key: value for key, value in content.items() if value not in ("", None, False, {})})


def _conversations(file: Path) -> Iterator[ConversationLog]:
    """The conversations of a log, each from its opening line to the next."""
    current: ConversationLog | None = None
    asked: list[Asked] = []
    answers: list[Answer] = []
    for number, line in _lines(file):
        try:
            content = parse_json(line)
            entry = content.pop("entry")
            if entry == "conversation":
                if current is not None:
                    yield dataclasses.replace(current, asked=tuple(asked), answers=tuple(answers))
                judged = content["judged"] is True
                current = ConversationLog(str(content["case_id"]), int(content["repeat"]), judged=judged)
                asked.clear()
                answers.clear()
            elif entry == "asked":
                asked.append(Asked(FindingKey.parse(content["key"]), Why(content["why"]), content["question"]))
            elif entry == "measured" and current is not None:
                current = dataclasses.replace(current, measured=_MEASUREMENT.validate_python(content))
            elif entry == "answer":
                answers.append(_ANSWER.validate_python(content))
            else:
                raise ValueError(f"unknown entry {entry!r}")
            if current is None:
                raise ValueError("an entry before the first conversation")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"{file}, line {number}: not an entry of a log ({_fault(error)})") from None
    if current is not None:
        yield dataclasses.replace(current, asked=tuple(asked), answers=tuple(answers))


def _fault(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return first_fault(error)
    if isinstance(error, JSONFault):
        return error.msg
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error) or type(error).__name__


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines; one without its end was torn when the run was killed."""
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith("\n"):
                    raise InputError(f"{file}, line {number}: ends in the middle; the run was broken off here")
                if line.strip():
                    yield number, line
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"{file}: cannot be read ({why})") from None
