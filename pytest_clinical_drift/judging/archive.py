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

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import Answer
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.protocol import Asked
from pytest_clinical_drift.subjects.base import Identity

_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers "
    "(key TEXT PRIMARY KEY, created TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID"
)


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
        self._had: dict[str, Answer] = {}
        self._connection: sqlite3.Connection | None = None
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
                self._connection.execute(_TABLE)
            except (sqlite3.Error, OSError) as error:
                raise InputError(f"--drift-store {path}: cannot be used as a store ({error})") from None

    def get(self, asked: Asked) -> Answer | None:
        """A stored answer."""
        key = self._key(asked)
        with self._guard:
            if key in self._had:
                return self._had[key]
            if self._connection is None:
                return None
            with contextlib.suppress(sqlite3.Error, ValueError, TypeError):
                row = self._connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    return _from_json(row[0])
        return None

    def put(self, asked: Asked, answer: Answer) -> None:
        """Keep an answer; a failure is none."""
        if answer.failed:
            return
        key = self._key(asked)
        with self._guard:
            self._had[key] = answer
            if self._connection is not None:
                now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
                row = (key, now, json.dumps(dataclasses.asdict(answer), ensure_ascii=True))
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def close(self) -> None:
        """Give up the file."""
        with self._guard, contextlib.suppress(sqlite3.Error):
            if self._connection is not None:
                self._connection.close()

    def _key(self, asked: Asked) -> str:
        return hashlib.sha256(f"{self._judge}/{asked.question.id}/{asked.wording}".encode()).hexdigest()


def _from_json(text: str) -> Answer:
    given = json.loads(text)
    tokens = given.pop("tokens", None)
    return Answer(**given, tokens=tuple(tokens) if tokens else None)
