"""What a stop does to the notebook's process: `KeyboardInterrupt` in the user's code, and nowhere in ours.

A stop begins with SIGTERM, so a handler of the user's for it runs. Without one it does what SIGINT does. Between two
cells a signal raises nothing: the supervisor, who sent it, answers the question for the next cell with "stop".
"""

import atexit
import contextlib
import os
import signal
from typing import Any, Iterator

from .channel import Sender

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """The handlers of SIGINT and SIGTERM in the process that runs the cells."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._hearing = False
        self._came = False
        self._over = False

    def install(self) -> None:
        """From now on signals are ours until the notebook sets handlers of its own; its forks get the system's."""
        for number in _SIGNALS:
            signal.signal(number, self._take)
        os.register_at_fork(after_in_child=self._leave_fork)

    def rearm(self, _: Any = None) -> None:
        """Give SIGTERM back to the handler that Python knows: Paddle's core puts one of its own below it, which prints
        a C++ traceback and ends the process."""
        handler = signal.getsignal(signal.SIGTERM)
        if callable(handler):
            signal.signal(signal.SIGTERM, handler)

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Around a cell. Raises the `KeyboardInterrupt` that came right before it."""
        self._hearing = True
        try:
            if self._came:
                self._interrupt()
            yield
        finally:
            self._hearing = self._came = False

    def close(self) -> None:
        """The last cell is through: from now on a stop ends a process that waits for its threads."""
        self._over = True

    def _take(self, number: int, _: Any) -> None:
        if self._hearing:
            self._interrupt()
        elif self._over:
            atexit._run_exitfuncs()
            os._exit(128 + number)
        else:
            self._came = True

    def _interrupt(self) -> None:
        self._came = False
        self._sender.interrupt()

    def _leave_fork(self) -> None:
        # A loader's worker, whose parent ends it with SIGTERM, dies of it as it would without us.
        if signal.getsignal(signal.SIGTERM) == self._take:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if signal.getsignal(signal.SIGINT) == self._take:
            signal.signal(signal.SIGINT, signal.default_int_handler)
