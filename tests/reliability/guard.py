"""A pytest plugin for the runs under test: an audit hook that nothing in the process can take off again.

It blocks every connection but to the allowed port of this machine, and writes down what was tried: addresses, files
opened for writing, folders made, things renamed or removed, pickles read, programs started.
"""

from __future__ import annotations

import os
import sys
from typing import Any

LOG = os.open(os.environ["GUARD_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
PORT = int(os.environ.get("GUARD_PORT", "0"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    "os.mkdir": (0,),
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.symlink": (1,),
    "os.link": (1,),
}
_busy = False


def _note(kind: str, what: object) -> None:
    os.write(LOG, f"{kind}\t{what}\n".encode("utf-8", "backslashreplace"))


def _is_ours(address: Any) -> bool:
    return isinstance(address, tuple) and address[:2] == ("127.0.0.1", PORT)


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and not _is_ours(arguments[1]):
        if isinstance(arguments[1], str | bytes):  # a local socket of the system, such as the name service's
            return
        _note("connect", arguments[1])
        raise PermissionError(f"the guard refuses {arguments[1]}")
    if event == "socket.getaddrinfo" and arguments[0] not in (None, "127.0.0.1", b"127.0.0.1", "localhost"):
        _note("look up", arguments[0])
        raise PermissionError(f"the guard refuses {arguments[0]}")
    if (event == "sqlite3.connect" and arguments[0] != ":memory:") or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
    ):
        _note("write", arguments[0])
    elif event in _CHANGES:
        for place in _CHANGES[event]:
            _note("write", arguments[place])
    elif event == "pickle.find_class":
        _note("pickle", ".".join(map(str, arguments)))
    elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
        _note("program", arguments[0])


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    global _busy
    if _busy:
        return
    _busy = True
    try:
        _look(event, arguments)
    finally:
        _busy = False


sys.addaudithook(_hook)
