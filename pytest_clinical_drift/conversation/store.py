"""Reply cache in one sqlite file: a killed run resumes where it was, and nothing is generated twice.

The unit is one reply, found by a hash of everything it depends on. Replies of a subject whose identity is proven serve
every later run. Those of any other subject serve only the run that generated them, as long as it has not been finished.
"""

import contextlib
import dataclasses
import datetime
import hashlib
import json
import logging
import sqlite3
import uuid
from pathlib import Path

from filelock import FileLock, Timeout

from pytest_clinical_drift.conversation.dialogue import prompt_hash
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import Identity, Request
from pytest_clinical_drift.transcript import Reply, Usage

_SCHEMA = 1
_RESUMED_WITHIN = datetime.timedelta(days=7)
"""An unfinished run that is older was given up; whoever answers at that address now may be another model."""
_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT NOT NULL, run TEXT NOT NULL, created TEXT NOT NULL, reply TEXT NOT NULL, PRIMARY KEY (key, run)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, subject TEXT NOT NULL, server TEXT NOT NULL, started TEXT NOT NULL, finished TEXT
);
"""


def make_folder(folder: Path) -> None:
    """The folder of a store; one that we make ourselves stays out of version control."""
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def connect(path: Path | str) -> sqlite3.Connection:
    """Without waiting for the disk: a killed process loses nothing, and a power cut at most the last replies."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


class StoredRun:
    def __init__(self, connection: sqlite3.Connection, identity: Identity, lock: FileLock | None) -> None:
        """`lock`: None while another process is at work in this store."""
        self._connection, self._proven, self._lock = connection, identity.proven, lock
        self._subject = identity.fingerprint(prompt_hash())
        self.problem: str | None = None
        """Why replies are no longer stored; the run goes on without."""
        server = json.dumps(identity.server or {}, sort_keys=True, default=str)
        self._run = self._unfinished(server) or uuid.uuid4().hex
        new = (self._run, self._subject, server, _now())
        connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, NULL)", new)

    def _unfinished(self, server: str) -> str | None:
        """The run that this one goes on with; that of another living process is not ours to resume."""
        if self._lock is None:
            return None
        row = self._connection.execute(
            "SELECT run, server FROM runs WHERE subject = ? AND finished IS NULL AND started > ? "
            "ORDER BY started DESC LIMIT 1",
            (self._subject, (datetime.datetime.now(datetime.UTC) - _RESUMED_WITHIN).isoformat()),
        ).fetchone()
        return str(row[0]) if row is not None and (server == row[1] or "{}" in (server, row[1])) else None

    def get(self, request: Request) -> Reply | None:
        query = "SELECT reply, created FROM replies WHERE key = ? AND (? OR run = ?) ORDER BY created LIMIT 1"
        try:
            row = self._connection.execute(query, (self._key(request), self._proven, self._run)).fetchone()
            if row is None:
                return None
            fields = json.loads(row[0])
            return Reply(**{**fields, "usage": Usage(**fields["usage"]), "reused_from": row[1]})
        except (sqlite3.Error, ValueError, TypeError, KeyError):
            return None  # what cannot be read was not stored: it is asked for again

    def put(self, request: Request, reply: Reply) -> None:
        if reply.error is not None or self.problem is not None:
            return
        row = (self._key(request), self._run, _now(), json.dumps(dataclasses.asdict(reply), ensure_ascii=True))
        try:
            self._connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            self.problem = f"replies are no longer stored ({error})"
            logging.getLogger(__name__).warning(self.problem)

    def end(self, *, finished: bool) -> None:
        """Close; a finished run is not resumed any more."""
        with contextlib.suppress(sqlite3.Error):
            if finished:
                self._connection.execute("UPDATE runs SET finished = ? WHERE run = ?", (_now(), self._run))
            self._connection.close()
        if self._lock is not None:
            self._lock.release()

    def _key(self, request: Request) -> str:
        said = [[message.role, message.content] for message in request.messages]
        said += [["record", request.record]] if request.record is not None else []
        return hashlib.sha256(json.dumps([self._subject, request.repeat, said]).encode()).hexdigest()


class Store:
    """The file; opened early, so that a file which cannot be used is told before anything runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            make_folder(path.parent)
            with contextlib.closing(connect(path)) as connection:
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version not in (0, _SCHEMA):
                    raise InputError(f"--drift-store {path}: written by another version; name another file")
                connection.executescript(_TABLES)
                connection.execute(f"PRAGMA user_version = {_SCHEMA}")
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"--drift-store {path}: cannot be used as a store ({error})") from None

    def begin(self, identity: Identity) -> StoredRun:
        """Go on with the subject's unfinished run, or begin a new one."""
        lock = FileLock(f"{self.path}.lock", thread_local=False)  # the system frees that of a killed process
        with contextlib.suppress(Timeout):
            lock.acquire(blocking=False)
        return StoredRun(connect(self.path), identity, lock if lock.is_locked else None)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
