"""The server's end of a zygote: starts it in the kernel's interpreter, hands it requests, survives its end.

One worker serves one interpreter, several requests at a time; each runs in a forked, guarded child (`zygote/`).
"""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any

import msgspec

from ...domain.errors import PaddleGpuError
from .beside import waiting
from .interpreters import Interpreter
from .outcomes import PADDLE_BROKEN, Greeting, Outcome, outcome_of
from .process import Process
from .settings import Limits, WorkerSettings


class Worker:
    """A zygote in one interpreter, started when first needed and again after it ended. Thread-safe."""

    def __init__(self, interpreter: Interpreter, settings: WorkerSettings | None = None) -> None:
        self.interpreter = interpreter
        self.settings = settings or WorkerSettings()
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._process: Process | None = None
        self._plain = False
        self._closed = False

    def start(self) -> Greeting:
        """Have the zygote running and Paddle imported; blocks until it is."""
        return self._greeted()[1]

    def begin(self) -> None:
        """Start the zygote and do not wait for it."""
        self._running()

    def request(
        self,
        do: str,
        request: dict[str, Any],
        folder: Path,
        limits: Limits | None = None,
        *,
        libraries: tuple[str, ...] = (),
        again: bool = True,
    ) -> Outcome:
        """Run one request in a child with `folder` as working directory; never raises for what the child did.

        `libraries` are imported before the fork, once for all requests that follow.
        """
        process, greeting = self._greeted()
        if greeting.error:
            return Outcome(kind="error", error={"type": PADDLE_BROKEN, "text": greeting.error, "traceback": ""})
        if greeting.tracer_error and do == "trace":
            return Outcome(kind="error", error={"type": "tracer", "text": greeting.tracer_error, "traceback": ""})
        chosen = limits or self.settings.limits()
        message: dict[str, Any] = {
            "id": next(self._ids),
            "do": do,
            "request": request,
            "folder": str(folder),
            "limits": msgspec.to_builtins(chosen),
            "libraries": libraries,
        }
        with waiting(lambda: process.cancel(message["id"])):
            future = process.send(message)
            try:
                outcome = outcome_of(future.result(chosen.wall_seconds + self.settings.grace_seconds))
            except FutureTimeoutError:  # the zygote itself hangs
                process.end()
                outcome = Outcome(kind="timeout", seconds=chosen.wall_seconds)
        # A zygote that went idle or was killed in this very moment has not seen the request: ask its successor once.
        if outcome.kind == "gone" and again and not self._closed:
            return self.request(do, request, folder, limits, libraries=libraries, again=False)
        return outcome

    @property
    def process_id(self) -> int | None:
        """The zygote's process id while it runs."""
        return self._process.pid if self._process and self._process.alive else None

    def close(self) -> None:
        """End the zygote and all it does; no process is left when this returns."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process:
            process.end()

    def _greeted(self) -> tuple[Process, Greeting]:
        process = self._running()
        greeting = process.greeting(self.settings.start_seconds)
        if process.plain or not (greeting.error or greeting.tracer_error):
            return process, greeting
        # Perhaps a Paddle that cannot be imported the quick way (`zygote/paddle_import.py`): once more without it.
        self._plain = True
        process.end()
        process = self._running()
        return process, process.greeting(self.settings.start_seconds)

    def _running(self) -> Process:
        with self._lock:
            if self._closed:
                raise PaddleGpuError("worker_closed", "The estimator is shutting down.", status=503)
            if self._process is None or not self._process.alive:
                self._process = Process(self.interpreter, self.settings, plain=self._plain)
            return self._process
