"""A request that runs: its process, what that has said so far, and what became of it."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from typing import TYPE_CHECKING, Any

from .protocol import FrameError, body_of

if TYPE_CHECKING:
    from .forks import Forked

READ = 1 << 20
CLOSING_SECONDS = 0.5
"""How long a process may live on after its reply, or after the end of that."""
CUT_OFF = "cut_off"
"""It has ended its reply before that was whole, and lived on for longer."""
OUTPUT_SHARE = 2
"""Of the output that is kept, the first and the last half."""
MOST_READS = 64
"""Of what stands in the output's pipe when the reply is there: a thread that keeps printing must not keep us."""


class Child:
    """A running request.

    Attributes:
        process: what works at it.
        private: the only folder that it may write into.
        is_answered: its reply was handed on; the process is leaving.
    """

    def __init__(self, message: dict[str, Any]) -> None:
        self.message = message
        self.id: int = message["id"]
        self.limits: dict[str, Any] = message["limits"]
        self.started = time.monotonic()
        self.deadline = self.started + float(self.limits["wall_seconds"])
        self.private = tempfile.mkdtemp(prefix="paddle-gpu-")
        self.process: Forked
        self.is_answered = False
        self._ended_by = ""
        self._reply = bytearray()
        self._head, self._tail, self._printed = bytearray(), bytearray(), 0

    def take(self, descriptor: int) -> bool:
        """Read what has come; whether there was anything."""
        piece = os.read(descriptor, READ)
        if descriptor == self.process.output_end:
            self._keep_output(piece)
        elif not self.is_answered:
            self._reply += piece
            if len(self._reply) > int(self.limits["reply_bytes"]):
                self.kill("too_long")
        return bool(piece)

    def take_output(self) -> None:
        """Read what was printed so far."""
        os.set_blocking(self.process.output_end, False)
        with contextlib.suppress(BlockingIOError):
            for _ in range(MOST_READS):
                if not self.take(self.process.output_end):
                    return

    def answer(self) -> bytes | None:
        """Its reply, as it came; None while that is not whole, or is not wanted any more."""
        if self._ended_by:
            return None
        try:
            return body_of(self._reply)
        except FrameError:
            return None

    def kill(self, why: str) -> None:
        """End the process (and whatever it started, where it could)."""
        self._ended_by = self._ended_by or why
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def reap(self) -> tuple[int, Any]:
        """Exit status and use of a process whose reply has ended; code that closed the pipe itself and goes on is
        killed."""
        deadline = time.monotonic() + CLOSING_SECONDS
        while True:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                return status, used
            if time.monotonic() > deadline:
                self.kill(CUT_OFF)
                _, status, used = os.wait4(self.process.pid, 0)
                return status, used
            time.sleep(0.001)

    def was_never_begun(self) -> bool:
        """Whether the process has ended before it took the request, and nobody wanted that."""
        return not (self.process.has_begun() or self._ended_by)

    def outcome(self, status: int | None) -> dict[str, Any]:
        """What became of the request: of one that is answered, or of one whose process has ended so."""
        text = bytes(self._head)
        if (dropped := self._printed - len(self._head) - len(self._tail)) > 0:
            text += b"\n... %d bytes ...\n" % dropped
        result: dict[str, Any] = {
            "id": self.id,
            "output": (text + self._tail).decode("utf-8", "replace"),
            "seconds": time.monotonic() - self.started,
        }
        if status is None:
            return {**result, "outcome": "answer"}
        if self._ended_by:
            return {**result, "outcome": self._ended_by}
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return {**result, "outcome": "cpu" if number == signal.SIGXCPU else "signal", "number": number}
        return {**result, "outcome": "exit", "number": os.WEXITSTATUS(status)}

    def _keep_output(self, piece: bytes) -> None:
        """Keep the beginning and the end of what user code prints, drop the middle."""
        half = int(self.limits["output_bytes"]) // OUTPUT_SHARE
        self._printed += len(piece)
        room = half - len(self._head)
        self._head += piece[: max(room, 0)]
        self._tail = (self._tail + piece[max(room, 0) :])[-half:]
