"""`replay:PATH`: recorded replies, ours or the original system's generation files, scored without any model."""

import hashlib
import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import probed_turns
from pytest_clinical_drift.core.parsing import each_once
from pytest_clinical_drift.errors import FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import Identity, Request, Subject, typed_settings
from pytest_clinical_drift.transcript import CUT_OFF, Reply, read_usage

_OK = frozenset({"ok", "success", "complete", "completed", "done", ""})
# Some recordings hold the text of an error where the reply should be. A model does not talk like this.
_MACHINE_ERROR = re.compile(
    r"\s*(?:\[?error\]?:|traceback \(most recent call last\)|cuda (?:error|out of memory)"
    r"|(?:torch\S*\.)?outofmemoryerror\b|(?:runtime|connection|timeout|http|value|api)error\b|generation failed\b)",
    re.IGNORECASE,
)
_VARIANTS = ("summary", "dialogue", "single")
_Key = tuple[int, int, str]
"""Repeat, turn and purpose, of one case."""


class ReplaySubject(Subject):
    """Answers from a recording; what was not recorded cannot be asked."""

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.spec = f"replay:{target}"
        self._path = Path(target)
        typed_settings(self.spec, settings, {})
        self._messages: dict[tuple[str, _Key], str] = {}
        """What the patient had said, where the recording tells."""

    def check(self, cases: Sequence[Case]) -> list[str]:
        known, recorded = {case.id: case for case in cases}, self._replies.keys()
        if not recorded & known.keys():
            examples = ", ".join(sorted(recorded)[:3])
            raise InputError(
                f"{self._path}: none of its {len(recorded)} recorded cases ({examples}, …) is among the cases to test"
            )
        for case_id in sorted(recorded & known.keys()):
            self._check_case(known[case_id])
        remarks = []
        if unknown := sorted(recorded - known.keys()):
            what = "recorded case is" if len(unknown) == 1 else "recorded cases are"
            remarks.append(f"{len(unknown)} {what} not in the set, ignored: {_some(unknown)}")
        if missing := sorted(known.keys() - recorded):
            what = "case has" if len(missing) == 1 else "cases have"
            remarks.append(f"{len(missing)} {what} no recording and will be INCOMPLETE: {_some(missing)}")
        return remarks

    def _check_case(self, case: Case) -> None:
        recorded = self._replies[case.id]
        place, last = f"{self._path}: case {case.id}", len(case.turns)
        if beyond := sorted({turn for _, turn, _ in recorded if not 1 <= turn <= last}):
            raise InputError(
                f"{place} has {last} turns and the recording turn {_ranges(beyond)} too; "
                "replay it with the cases and --drift-turns of the recorded run"
            )
        for repeat, turn, purpose in recorded:
            said = self._messages.get((case.id, (repeat, turn, purpose)))
            # replies to other messages, such as those of a stretched run, answer something else
            if purpose == "dialogue" and said is not None and said.strip() != case.turns[turn - 1].message:
                raise InputError(
                    f"{place}, turn {turn}: the recording holds another message; replay it "
                    "with the cases, --drift-turns and --drift-interludes of the recorded run"
                )
        # a recorded failure ends the conversation: what comes after it need not be there
        end = min((key[1] for key, reply in recorded.items() if reply.error and key[0] == 0), default=last + 1)
        for purpose, turns in (("summary", probed_turns(case)), ("dialogue", range(1, last + 1))):
            present = {turn for repeat, turn, what in recorded if what == purpose and repeat == 0}
            missing = [turn for turn in turns if turn < end and turn not in present]
            if missing and (present or purpose == "summary"):
                raise InputError(
                    f"{place} has no {purpose} for turn {_ranges(missing)} of {last}; the recording is not whole"
                )

    def identity(self) -> Identity:
        digest = hashlib.sha256()
        for case_id, replies in sorted(self._replies.items()):
            for key, reply in sorted(replies.items()):
                told = ((case_id, *key), reply.text, reply.error and str(reply.error))
                digest.update(repr(told).encode("utf-8", "surrogatepass"))
        return Identity(self.spec, digest.hexdigest(), proven=True, settings={})

    def respond(self, request: Request) -> Reply:
        recorded, path = self._replies.get(request.case_id, {}), str(self._path)
        if (reply := recorded.get((request.repeat, request.turn, request.purpose))) is not None:
            return reply
        kinds = {purpose for repeat, _, purpose in recorded if repeat == request.repeat}
        if not kinds:
            return Reply("", error=failure(FailureCode.CASE_NOT_RECORDED, path=path))
        if request.purpose == "dialogue" and "dialogue" not in kinds:
            return Reply("", recorded=False)
        if request.purpose == "single":
            return Reply("", error=failure(FailureCode.SINGLE_NOT_RECORDED, path=path))
        missing = failure(FailureCode.REPLY_NOT_RECORDED, path=path, purpose=request.purpose, turn=request.turn)
        return Reply("", error=missing)

    def repeats(self, cases: Collection[str]) -> int:
        """How many conversations of a case it holds, at most."""
        held = (repeat + 1 for case_id in cases for repeat, *_ in self._replies.get(case_id, ()))
        return max(held, default=0)

    @cached_property
    def _replies(self) -> dict[str, dict[_Key, Reply]]:
        """By case."""
        path = self._path
        if not path.exists():
            raise InputError(f"replay:{path}: no such file or folder")
        if (path / "run.json").is_file() and (path / "transcripts").is_dir():
            path = path / "transcripts"  # the folder of a finished run, whose other files are not replies
        elif runs := sorted({file.parent for file in path.rglob("run.json")} - {path}):
            raise InputError(f"replay:{path}: holds {len(runs)} of our runs; name one, such as replay:{runs[-1]}")
        files = sorted(path.rglob("*.jsonl")) + sorted(path.rglob("*.json")) if path.is_dir() else [path]
        rows = [row for file in files for row in _rows(file)]
        # the original's `turn_idx` may count from 0, its `turn_num` from 1
        indices = [row["turn_idx"] for _, row in rows if "turn_num" not in row and isinstance(row.get("turn_idx"), int)]
        shift = 1 if indices and min(indices) == 0 else 0
        replies: dict[str, dict[_Key, Reply]] = {}
        for where, row in rows:
            (case_id, key), reply = _key(where, row, shift), _reply(where, row)
            if isinstance(row.get("message"), str):
                self._messages[case_id, key] = row["message"]
            earlier = replies.setdefault(case_id, {}).get(key)
            if earlier is None or earlier.error is not None:
                replies[case_id][key] = reply
            elif reply.error is None and (reply.text, reply.truncated) != (earlier.text, earlier.truncated):
                raise InputError(f"{where}: a second, different {key[2]} of case {case_id}, turn {key[1]}")
        if not replies:
            raise InputError(f"{path}: the recording is empty, no reply was found in it")
        return replies


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of a file, with its place."""
    line, is_json = 1, file.suffix == ".json"
    entries: list[tuple[int, Any]] = []
    try:
        text = file.read_text(encoding="utf-8-sig")
        for line, content in enumerate([text] if is_json else text.split("\n"), start=1):
            if content.strip():
                data = json.loads(content, object_pairs_hook=each_once)
                entries += enumerate(data, start=1) if is_json and isinstance(data, list) else [(line, data)]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({error})") from None
    except (ValueError, RecursionError) as error:
        cause = getattr(error, "msg", "nested too deeply, or a number too long")
        raise InputError(f"{file}, line {line}: not valid JSON ({cause})") from None
    for place, row in entries:
        if not isinstance(row, dict):
            wanted = "an object with case_id, turn_num, variant and response_text"
            raise InputError(f"{file}, line {place}: expected {wanted}")
        yield f"{file}, line {place}", row


def _key(where: str, row: Mapping[str, Any], shift: int) -> tuple[str, _Key]:
    case_id, repeat, variant = row.get("case_id"), row.get("repeat", 0), row.get("variant")
    if not isinstance(case_id, str | int):
        raise InputError(f"{where}: case_id is missing")
    turn = row["turn_num"] if "turn_num" in row else row.get("turn_idx")
    if not isinstance(turn, int) or isinstance(turn, bool):
        raise InputError(f"{where}: turn_num (or turn_idx) must be a whole number, found {turn!r}")
    if variant not in _VARIANTS:
        raise InputError(f"{where}: variant must be 'summary' or 'dialogue', found {variant!r}")
    turn += 0 if "turn_num" in row else shift
    return str(case_id), (repeat if isinstance(repeat, int) else 0, turn, variant)


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
