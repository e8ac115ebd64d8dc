"""The zygote's loop: requests in, guarded children out, their answers and their deaths back. One thread."""

from __future__ import annotations

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

from . import child, measure, paddle_import
from .forks import Forks
from .libraries import Libraries
from .protocol import FrameBuffer, body_of, read_frame, write_frame
from .running import CLOSING_SECONDS, Child

READ = 1 << 16
TRACER = "_paddle_gpu_tracer"
QUIET_SECONDS = 0.3
"""After which nobody is taken to ask soon."""


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
        self._forks = Forks(handlers, self._descriptors)
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
            self._forks.dismiss()
            for one in list(self._children.values()):
                one.kill("closed")
                os.waitpid(one.process.pid, 0)
                shutil.rmtree(one.private, ignore_errors=True)

    def _awaited(self, now: float, idle_since: float) -> list[tuple[selectors.SelectorKey, int]]:
        """What has come by the next deadline; nothing where a warm-up was taken instead."""
        limits = [one.deadline for one in self._children.values()] or [idle_since + self._idle_seconds]
        may_warm_up = not (self._children or self._is_warm)
        if may_warm_up:
            limits.append(now + QUIET_SECONDS)
        events = self._selector.select(max(min(limits) - now, 0))
        if may_warm_up and not events:
            with self._forks.pages.learning():
                self._is_warm = next(self._warm_ups, self) is self
            if self._is_warm:
                self._forks.get_ready()
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
        if self._libraries.load(message.get("libraries", ())):
            self._forks.dismiss()  # it knows nothing of them
        one = Child(message)
        one.process = self._forks.of(message, one.private)
        self._watch(one)

    def _watch(self, one: Child) -> None:
        self._children[one.id] = one
        for descriptor in one.process.open:
            self._selector.register(descriptor, selectors.EVENT_READ, one)

    def _take_from(self, one: Child, descriptor: int) -> None:
        if descriptor not in one.process.open:  # closed while an earlier event of the same moment was looked at
            return
        if not one.take(descriptor):
            self._close(one, descriptor)
            # The reply's end closes with the process; a thread that keeps printing must not keep us waiting.
            if descriptor == one.process.reply_end or not one.process.open:
                self._finish(one)
        elif not one.is_answered and (body := one.answer()) is not None:
            self._answer(one, body)

    def _answer(self, one: Child, body: bytes) -> None:
        """Hand on what it says; that the process ends need not be waited for, which takes as long as a fork."""
        one.is_answered = True
        if one.process.output_end in one.process.open:
            one.take_output()
            self._close(one, one.process.output_end)
        one.deadline = time.monotonic() + CLOSING_SECONDS
        self._reply({**one.outcome(None), "body": len(body)}, body)

    def _finish(self, one: Child) -> None:
        """The process has ended, or is going to."""
        if one.id not in self._children:
            return
        del self._children[one.id]
        status, used = one.reap()
        if not one.is_answered and one.process.output_end in one.process.open:
            one.take_output()
        for descriptor in tuple(one.process.open):
            self._close(one, descriptor)
        if one.is_answered:
            one.process.has_begun()
        elif one.was_never_begun():  # killed while it stood ready
            one.process = self._forks.new(one.message, one.private)
            self._watch(one)
            return
        else:
            self._reply({**one.outcome(status), **child.usage(used)})
        shutil.rmtree(one.private, ignore_errors=True)

    def _reply(self, outcome: dict[str, Any], body: bytes = b"") -> None:
        write_frame(self._replies, outcome, body)
        if self._is_warm:  # before that it would lack what is still to come
            self._forks.get_ready()

    def _close(self, one: Child, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        one.process.close(descriptor)

    def _descriptors(self) -> list[int]:
        """What is no business of a child's."""
        own = [self._requests, self._replies, self._selector.fileno()]
        return own + [descriptor for one in self._children.values() for descriptor in one.process.descriptors()]


def serve_once(requests: int, replies: int, handlers: dict[str, child.Handler]) -> None:
    """Without fork: one request in this very process; the server starts the next process while it waits."""
    message = read_frame(requests)
    if message is None:
        return
    private = tempfile.mkdtemp(prefix="paddle-gpu-")
    body = body_of(child.answer(handlers[message["do"]], message, private)) or b""
    shutil.rmtree(private, ignore_errors=True)
    said = {"id": message["id"], "outcome": "answer", "output": "", "seconds": 0.0, "body": len(body)}
    write_frame(replies, said, body)


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
