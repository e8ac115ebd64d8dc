"""Processes forked for requests: when one comes, or ahead of it.

To fork takes as long as all that guards a child. So while nobody asks one process stands ready: it knows of no request
and has done nothing, and becomes the child of the next one. What it was forked without (a library that was imported
since) it cannot serve: it is dismissed, and the request gets a process of its own. The same where it died meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
from typing import TYPE_CHECKING, Any

from . import child, kernel
from .pages import Pages
from .protocol import encode, read_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

READY = b"estimator-ready"
"""The name of the process that stands ready, for who looks at the machine's processes."""
_TAKEN = b"!"
PIPE_BYTES = 1 << 20
"""What an answer's pipe holds at least, where the system lets us: most answers, so that nobody waits to hand one on."""


class Forked:
    """A process and our ends of its pipes: of its reply's, of its output's, and where it was forked ahead, of its
    orders'. `open` are those that it writes into."""

    def __init__(self, pid: int, reply_end: int, output_end: int, orders: socket.socket | None) -> None:
        self.pid, self.reply_end, self.output_end = pid, reply_end, output_end
        self.open = {reply_end, output_end}
        self._orders = orders

    def descriptors(self) -> tuple[int, ...]:
        """All that are open."""
        return (*self.open, *((self._orders.fileno(),) if self._orders else ()))

    def close(self, descriptor: int) -> None:
        """One is not needed any more."""
        os.close(descriptor)
        self.open.discard(descriptor)

    def order(self, message: dict[str, Any], private: str) -> bool:
        """Hand it the request that it stood ready for; whether it can have got it."""
        assert self._orders is not None
        frame = encode({"message": message, "private": private})
        try:
            return self._orders.send(frame, socket.MSG_DONTWAIT) == len(frame)
        except OSError:  # it has ended, or the request is larger than what waits for a reader
            return False

    def has_begun(self) -> bool:
        """Whether it has taken its request, to be asked once and at its end."""
        if self._orders is None:
            return True
        with self._orders as orders, contextlib.suppress(OSError):
            self._orders = None
            return bool(orders.recv(1, socket.MSG_DONTWAIT))
        return False

    def end(self) -> None:
        """Nobody needs it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for descriptor in tuple(self.open):
            self.close(descriptor)
        if self._orders:
            self._orders.close()


class Forks:
    """Where children come from; at most one of them stands ready, with the `pages` copied that it will write.

    Args:
        handlers: what a child can be asked to do.
        others: the descriptors of this process that are no child's business: it could listen to other requests with
            them, or give orders to the process that stands ready.
    """

    def __init__(self, handlers: dict[str, child.Handler], others: Callable[[], Iterable[int]]) -> None:
        self.pages = Pages()
        self._handlers = handlers
        self._others = others
        self._ready: Forked | None = None

    def of(self, message: dict[str, Any], private: str) -> Forked:
        """A process that works at a request: the one that stands ready, else a new one."""
        ready, self._ready = self._ready, None
        if ready is not None:
            if ready.order(message, private):
                return ready
            ready.end()
        return self.new(message, private)

    def new(self, message: dict[str, Any], private: str) -> Forked:
        """A process forked for a request."""
        return self._forked(None, lambda reply: child.run(self._handlers[message["do"]], message, private, reply))

    def get_ready(self) -> None:
        """Have one stand ready."""
        if self._ready is None:
            orders, taken = socket.socketpair()
            with taken:
                self._ready = self._forked(orders, lambda reply: self._stand(taken.detach(), reply))

    def dismiss(self) -> None:
        """Nobody stands ready."""
        ready, self._ready = self._ready, None
        if ready is not None:
            ready.end()

    def _forked(self, orders: socket.socket | None, work: Callable[[int], None]) -> Forked:
        ready = self._ready.descriptors() if self._ready else ()
        (reply_end, reply), (output_end, output) = os.pipe(), os.pipe()
        _widen(reply)
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                kernel.die_with_parent()
                os.setpgid(0, 0)
                os.dup2(output, 1)
                os.dup2(output, 2)
                ours = (reply_end, output_end, output, *((orders.detach(),) if orders else ()))
                for other in (*self._others(), *ready, *ours):
                    with contextlib.suppress(OSError):
                        os.close(other)
                work(reply)
            os._exit(70)
        os.close(reply)
        os.close(output)
        return Forked(pid, reply_end, output_end, orders)

    def _stand(self, orders: int, reply: int) -> None:
        """Wait for a request, and work at it. Without one the zygote has gone."""
        name = kernel.rename(READY)
        self.pages.copy(lambda: bool(select.select([orders], [], [], 0)[0]))
        order = read_frame(orders)
        if order is not None:
            kernel.rename(name)
            os.write(orders, _TAKEN)
            os.close(orders)
            message = order["message"]
            child.run(self._handlers[message["do"]], message, order["private"], reply)


def _widen(pipe: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, OSError):  # another system, or a limit of this one
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
