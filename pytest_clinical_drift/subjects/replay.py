"""`replay:PATH`: recorded replies, ours or the original system's generation files, scored without any model."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import each_once
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.summary_turns import probes_of
from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import Identity, Request, typed_settings
from pytest_clinical_drift.transcript import CUT_OFF, Reply, read_usage

_OK = frozenset({"ok", "success", "complete", "completed", "done", ""})
# Some recordings hold the text of an error where the reply should be. A model does not talk like this.
_MACHINE_ERROR = re.compile(
    r"\s*(?:\[?error\]?:|traceback \(most recent call last\)|cuda (?:error|out of memory)"
    r"|(?:torch\S*\.)?outofmemoryerror\b|(?:runtime|connection|timeout|http|value|api)error\b|generation failed\b)",
    re.IGNORECASE,
)
_VARIANTS = ("summary", "dialogue", "single")
_Key = tuple[str, int, int, str]
"""Case, repeat, turn and purpose."""


class ReplaySubject:
    """Answers from a recording; what was not recorded cannot be asked."""

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.spec = f"replay:{target}"
        self._path = Path(target)
        self._settings = typed_settings(self.spec, settings, {})
        self._replies: dict[_Key, Reply] | None = None
        self._messages: dict[_Key, str] = {}
        """What the patient had said, where the recording tells."""
        self._recorded: set[tuple[str, int]] = set()
        self._spoken: set[tuple[str, int]] = set()
        """Case and repeat of what is recorded, and of what has replies besides summaries."""

    def check(self, cases: Sequence[Case]) -> list[str]:
        replies, known = self._load(), {case.id: case for case in cases}
        recorded = {key[0] for key in replies}
        if not recorded & known.keys():
            examples = ", ".join(sorted(recorded)[:3])
            raise InputError(
                f"{self._path}: none of its {len(recorded)} recorded cases ({examples}, …) is among the cases to test"
            )
        for case_id in sorted(recorded & known.keys()):
            self._check_turns(known[case_id], replies)
        remarks = []
        if unknown := sorted(recorded - known.keys()):
            what = "recorded case is" if len(unknown) == 1 else "recorded cases are"
            remarks.append(f"{len(unknown)} {what} not in the set, ignored: {_some(unknown)}")
        if missing := sorted(known.keys() - recorded):
            what = "case has" if len(missing) == 1 else "cases have"
            remarks.append(f"{len(missing)} {what} no recording and will be INCOMPLETE: {_some(missing)}")
        return remarks

    def identity(self) -> Identity:
        digest = hashlib.sha256()
        for key, reply in sorted(self._load().items()):
            digest.update(repr((key, reply.text, reply.error and str(reply.error))).encode("utf-8", "surrogatepass"))
        return Identity(self.spec, digest.hexdigest(), proven=True, settings={})

    def close(self) -> None:
        self._replies = None

    def respond(self, request: Request) -> Reply:
        replies = self._load()
        recorded = replies.get((request.case_id, request.repeat, request.turn, request.purpose))
        if recorded is not None:
            return recorded
        conversation = (request.case_id, request.repeat)
        if conversation not in self._recorded:
            return Reply("", error=failure(FailureCode.CASE_NOT_RECORDED, path=str(self._path)))
        if request.purpose == "dialogue" and conversation not in self._spoken:
            return Reply("", recorded=False)
        if request.purpose == "single":
            return Reply("", error=failure(FailureCode.SINGLE_NOT_RECORDED, path=str(self._path)))
        missing = {"path": str(self._path), "purpose": request.purpose, "turn": request.turn}
        return Reply("", error=Failure(FailureCode.REPLY_NOT_RECORDED, missing))

    def repeats(self, cases: Collection[str]) -> int:
        """How many conversations of a case it holds, at most."""
        return max((key[1] + 1 for key in self._load() if key[0] in cases), default=0)

    def _check_turns(self, case: Case, replies: Mapping[_Key, Reply]) -> None:
        beyond = sorted({key[2] for key in replies if key[0] == case.id and not 1 <= key[2] <= len(case.turns)})
        if beyond:
            raise InputError(
                f"{self._path}: case {case.id} has {len(case.turns)} turns and the recording turn {_ranges(beyond)} "
                "too; replay it with the cases and --drift-turns of the recorded run"
            )
        recorded = {key: reply for key, reply in replies.items() if key[0] == case.id and key[1] == 0}
        # a recorded failure ends the conversation: what comes after it need not be there
        end = min((key[2] for key, reply in recorded.items() if reply.error), default=len(case.turns) + 1)
        self._check_messages(case)
        wanted = {"summary": probes_of(case).turns, "dialogue": range(1, len(case.turns) + 1)}
        for purpose, turns in wanted.items():
            present = {key[2] for key in recorded if key[3] == purpose}
            if purpose == "dialogue" and not present:
                continue
            if missing := [turn for turn in turns if turn < end and turn not in present]:
                raise InputError(
                    f"{self._path}: case {case.id} has no {purpose} for turn {_ranges(missing)} of {len(case.turns)}; "
                    "the recording is not whole"
                )

    def _check_messages(self, case: Case) -> None:
        """A recording of other messages, such as one of a stretched run, holds replies to something else."""
        messages = {turn.turn: turn.message for turn in case.turns}
        for (case_id, _, turn, variant), said in self._messages.items():
            if (case_id, variant) == (case.id, "dialogue") and said.strip() != messages.get(turn):
                raise InputError(
                    f"{self._path}: case {case.id}, turn {turn}: the recording holds another message; replay it "
                    "with the cases, --drift-turns and --drift-interludes of the recorded run"
                )

    def _load(self) -> dict[_Key, Reply]:
        if self._replies is None:
            self._replies, self._messages = _read_recording(self._path)
            self._recorded = {key[:2] for key in self._replies}
            self._spoken = {key[:2] for key in self._replies if key[3] == "dialogue"}
        return self._replies


def _read_recording(path: Path) -> tuple[dict[_Key, Reply], dict[_Key, str]]:
    if not path.exists():
        raise InputError(f"replay:{path}: no such file or folder")
    if (path / "run.json").is_file() and (path / "transcripts").is_dir():
        path = path / "transcripts"  # the folder of a finished run, whose other files are not replies
    elif runs := sorted({file.parent for file in path.rglob("run.json")} - {path}):
        raise InputError(f"replay:{path}: holds {len(runs)} of our runs; name one, such as replay:{runs[-1]}")
    files = sorted(path.rglob("*.jsonl")) + sorted(path.rglob("*.json")) if path.is_dir() else [path]
    rows = [(f"{file}, line {line}", row) for file in files for line, row in _rows(file)]
    # the original's `turn_idx` may count from 0, its `turn_num` from 1
    indices = [row["turn_idx"] for _, row in rows if "turn_num" not in row and isinstance(row.get("turn_idx"), int)]
    shift = 1 if indices and min(indices) == 0 else 0
    replies: dict[_Key, Reply] = {}
    messages: dict[_Key, str] = {}
    for where, row in rows:
        key, reply = _key(where, row, shift), _reply(where, row)
        if isinstance(row.get("message"), str):
            messages[key] = row["message"]
        earlier = replies.get(key)
        if earlier is None or earlier.error is not None:
            replies[key] = reply
        elif reply.error is None and (reply.text, reply.truncated) != (earlier.text, earlier.truncated):
            raise InputError(f"{where}: a second, different {key[3]} of case {key[0]}, turn {key[2]}")
    if not replies:
        raise InputError(f"{path}: the recording is empty, no reply was found in it")
    return replies, messages


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    line = 1
    try:
        text = file.read_text(encoding="utf-8-sig")
        if file.suffix == ".json":
            data = json.loads(text, object_pairs_hook=each_once) if text.strip() else []
            entries = list(enumerate(data if isinstance(data, list) else [data], start=1))
        else:
            entries = []
            for line, content in enumerate(text.split("\n"), start=1):
                if content.strip():
                    entries.append((line, json.loads(content, object_pairs_hook=each_once)))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({error})") from None
    except (ValueError, RecursionError) as error:
        cause = getattr(error, "msg", "nested too deeply, or a number too long")
        raise InputError(f"{file}, line {line}: not valid JSON ({cause})") from None
    for place, row in entries:
        if not isinstance(row, dict):
            wanted = "an object with case_id, turn_num, variant and response_text"
            raise InputError(f"{file}, line {place}: expected {wanted}")
        yield place, row


def _key(where: str, row: Mapping[str, Any], shift: int) -> _Key:
    case_id, repeat, variant = row.get("case_id"), row.get("repeat", 0), row.get("variant")
    if not isinstance(case_id, str | int):
        raise InputError(f"{where}: case_id is missing")
    turn = row["turn_num"] if "turn_num" in row else row.get("turn_idx")
    if not isinstance(turn, int) or isinstance(turn, bool):
        raise InputError(f"{where}: turn_num (or turn_idx) must be a whole number, found {turn!r}")
    if variant not in _VARIANTS:
        raise InputError(f"{where}: variant must be 'summary' or 'dialogue', found {variant!r}")
    turn += 0 if "turn_num" in row else shift
    return str(case_id), repeat if isinstance(repeat, int) else 0, turn, variant


def _reply(where: str, row: Mapping[str, Any]) -> Reply:
    status = str(row.get("status") or "").lower()
    text = row.get("response_text", row.get("output_text"))
    if status not in _OK or row.get("error"):
        if cause := row.get("error") or row.get("error_message"):
            return Reply("", error=failure(FailureCode.RECORDED, error=str(cause)[:300]))
        return Reply("", error=failure(FailureCode.RECORDED_STATUS, status=status))
    if not isinstance(text, str):
        raise InputError(f"{where}: response_text (or output_text) must be text, found {type(text).__name__}")
    if _MACHINE_ERROR.match(text) or "CUDA out of memory" in text[:500]:
        return Reply("", error=failure(FailureCode.RECORDED_ERROR, text=" ".join(text.split())[:200]))
    truncated = row.get("truncated", row.get("finish_reason") in CUT_OFF or None)
    if truncated is not None and not isinstance(truncated, bool):
        raise InputError(f"{where}: truncated must be true or false, found {truncated!r}")
    return Reply(text, reasoning=str(row.get("reasoning") or ""), usage=read_usage(row), truncated=truncated)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _ranges(turns: Sequence[int]) -> str:
    """Turns in a row are told by the first and the last."""
    count = itertools.count()
    spans = [list(span) for _, span in itertools.groupby(turns, lambda turn: turn - next(count))]
    return ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}–{span[-1]}" for span in spans)
