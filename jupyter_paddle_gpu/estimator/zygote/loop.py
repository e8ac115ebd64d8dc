"""The zygote's loop: requests in, guarded children out, their answers and their deaths back. One thread."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import os
import selectors
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import child, kernel, measure, paddle_import
from .libraries import Libraries
from .protocol import FrameBuffer, FrameError, read_frame, write_frame

READ = 1 << 16
TRACER = "_paddle_gpu_tracer"
CLOSING_SECONDS = 0.5
"""How long a process may live on after the end of its reply."""
QUIET_SECONDS = 0.3
"""After which nobody is taken to ask soon."""
CUT_OFF = "cut_off"
"""It lived on for longer. A reply that is whole counts all the same: on a busy machine it takes a while to go."""
OUTPUT_SHARE = 2
"""Of the output that is kept, the first and the last half."""


class Child:
    """A running request: its process, its pipes, its deadline, and what it has said so far."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.id: int = message["id"]
        self.limits: dict[str, Any] = message["limits"]
        self.started = time.monotonic()
        self.deadline = self.started + float(self.limits["wall_seconds"])
        self.private = tempfile.mkdtemp(prefix="paddle-gpu-")
        self.ended_by = ""
        self.reply = bytearray()
        self.head, self.tail, self.printed = bytearray(), bytearray(), 0
        self.pid, self.reply_end, self.output_end = 0, -1, -1
        self.open: set[int] = set()

    def keep_output(self, piece: bytes) -> None:
        """Keep the beginning and the end of what user code prints, drop the middle."""
        half = int(self.limits["output_bytes"]) // OUTPUT_SHARE
        self.printed += len(piece)
        room = half - len(self.head)
        self.head += piece[: max(room, 0)]
        self.tail = (self.tail + piece[max(room, 0) :])[-half:]

    def kill(self, why: str) -> None:
        """End the process (and whatever it started, where it could)."""
        self.ended_by = self.ended_by or why
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def outcome(self, status: int) -> dict[str, Any]:
        """What became of the request, once the process is gone and its pipes are drained."""
        text = bytes(self.head)
        if (dropped := self.printed - len(self.head) - len(self.tail)) > 0:
            text += b"\n... %d bytes ...\n" % dropped
        result: dict[str, Any] = {
            "id": self.id,
            "output": (text + self.tail).decode("utf-8", "replace"),
            "seconds": time.monotonic() - self.started,
        }
        frames = self._frames()
        if self.ended_by and not (frames and self.ended_by == CUT_OFF):
            return {**result, "outcome": self.ended_by}
        if frames:
            return {**result, "outcome": "answer", **frames[0]}
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return {**result, "outcome": "cpu" if number == signal.SIGXCPU else "signal", "number": number}
        return {**result, "outcome": "exit", "number": os.WEXITSTATUS(status)}

    def _frames(self) -> list[Any]:
        try:
            return FrameBuffer().feed(bytes(self.reply))
        except FrameError:
            return []


class Zygote:
    """Keeps Paddle imported and forks for each request; ends with its server, or when idle for long."""

    def __init__(
        self,
        requests: int,
        replies: int,
        handlers: dict[str, child.Handler],
        idle_seconds: float,
        warm_ups: Iterable[None] = (),
    ) -> None:
        """`warm_ups`: each turn makes later requests quicker; they are taken one by one while nobody asks."""
        self._requests, self._replies = requests, replies
        self._warm_ups = iter(warm_ups)
        self._is_warm = False
        self._handlers = handlers
        self._idle_seconds = idle_seconds
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ, None)
        self._buffer = FrameBuffer()
        self._children: dict[int, Child] = {}
        self._libraries = Libraries()

    def serve(self) -> None:
        """Until the server closes its end, or nobody asked for `idle_seconds`."""
        idle_since = time.monotonic()
        try:
            while True:
                now = time.monotonic()
                if self._children:
                    idle_since = now
                elif now - idle_since >= self._idle_seconds:
                    return
                events = self._awaited(now, idle_since)
                for key, _ in events:
                    if key.data is None:
                        idle_since = time.monotonic()
                        if not self._take_requests():
                            return
                    else:
                        self._take_from(key.data, key.fd)
                for one in list(self._children.values()):
                    if time.monotonic() >= one.deadline:
                        one.kill("timeout")
        finally:
            self._libraries.close()
            for one in list(self._children.values()):
                one.kill("closed")
                os.waitpid(one.pid, 0)
                shutil.rmtree(one.private, ignore_errors=True)

    def _awaited(self, now: float, idle_since: float) -> list[tuple[selectors.SelectorKey, int]]:
        """What has come by the next deadline; nothing where a warm-up was taken instead."""
        limits = [one.deadline for one in self._children.values()] or [idle_since + self._idle_seconds]
        may_warm_up = not (self._children or self._is_warm)
        if may_warm_up:
            limits.append(now + QUIET_SECONDS)
        events = self._selector.select(max(min(limits) - now, 0))
        if may_warm_up and not events:
            self._is_warm = next(self._warm_ups, self) is self
        return events

    def _take_requests(self) -> bool:
        piece = os.read(self._requests, READ)
        for message in self._buffer.feed(piece):
            if "cancel" in message:
                if one := self._children.get(message["cancel"]):
                    one.kill("cancelled")
            else:
                self._start(message)
        return bool(piece)

    def _start(self, message: dict[str, Any]) -> None:
        self._libraries.load(message.get("libraries", ()))
        one = Child(message)
        reply_end, reply = os.pipe()
        output_end, output = os.pipe()
        one.pid = os.fork()
        if one.pid == 0:
            with contextlib.suppress(BaseException):
                kernel.die_with_parent()
                os.setpgid(0, 0)
                os.dup2(output, 1)
                os.dup2(output, 2)
                for other in (self._requests, self._replies, reply_end, output_end, output):
                    os.close(other)
                child.run(self._handlers[message["do"]], message, one.private, reply)
            os._exit(70)
        os.close(reply)
        os.close(output)
        one.reply_end, one.output_end, one.open = reply_end, output_end, {reply_end, output_end}
        self._children[one.id] = one
        for descriptor in one.open:
            self._selector.register(descriptor, selectors.EVENT_READ, one)

    def _take_from(self, one: Child, descriptor: int) -> None:
        if descriptor not in one.open:  # closed while an earlier event of the same moment was looked at
            return
        piece = os.read(descriptor, READ)
        if piece and descriptor == one.output_end:
            one.keep_output(piece)
        elif piece:
            one.reply += piece
            if len(one.reply) > int(one.limits["reply_bytes"]):
                one.kill("too_long")
        else:
            self._selector.unregister(descriptor)
            os.close(descriptor)
            one.open.discard(descriptor)
            # The reply's end closes with the process; a thread that keeps printing must not keep us waiting.
            if not one.open or descriptor == one.reply_end:
                self._finish(one)

    def _finish(self, one: Child) -> None:
        if one.id not in self._children:
            return
        del self._children[one.id]
        status, usage = _reap(one)
        for descriptor in one.open:
            os.set_blocking(descriptor, False)
            with contextlib.suppress(BlockingIOError):
                while piece := os.read(descriptor, READ):
                    one.keep_output(piece)
            self._selector.unregister(descriptor)
            os.close(descriptor)
        one.open.clear()
        shutil.rmtree(one.private, ignore_errors=True)
        # Kilobytes on Linux, bytes on macOS; what the child shares with the zygote is in it.
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        used = usage.ru_utime + usage.ru_stime
        write_frame(self._replies, {**one.outcome(status), "resident": peak, "cpu_seconds": used})


