"""The server's end of a zygote: starts it in the kernel's interpreter, hands it requests, survives its end.

One worker serves one interpreter, several requests at a time; each runs in a forked, guarded child (`zygote/`).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import threading
from collections import deque
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import IO, Any, Literal

import msgspec
import psutil

from ...domain.errors import PaddleGpuError
from ..zygote.protocol import FrameError, read_frame, write_frame
from .interpreters import Interpreter

ZYGOTE = Path(__file__).parents[1] / "zygote"
TRACER = Path(__file__).parents[1] / "tracer"

END_SECONDS = 2.0
"""How long a zygote may take to end by itself when we close our end."""
PADDLE_BROKEN = "paddle"
"""The `error` type of an outcome that never came about, because Paddle cannot be imported."""

OutcomeKind = Literal[
    "answer",
    "error",
    "exit",
    "signal",
    "cpu",
    "timeout",
    "memory",
    "too_long",
    "cut_off",
    "cancelled",
    "closed",
    "gone",
]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one request may take.

    Attributes:
        memory_bytes: address space beyond what the imported libraries have mapped.
        cpu_seconds, wall_seconds: processor and wall time.
        file_bytes: size of one file in the private temporary folder.
        reply_bytes, output_bytes: length of the answer; how much printed text is kept.
    """

    memory_bytes: int
    cpu_seconds: int = 60
    wall_seconds: float = 60.0
    file_bytes: int = 64 << 20
    reply_bytes: int = 128 << 20
    output_bytes: int = 16 << 10


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Delays and limits of a worker.

    Attributes:
        start_seconds: how long `import paddle` may take.
        idle_seconds: after this time without a request the zygote ends and gives its memory back.
        grace_seconds: how much longer than `wall_seconds` the server waits before it gives the zygote up.
        memory_share: part of the machine's available memory that one request may map, at most `memory_bytes`.
        fork: a child for each request out of a warm process; otherwise a fresh process for each.
        tracer: folder of the package that the zygote imports, with `trace_notebook(request)`.
    """

    start_seconds: float = 120.0
    idle_seconds: float = 600.0
    grace_seconds: float = 5.0
    memory_share: float = 0.7
    memory_bytes: int = 12 << 30
    least_memory_bytes: int = 512 << 20
    wall_seconds: float = 60.0
    cpu_seconds: int = 60
    tracer: Path = TRACER
    fork: bool = hasattr(os, "fork")

    def limits(self) -> Limits:
        """The limits of a request that starts now."""
        available = int(available_memory() * self.memory_share)
        return Limits(
            memory_bytes=max(min(self.memory_bytes, available), self.least_memory_bytes),
            cpu_seconds=self.cpu_seconds,
            wall_seconds=self.wall_seconds,
        )


def available_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that may still be used here: the machine's, or less where a container's cgroup (version 2) limits it."""
    available = int(psutil.virtual_memory().available)
    try:
        limit, used = (cgroup / "memory.max").read_text().strip(), (cgroup / "memory.current").read_text()
        return available if limit == "max" else max(min(available, int(limit) - int(used)), 0)
    except (OSError, ValueError):  # no cgroup of that version, or not ours to read
        return available


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a request.

    Attributes:
        kind: `answer` (see `value`); `error` (an exception left the handler: `error` has type, text, traceback);
            `exit`/`signal` (the process ended without an answer: `number`); `cpu`, `timeout`, `memory`, `too_long`
            (a limit); `cut_off` (user code closed the connection and went on); `cancelled`; `closed` (we are shutting
            down); `gone` (the zygote itself ended).
        refused: (action, target) pairs that user code was refused: `write`, `process`, `network`, `signal`.
        output: beginning and end of what was printed.
        resident: peak of the child's resident memory in bytes, what it shares with the zygote included.
        grown: the most anonymous memory that it took beyond the zygote's; None where that cannot be told.
        seconds, cpu_seconds: wall and processor time of the child.
        held: which of the kernel's guards took hold (`landlock`, `seccomp`).
    """

    kind: OutcomeKind
    value: Any = None
    error: dict[str, str] = {}
    number: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    held: tuple[str, ...] = ()
    output: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    resident: int = 0
    grown: int | None = None


class Greeting(msgspec.Struct, frozen=True, kw_only=True):
    """What a zygote says when it is ready; `error` where Paddle, `tracer_error` where the tracer cannot be imported,
    `unpatched` what a trace replaces and this Paddle does not have, by name."""

    python: str = ""
    version: str = ""
    paddle_version: str = ""
    seconds: float = 0.0
    error: str = ""
    tracer_error: str = ""
    unpatched: tuple[str, ...] = ()


class Worker:
    """A zygote in one interpreter, started when first needed and again after it ended. Thread-safe."""

    def __init__(self, interpreter: Interpreter, settings: WorkerSettings | None = None) -> None:
        self.interpreter = interpreter
        self.settings = settings or WorkerSettings()
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._process: _Process | None = None
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
        message = {
            "id": next(self._ids),
            "do": do,
            "request": request,
            "folder": str(folder),
            "limits": msgspec.to_builtins(chosen),
            "libraries": libraries,
        }
        future = process.send(message)
        try:
            outcome = _outcome(future.result(chosen.wall_seconds + self.settings.grace_seconds))
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

    def _greeted(self) -> tuple[_Process, Greeting]:
        process = self._running()
        greeting = process.greeting(self.settings.start_seconds)
        if process.plain or not (greeting.error or greeting.tracer_error):
            return process, greeting
        # Perhaps a Paddle that cannot be imported the quick way (`zygote/paddle_import.py`): once more without it.
        self._plain = True
        process.end()
        process = self._running()
        return process, process.greeting(self.settings.start_seconds)

    def _running(self) -> _Process:
        with self._lock:
            if self._closed:
                raise PaddleGpuError("worker_closed", "The estimator is shutting down.", status=503)
            if self._process is None or not self._process.alive:
                self._process = _Process(self.interpreter, self.settings, plain=self._plain)
            return self._process


class _Process:
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
                env={**interpreter.environ(), "CUDA_VISIBLE_DEVICES": "", "PYTHONUNBUFFERED": "1"},
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
        return self._alive and self._popen.poll() is None

    def greeting(self, seconds: float) -> Greeting:
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
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            if not self._alive:
                future.set_result({"outcome": "gone"})
                return future
            self._futures[message["id"]] = future
            try:
                write_frame(_descriptor(self._popen.stdin), message)
            except OSError:
                self._futures.pop(message["id"], None)
                future.set_result({"outcome": "gone"})
        return future

    def end(self) -> None:
        """Close our end, which ends the zygote and its children; kill it where that does not help."""
        with self._lock:
            self._alive = False
            if self._popen.stdin:
                with contextlib.suppress(OSError):
                    self._popen.stdin.close()
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
                    self._greeting.set_result(msgspec.convert(reply["ready"], Greeting))
                    continue
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


def _outcome(reply: dict[str, Any]) -> Outcome:
    kind = reply["outcome"]
    error = reply.get("error") or {}
    if kind == "answer" and error:
        kind = "memory" if error.get("type") == "MemoryError" else "error"
    return Outcome(
        kind=kind,
        value=reply.get("value"),
        error=error,
        number=reply.get("number", 0),
        refused=tuple((action, target) for action, target in reply.get("refused", ())),
        held=tuple(reply.get("held", ())),
        output=reply.get("output", ""),
        seconds=reply.get("seconds", 0.0),
        cpu_seconds=reply.get("cpu_seconds", 0.0),
        resident=reply.get("resident", 0),
        grown=reply.get("grown"),
    )
