"""Answers already had, in the run's store: nothing is asked twice, and a verdict can be had again offline."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import sqlite3
import threading
from pathlib import Path

from pydantic import TypeAdapter

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import Answer
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.protocol import Asked
from pytest_clinical_drift.subjects.base import Identity

_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers "
    "(key TEXT PRIMARY KEY, created TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID"
)
_ANSWER = TypeAdapter(Answer)


def judge_hash(identity: Identity) -> str:
    """Everything an answer depends on besides its question: the judge, its revision and settings, our prompts."""
    plain = json.dumps(
        [identity.spec, identity.revision, dict(identity.settings), prompt_hash()], sort_keys=True, default=str
    )
    return hashlib.sha256(plain.encode()).hexdigest()


class Archive:
    """Answers of one judge; without a file they live as long as the run."""

    def __init__(self, path: Path | None, identity: Identity) -> None:
        self._judge = judge_hash(identity)
        self._guard = threading.Lock()
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._rows = sqlite3.connect(path or ":memory:", timeout=30, isolation_level=None, check_same_thread=False)
            for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", _TABLE):
                self._rows.execute(statement)
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"--drift-store {path}: cannot be used as a store ({error})") from None

    def get(self, asked: Asked) -> Answer | None:
        """A stored answer; one that cannot be read is none."""
        with self._guard, contextlib.suppress(sqlite3.Error, ValueError):
            row = self._rows.execute("SELECT answer FROM answers WHERE key = ?", (self._key(asked),)).fetchone()
            return _ANSWER.validate_python(json.loads(row[0])) if row is not None else None
        return None

    def put(self, asked: Asked, answer: Answer) -> None:
        """Keep an answer; a failure is none."""
        if answer.failed:
            return
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        row = (self._key(asked), now, json.dumps(dataclasses.asdict(answer), ensure_ascii=True))
        with self._guard, contextlib.suppress(sqlite3.Error):
            self._rows.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def close(self) -> None:
        """Give up the file."""
        with self._guard, contextlib.suppress(sqlite3.Error):
            self._rows.close()

    def _key(self, asked: Asked) -> str:
        return hashlib.sha256(f"{self._judge}/{asked.question.id}/{asked.wording}".encode()).hexdigest()