def _reap(one: Child) -> tuple[int, Any]:
    """The exit status of a child whose reply has ended; code that closed the pipe itself and goes on is killed."""
    deadline = time.monotonic() + CLOSING_SECONDS
    while True:
        pid, status, usage = os.wait4(one.pid, os.WNOHANG)
        if pid:
            return status, usage
        if time.monotonic() > deadline:
            one.kill(CUT_OFF)
            _, status, usage = os.wait4(one.pid, 0)
            return status, usage
        time.sleep(0.001)


def serve_once(requests: int, replies: int, handlers: dict[str, child.Handler]) -> None:
    """Without fork: one request in this very process; the server starts the next process while it waits."""
    message = read_frame(requests)
    if message is None:
        return
    private = tempfile.mkdtemp(prefix="paddle-gpu-")
    frame = FrameBuffer().feed(child.answer(handlers[message["do"]], message, private))[0]
    shutil.rmtree(private, ignore_errors=True)
    write_frame(replies, {"id": message["id"], "outcome": "answer", "output": "", "seconds": 0.0, **frame})


def load_tracer(folder: Path) -> Any:
    """The tracer's package from its folder, under a private name."""
    specification = importlib.util.spec_from_file_location(
        TRACER, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if specification is None or specification.loader is None:
        raise ImportError(f"no tracer in {folder}")
    package = importlib.util.module_from_spec(specification)
    sys.modules[TRACER] = package
    specification.loader.exec_module(package)
    return package


def prepare(tracer_folder: Path, *, plain: bool) -> tuple[dict[str, Any], dict[str, child.Handler], Iterable[None]]:
    """Import Paddle and what works with it; the greeting for the server, the handlers by name, and warm-ups."""
    start = time.monotonic()
    greeting: dict[str, Any] = {"python": sys.executable, "version": ".".join(map(str, sys.version_info[:3]))}
    handlers: dict[str, child.Handler] = {"echo": lambda request: request}
    warm_ups: Iterable[None] = ()
    try:
        paddle = importlib.import_module("paddle") if plain else paddle_import.quickly()
    except Exception as error:  # a broken installation is an answer
        greeting["error"] = f"{type(error).__name__}: {error}"[:1000]
    else:
        greeting["paddle_version"] = paddle.__version__
        handlers["measure"] = measure.measure_notebook
        try:
            tracer = load_tracer(tracer_folder)
            if hasattr(tracer, "prepare"):
                greeting["unpatched"] = list(tracer.prepare())
            handlers["trace"] = tracer.trace_notebook
            warm_ups = getattr(tracer, "warm_up", tuple)()
        except Exception as error:  # a version of Paddle that the tracer does not know
            greeting["tracer_error"] = f"{type(error).__name__}: {error}"[:1000]
    greeting["seconds"] = time.monotonic() - start
    return greeting, handlers, warm_ups


def main(arguments: list[str]) -> None:
    """Serve on standard input and output until the server goes away. Arguments: see `__main__`."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)  # whatever libraries print goes where errors go, never between frames
    os.close(null)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    greeting, handlers, warm_ups = prepare(Path(arguments[1]), plain="--plain" in arguments)
    gc.enable()
    write_frame(replies, {"ready": greeting})
    if "--once" in arguments or not hasattr(os, "fork"):
        serve_once(requests, replies, handlers)
        return
    gc.freeze()  # what is alive now stays shared with the children: no collector touches its pages
    Zygote(requests, replies, handlers, float(arguments[0]), warm_ups).serve()
    os._exit(0)  # Paddle's own way out takes a fifth of a second, and nothing of ours is left
