"""What judges have answered, in the run's store beside the model's replies."""

import contextlib
import dataclasses
import datetime
import hashlib
import json
import sqlite3
import threading
from pathlib import Path

from pydantic import TypeAdapter

from pytest_clinical_drift.conversation.seals import own_sealer, passing_sealer
from pytest_clinical_drift.conversation.store import add_seals, connect, make_folder
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.protocol import UNPROVEN_DAYS, Given, Item

_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers "
    "(key TEXT PRIMARY KEY, created TEXT NOT NULL, answer TEXT NOT NULL, seal TEXT NOT NULL) WITHOUT ROWID"
)
_STORED: TypeAdapter[Given] = TypeAdapter(Given)


class AnswerStore:
    """Answers already given, in the run's store: nothing is asked twice, and a verdict can be reproduced offline.

    Each carries a seal, as stored replies do.
    """

    def __init__(self, path: Path | None, judge: str, *, proven: bool = True) -> None:
        """`judge` is the fingerprint of who answers and of the prompts; without a path answers live in memory.

        Answers of a judge whose identity is not `proven` count no longer than its calibration does.
        """
        self._judge = judge
        self._proven = proven
        self._sealer = own_sealer() if path is not None else passing_sealer()
        self.ignored = 0
        """Answers that were there and were not used, because a seal does not fit."""
        self._guard = threading.Lock()
        try:
            if path is not None:
                make_folder(path.parent)
            self._rows = connect(path or ":memory:")
            add_seals(self._rows, "answers")
            self._rows.execute(_TABLE)
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"--drift-store {path}: cannot be used as a store ({error})") from None

    def get(self, item: Item, wording: int) -> Given | None:
        key = self._key(item, wording)
        with self._guard, contextlib.suppress(sqlite3.Error, ValueError):
            row = self._rows.execute("SELECT created, answer, seal FROM answers WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            created, answer, seal = row
            if not self._sealer.fits(seal, "answer", self._judge, key, created, answer):
                self.ignored += 1
                return None
            oldest = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=UNPROVEN_DAYS)
            if self._proven or datetime.datetime.fromisoformat(created) >= oldest:
                return _STORED.validate_python(json.loads(answer))
        return None

    def put(self, item: Item, wording: int, answer: Given) -> None:
        key = self._key(item, wording)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        with self._guard, contextlib.suppress(sqlite3.Error, TypeError, ValueError):
            text = json.dumps(dataclasses.asdict(answer), ensure_ascii=True)
            row = (key, now, text, self._sealer.seal("answer", self._judge, key, now, text))
            self._rows.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        with self._guard, contextlib.suppress(sqlite3.Error):
            self._rows.close()

    def _key(self, item: Item, wording: int) -> str:
        return hashlib.sha256(f"{self._judge}/{item.id}/{wording}".encode()).hexdigest()
