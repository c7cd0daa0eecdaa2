"""Ctrl-C while results are written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def delayed_interrupt() -> Iterator[list[int]]:
    """A first Ctrl-C waits until the block is done, and is put on the list; a second one is heard at once."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # no other one gets it
        yield pressed
        return
    before = signal.getsignal(signal.SIGINT) or signal.default_int_handler

    def wait(number: int, _: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, wait)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
