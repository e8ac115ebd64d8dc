"""Wakes whoever looks after the queue, from any thread and from other processes: nobody has to look ten times a second
for what comes twice an hour."""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
from pathlib import Path


class Doorbell:
    """One who waits, many who ring. Between processes it is a FIFO beside the store, where the system has them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._event = threading.Event()
        self._door = -1

    def ring(self) -> None:
        """Wake who waits in this process and, where none does, in another one."""
        self._event.set()
        with contextlib.suppress(OSError, AttributeError):  # nobody listens; no FIFOs on Windows
            descriptor = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                os.write(descriptor, b".")
            finally:
                os.close(descriptor)

    def listen(self) -> None:
        """Be woken by other processes from now on: called by the one who holds the queue."""
        if self._door >= 0:
            return
        with contextlib.suppress(OSError, AttributeError):
            with contextlib.suppress(FileExistsError):
                os.mkfifo(self._path, 0o600)
            # For writing as well: the end of one who rings is no end of file then.
            self._door = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)

    def close(self) -> None:
        """Others are to be woken instead."""
        door, self._door = self._door, -1
        if door >= 0:
            os.close(door)

    def wait(self, seconds: float) -> None:
        """Until somebody rings, at most so long."""
        if self._door < 0:
            self._event.wait(seconds)
        elif not self._event.is_set():
            with selectors.DefaultSelector() as selector:
                selector.register(self._door, selectors.EVENT_READ)
                selector.select(seconds)
            with contextlib.suppress(BlockingIOError):
                os.read(self._door, 4096)
        self._event.clear()
