"""Ctrl-C in a terminal: it ends the command at once, whenever it comes, and never half submits a job."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

STATUS = 130
"""Exit status of an interrupted command, as shells give it (128 + SIGINT)."""
GRACE_SECONDS = 1.0
"""Time to say something and to end workers after Ctrl-C; then the process ends whatever it is stuck in (a driver's
library, a locked database: Python's own handler waits for both)."""
HELD_SECONDS = 10.0
"""The same while a job is being accepted, which takes milliseconds unless the disk or the engine is stuck."""


_ENDS = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name))
"""The terminal was closed, the session ended: what was begun is handed over first."""


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def leave_at_once() -> None:
    """From now on Ctrl-C ends the process without a word: nothing was begun yet, or everything is done.

    Where Ctrl-C is ignored (`nohup`, `&` in a script) or somebody else's matter, it stays so.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _leave):
        signal.signal(signal.SIGINT, _leave)


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(STATUS)


class Interrupts:
    """Makes a `KeyboardInterrupt` of Ctrl-C, later where it is held off, and a hard end of a second one."""

    def __init__(self) -> None:
        self._held = False
        self._came = False

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Watch over a command."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
            yield
            return
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        threading.Thread(target=self._guard, args=(reading,), name="interrupts", daemon=True).start()
        signal.signal(signal.SIGINT, self._handle)
        ends = {number: signal.signal(number, _end) for number in _ENDS if signal.getsignal(number) == signal.SIG_DFL}
        wakeup = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            signal.signal(signal.SIGINT, before)
            for number, handler in ends.items():
                signal.signal(number, handler)
            os.close(writing)

    def hold(self) -> None:
        """From now until `release` an interrupt waits: what is begun here must not be left half done."""
        self._held = True

    def release(self) -> None:
        """Let an interrupt through again; raises the `KeyboardInterrupt` that came meanwhile."""
        self._held = False
        if self._came:
            raise KeyboardInterrupt

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        again, self._came = self._came, True
        if self._held:
            return
        if again:
            os._exit(STATUS)
        raise KeyboardInterrupt

    def _guard(self, reading: int) -> None:
        # The byte is written by the C part of the signal handler, even while the main thread is held up in a library.
        while data := os.read(reading, 64):
            if signal.SIGINT not in data:
                continue
            since = time.monotonic()
            while time.monotonic() - since < (HELD_SECONDS if self._held else GRACE_SECONDS):
                time.sleep(GRACE_SECONDS / 20)
            os._exit(STATUS)
        os.close(reading)


def end_now() -> None:
    """End an interrupted process without waiting for threads of libraries."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(STATUS)
