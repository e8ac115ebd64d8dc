"""One life of a zygote: its process, and the replies that come from it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections import deque
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import IO, Any

from ...devices.makers.registry import makers
from ...domain.decoding import convert
from ...domain.errors import PaddleGpuError
from ..zygote.protocol import FrameError, read_bytes, read_frame, write_frame
from .interpreters import Interpreter
from .outcomes import Greeting
from .settings import WorkerSettings

ZYGOTE = Path(__file__).parents[1] / "zygote"
END_SECONDS = 2.0
"""How long a zygote may take to end by itself when we close our end."""


class Process:
    """One life of a zygote."""

    def __init__(self, interpreter: Interpreter, settings: WorkerSettings, *, plain: bool) -> None:
        options = [*([] if settings.fork else ["--once"]), *(["--plain"] if plain else [])]
        try:
            self._popen = subprocess.Popen(
                [*interpreter.command, str(ZYGOTE), str(settings.idle_seconds), str(settings.tracer), *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # The step is traced on the CPU: a device must neither be needed nor be touched for that.
                env={**interpreter.environ(), **makers().visible(()), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        except OSError as error:
            raise PaddleGpuError(
                "worker_does_not_start",
                "The estimator's process does not start: {reason}",
                hint="Check the kernel's Python: {python}",
                status=503,
                reason=str(error),
                python=" ".join(interpreter.command),
            ) from error
        self.pid = self._popen.pid
        self.plain = plain
        self._once = not (settings.fork and hasattr(os, "fork"))
        self._lock = threading.Lock()
        self._futures: dict[int, Future[dict[str, Any]]] = {}
        self._greeting: Future[Greeting] = Future()
        self._errors: deque[bytes] = deque(maxlen=20)
        self._alive = True
        self._reader = threading.Thread(target=self._read_replies, name="estimator-replies", daemon=True)
        self._reader.start()
        threading.Thread(target=self._read_errors, name="estimator-errors", daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._alive and self._popen.poll() is None

    def greeting(self, seconds: float) -> Greeting:
        """What it says when it is ready. Raises `PaddleGpuError`: that took longer than so many seconds."""
        try:
            return self._greeting.result(seconds)
        except FutureTimeoutError:
            self.end()
            raise PaddleGpuError(
                "worker_slow",
                "Importing Paddle in the kernel's Python took more than {seconds} seconds.",
                hint="Try `python -c 'import paddle'` in that environment.",
                status=503,
                seconds=round(seconds),
            ) from None

    def send(self, message: dict[str, Any]) -> Future[dict[str, Any]]:
        """Hand it a request; its reply comes later."""
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            if not self._alive:
                future.set_result({"outcome": "gone"})
                return future
            self._futures[message["id"]] = future
            self._write(message, message["id"])
        return future

    def cancel(self, number: int) -> None:
        """Have a request end now; its reply says so."""
        with self._lock:
            if number not in self._futures:
                return
            if self._once:  # it reads nothing while it works
                self._popen.kill()
            else:
                self._write({"cancel": number}, number)

    def _write(self, message: dict[str, Any], number: int) -> None:
        try:
            write_frame(_descriptor(self._popen.stdin), message)
        except OSError:
            future = self._futures.pop(number, None)
            if future is not None:
                future.set_result({"outcome": "gone"})
        except BaseException:  # interrupted in the middle of a frame: what follows could not be read
            self._alive = False
            if self._popen.stdin:
                with contextlib.suppress(OSError):
                    self._popen.stdin.close()
            raise

    def end(self) -> None:
        """Close our end, which ends the zygote and its children; kill it where that does not help."""
        with self._lock:
            self._alive = False
            if self._popen.stdin:
                with contextlib.suppress(OSError):
                    self._popen.stdin.close()
        if not self._greeting.done():  # it still imports Paddle: it has no children, and reads nothing until then
            self._popen.kill()
        # The reader ends with the process; waiting for the process itself would poll.
        self._reader.join(END_SECONDS)
        try:
            self._popen.wait(0)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def _read_replies(self) -> None:
        descriptor = _descriptor(self._popen.stdout)
        with contextlib.suppress(OSError, FrameError, ValueError):
            while (reply := read_frame(descriptor)) is not None:
                if "ready" in reply:
                    self._greeting.set_result(convert(reply["ready"], Greeting))
                    continue
                if "body" in reply:
                    reply["body"] = read_bytes(descriptor, reply["body"])
                with self._lock:
                    future = self._futures.pop(reply["id"], None)
                if future:
                    future.set_result(reply)
        with self._lock:
            self._alive = False
            futures, self._futures = list(self._futures.values()), {}
        self._popen.wait()
        for future in futures:
            future.set_result({"outcome": "gone"})
        if not self._greeting.done():
            last = b"".join(self._errors).decode("utf-8", "replace").strip().splitlines()
            text = last[-1] if last else f"exit status {self._popen.returncode}"
            self._greeting.set_result(Greeting(error=text[:1000]))
        for pipe in (self._popen.stdout, self._popen.stdin):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _read_errors(self) -> None:
        pipe = self._popen.stderr
        with contextlib.suppress(OSError, ValueError):
            while pipe and (piece := os.read(pipe.fileno(), 4096)):
                self._errors.append(piece)
        if pipe:
            pipe.close()


def _descriptor(pipe: IO[bytes] | None) -> int:
    if pipe is None:
        raise OSError("no pipe")
    return pipe.fileno()
