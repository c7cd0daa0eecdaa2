"""Reply cache in one sqlite file: a killed run resumes where it was, and nothing is generated twice.

The unit is one reply, found by a hash of everything it depends on, what a server tells about itself included. Replies
of a subject whose identity is proven serve every later run. Those of any other subject serve only the run that
generated them, as long as it has not been finished.

Every run and every reply carries a seal over the subject's identity, the request and all that is stored. What was
edited, or written with another key, is not used.
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
from pytest_clinical_drift.conversation.seals import Sealer, own_sealer
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import Identity, Request
from pytest_clinical_drift.transcript import Reply, Usage

_SCHEMA = 2
_OLDER = (0, 1)
"""Earlier forms, whose entries have no seal and are not used."""
_RESUMED_WITHIN = datetime.timedelta(days=7)
"""An unfinished run that is older was given up; whoever answers at that address now may be another model."""
_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT NOT NULL, run TEXT NOT NULL, created TEXT NOT NULL, reply TEXT NOT NULL, seal TEXT NOT NULL,
    PRIMARY KEY (key, run)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, subject TEXT NOT NULL, server TEXT NOT NULL, started TEXT NOT NULL, finished TEXT,
    seal TEXT NOT NULL
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


def add_seals(connection: sqlite3.Connection, table: str) -> None:
    """Give a table of an earlier version, where there is one, the column for seals; what it holds has none."""
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    if columns and "seal" not in columns:
        connection.execute(f"ALTER TABLE {table} ADD COLUMN seal TEXT NOT NULL DEFAULT ''")


class StoredRun:
    def __init__(
        self, connection: sqlite3.Connection, identity: Identity, lock: FileLock | None, sealer: Sealer
    ) -> None:
        """`lock`: None while another process is at work in this store."""
        self._connection = connection
        self._proven = identity.proven
        self._lock = lock
        self._sealer = sealer
        self._subject = identity.fingerprint(prompt_hash())
        self.problem: str | None = None
        """Why replies are no longer stored; the run goes on without."""
        self.ignored = 0
        """Replies that were there and were not used, because a seal does not fit."""
        self._server = json.dumps(identity.server or {}, sort_keys=True, default=str)
        self._run, self._started = self._unfinished() or (uuid.uuid4().hex, _now())
        seal = self._seal_of_run(finished=None)
        new = (self._run, self._subject, self._server, self._started, seal)
        connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, NULL, ?)", new)

    def _unfinished(self) -> tuple[str, str] | None:
        """The run that this one goes on with, and when it began; that of a living process is not ours to resume.

        A server has to say the same about itself as it did then.
        """
        if self._lock is None:
            return None
        rows = self._connection.execute(
            "SELECT run, server, started, seal FROM runs WHERE subject = ? AND finished IS NULL AND started > ? "
            "ORDER BY started DESC",
            (self._subject, (datetime.datetime.now(datetime.UTC) - _RESUMED_WITHIN).isoformat()),
        ).fetchall()
        for run, server, started, seal in rows:
            if self._sealer.fits(seal, "run", run, self._subject, server, started, None):
                return (run, started) if server == self._server else None
            counted = self._connection.execute("SELECT count(*) FROM replies WHERE run = ?", (run,)).fetchone()
            self.ignored += counted[0]
        return None

    def get(self, request: Request) -> Reply | None:
        """A stored reply, the oldest; of an identity that is not proven only one of this very run."""
        key = self._key(request)
        query = "SELECT run, created, reply, seal FROM replies WHERE key = ? AND (? OR run = ?) ORDER BY created"
        try:
            for run, created, reply, seal in self._connection.execute(query, (key, self._proven, self._run)).fetchall():
                if self._sealer.fits(seal, "reply", self._subject, key, run, created, reply):
                    fields = json.loads(reply)
                    known = {"usage": Usage(**fields["usage"]), "reused_from": created, "resumed": run == self._run}
                    return Reply(**{**fields, **known})
                self.ignored += 1
        except (sqlite3.Error, ValueError, TypeError, KeyError):
            return None  # what cannot be read was not stored: it is asked for again
        return None

    def put(self, request: Request, reply: Reply) -> None:
        if reply.error is not None or self.problem is not None:
            return
        key, created = self._key(request), _now()
        text = json.dumps(dataclasses.asdict(reply), ensure_ascii=True)
        seal = self._sealer.seal("reply", self._subject, key, self._run, created, text)
        try:
            row = (key, self._run, created, text, seal)
            self._connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            self.problem = f"replies are no longer stored ({error})"
            logging.getLogger(__name__).warning(self.problem)

    def end(self, *, finished: bool) -> None:
        """Close; a finished run is not resumed any more."""
        with contextlib.suppress(sqlite3.Error):
            if finished:
                now = _now()
                row = (now, self._seal_of_run(finished=now), self._run)
                self._connection.execute("UPDATE runs SET finished = ?, seal = ? WHERE run = ?", row)
            self._connection.close()
        if self._lock is not None:
            self._lock.release()

    def _seal_of_run(self, *, finished: str | None) -> str:
        return self._sealer.seal("run", self._run, self._subject, self._server, self._started, finished)

    def _key(self, request: Request) -> str:
        said = [[message.role, message.content] for message in request.messages]
        said += [["record", request.record]] if request.record is not None else []
        asked = [self._subject, self._server, request.repeat, said]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


class Store:
    """The file; opened early, so that a file which cannot be used is told before anything runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sealer = own_sealer()
        try:
            make_folder(path.parent)
            with contextlib.closing(connect(path)) as connection:
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version not in (*_OLDER, _SCHEMA):
                    raise InputError(f"--drift-store {path}: written by another version; name another file")
                for table in ("replies", "runs"):
                    add_seals(connection, table)
                connection.executescript(_TABLES)
                connection.execute(f"PRAGMA user_version = {_SCHEMA}")
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"--drift-store {path}: cannot be used as a store ({error})") from None

    def begin(self, identity: Identity) -> StoredRun:
        """Go on with the subject's unfinished run, or begin a new one."""
        lock = FileLock(f"{self.path}.lock", thread_local=False)  # the system frees that of a killed process
        with contextlib.suppress(Timeout):
            lock.acquire(blocking=False)
        return StoredRun(connect(self.path), identity, lock if lock.is_locked else None, self._sealer)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
