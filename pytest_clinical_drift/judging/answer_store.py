"""Answers already given, in the run's store: nothing is asked twice, and a verdict can be reproduced offline."""

import contextlib
import dataclasses
import datetime
import hashlib
import json
import sqlite3
import threading
from pathlib import Path

from pydantic import TypeAdapter

from pytest_clinical_drift.conversation.store import connect, make_folder
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import Answer
from pytest_clinical_drift.judging.entries import ReadingAnswer
from pytest_clinical_drift.judging.protocol import Item
from pytest_clinical_drift.judging.readings import Reading

_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers "
    "(key TEXT PRIMARY KEY, created TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID"
)
_ANSWER, _READING = TypeAdapter(Answer), TypeAdapter(ReadingAnswer)


class AnswerStore:
    def __init__(self, path: Path | None, judge: str) -> None:
        """`judge` is the fingerprint of who answers and of the prompts; without a path answers live in memory."""
        self._judge = judge
        self._guard = threading.Lock()
        try:
            if path is not None:
                make_folder(path.parent)
            self._rows = connect(path or ":memory:")
            self._rows.execute(_TABLE)
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"--drift-store {path}: cannot be used as a store ({error})") from None

    def get(self, item: Item, wording: int) -> Answer | ReadingAnswer | None:
        with self._guard, contextlib.suppress(sqlite3.Error, ValueError):
            row = self._rows.execute("SELECT answer FROM answers WHERE key = ?", (self._key(item, wording),)).fetchone()
            adapter = _READING if isinstance(item, Reading) else _ANSWER
            return adapter.validate_python(json.loads(row[0])) if row is not None else None
        return None

    def put(self, item: Item, wording: int, answer: Answer | ReadingAnswer) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        with self._guard, contextlib.suppress(sqlite3.Error, TypeError, ValueError):
            row = (self._key(item, wording), now, json.dumps(dataclasses.asdict(answer), ensure_ascii=True))
            self._rows.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def close(self) -> None:
        with self._guard, contextlib.suppress(sqlite3.Error):
            self._rows.close()

    def _key(self, item: Item, wording: int) -> str:
        return hashlib.sha256(f"{self._judge}/{item.id}/{wording}".encode()).hexdigest()
