"""Programs of Python that the program starts (`subprocess.run([sys.executable, "tools/train.py", …])`, `os.system`).

An estimate starts no process; the script is run in the trace, with its arguments, its folder and its environment, as
one that a notebook's command runs. Whatever else is started is refused where it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import io
import os
import re
import runpy
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ... import call_stack
from ...session import Session
from ..patch import Patch

_PYTHON = re.compile(r"(?:.*/)?python[\d.]*w?$")
_SHELL = re.compile(r"(?:.*/)?(?:ba|z)?sh$")
_CUT = re.compile(r"\s*(?:&&|;|\|\||\||\n)\s*")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_REDIRECTED = re.compile(r"\d?>|<|&$")
_WITH_VALUE = frozenset(("-W", "-X"))
_LAUNCHER = "paddle.distributed.launch"
_BUILDS = frozenset(("build", "build_ext", "develop", "install"))
"""What compiles a module of the program's own: nothing is built, and its import is passed by as that of any other
module that is not here."""
NOT_FOUND = 2
"""The exit status of Python where the script is not there."""
_PIPED = (subprocess.PIPE, asyncio.subprocess.PIPE)


@dataclass(frozen=True)
class Started:
    """A script with what it is started with; `folder` and `environment` are None where they are the program's own."""

    path: str
    arguments: tuple[str, ...]
    folder: str | None = None
    environment: Mapping[str, str] | None = None


class StartedPrograms:
    """Runs what the program starts.

    Args:
        run: runs a script and gives its exit status; None where nothing is run, as with live objects.
        in_place: gives what stands for the code of a file that runs in the program's own process, and the names that it
            begins with; None for one that runs as it is.
    """

    def __init__(
        self,
        run: Callable[[Started], int] | None = None,
        in_place: Callable[[str], tuple[Any, Any] | None] | None = None,
    ) -> None:
        self._run, self.in_place = run, in_place

    def status(self, session: Session, command: Any, options: Mapping[str, Any]) -> int | None:
        """The exit status of a command that runs a script of Python; None for every other one."""
        if self._run is None:
            return None
        ended = [self._ended(session, *one, options) for one in _commands(command)]
        return next((status for status in reversed(ended) if status is not None), None)

    def _ended(self, session: Session, words: list[str], inside: str, options: Mapping[str, Any]) -> int | None:
        assert self._run is not None
        found = _script(words)
        if found is None:
            return None
        if os.path.basename(found[0]) == "setup.py" and _BUILDS & set(found[1]):  # noqa: PTH119
            return 0
        folder, environment = options.get("cwd"), options.get("env")
        if inside:
            folder = os.path.join(folder or "", inside)  # noqa: PTH118 - relative to the process
        asked = Started(*found, None if folder is None else os.fspath(folder), environment)
        # A path is looked for in the folder of the process.
        file = os.path.join(asked.folder or "", asked.path)  # noqa: PTH118
        if os.path.isfile(file):  # noqa: PTH113 - the guard follows it
            return self._run(asked)
        if not os.path.isdir(asked.folder or "."):  # noqa: PTH112 - which ends the program before it starts anything
            return None
        cell, line = call_stack.place()
        session.note("program_absent", path=file, cell=cell + 1, line=line)
        return NOT_FOUND


def _commands(command: Any) -> list[tuple[list[str], str]]:
    """The words of each program of a command, with the folder that a `cd` before it in the line goes to."""
    if not isinstance(command, (str, os.PathLike)):
        given = [os.fspath(one) for one in command] if isinstance(command, Sequence) else []
        if given[1:2] == ["-c"] and _SHELL.match(given[0]):
            return _commands(" ".join(given[2:3]))
        return [(given, "")] if given else []
    found, folder = [], ""
    for part in _CUT.split(os.fspath(command)):
        words: list[str] = []
        with contextlib.suppress(ValueError):
            words = shlex.split(part)
        while words and _ASSIGNED.match(words[0]):
            words = words[1:]
        end = next((at for at, word in enumerate(words) if _REDIRECTED.match(word)), len(words))
        if words[:1] == ["cd"] and end == 2:
            folder = os.path.join(folder, words[1])  # noqa: PTH118 - relative to the process
        else:
            found.append((words[:end], folder))
    return found


def _script(words: list[str]) -> tuple[str, tuple[str, ...]] | None:
    """The script of `python [options] script.py …`, of `-m module …` and of the launcher, with its arguments."""
    if not words or not _PYTHON.match(words[0]):
        return None
    rest = words[1:]
    while rest and rest[0].startswith("-") and rest[0] not in {"-m", "-c"}:
        rest = rest[2 if rest[0] in _WITH_VALUE else 1 :]
    if rest[:2] == ["-m", _LAUNCHER]:
        at = next((at for at, word in enumerate(rest) if word.endswith(".py")), None)
        return None if at is None else (rest[at], tuple(rest[at + 1 :]))
    if rest[:1] == ["-m"] and len(rest) > 1:
        file = _module(rest[1])
        return None if file is None else (file, tuple(rest[2:]))
    return (rest[0], tuple(rest[1:])) if rest and rest[0].endswith(".py") else None


def _module(name: str) -> str | None:
    """The file of a module that is run by its name."""
    with contextlib.suppress(ImportError, ValueError, AttributeError):
        found = importlib.util.find_spec(name)
        if found is not None and found.submodule_search_locations is not None:
            found = importlib.util.find_spec(f"{name}.__main__")
        return None if found is None or not (found.origin or "").endswith(".py") else found.origin
    return None


def _start(session: Session, original: Callable[..., Any], self: Any, args: Any, *given: Any, **options: Any) -> None:
    """`subprocess.Popen(...)`, through which `run`, `call` and `check_output` go: a process that has ended."""
    status = session.of(StartedPrograms).status(session, args, options)
    if status is None:
        original(self, args, *given, **options)
        return
    is_text = any(options.get(name) for name in ("text", "universal_newlines", "encoding", "errors"))
    self.__dict__.update(
        args=args, returncode=status, pid=os.getpid(), stdin=None, stdout=_nothing(options.get("stdout"), is_text),
        stderr=_nothing(options.get("stderr"), is_text), encoding=options.get("encoding"),
        errors=options.get("errors"), text_mode=is_text, pipesize=-1, process_group=None,
        _input=None, _communication_started=False, _child_created=False, _closed_child_pipe_fds=True,
        _sigint_wait_secs=0, _waitpid_lock=threading.Lock(),
    )  # fmt: skip
    if options.get("stdin") == subprocess.PIPE:
        self.stdin = io.StringIO() if is_text else io.BytesIO()


def _nothing(asked: Any, is_text: bool) -> Any:
    """What a program has printed: nothing, by a pipe whose other end is closed."""
    if asked != subprocess.PIPE:
        return None
    reading, writing = os.pipe()
    os.close(writing)
    return os.fdopen(reading, "r" if is_text else "rb")


class _Ended:
    """A process of asyncio's that has ended."""

    def __init__(self, status: int, options: Mapping[str, Any]) -> None:
        self.returncode, self.pid, self.stdin = status, os.getpid(), None
        self.stdout, self.stderr = (_ended_stream(options.get(name)) for name in ("stdout", "stderr"))

    async def wait(self) -> int:
        """Its exit status."""
        return self.returncode

    async def communicate(self, _: bytes | None = None) -> tuple[bytes | None, bytes | None]:
        """What it has printed: nothing."""
        return (None if self.stdout is None else b"", None if self.stderr is None else b"")

    def kill(self) -> None:
        """It has ended."""

    terminate = kill


def _ended_stream(asked: Any) -> asyncio.StreamReader | None:
    if asked not in _PIPED:
        return None
    stream = asyncio.StreamReader()
    stream.feed_eof()
    return stream


def _start_awaited(session: Session, original: Callable[..., Any], *command: Any, **options: Any) -> Any:
    """`asyncio.create_subprocess_exec(...)` and `create_subprocess_shell(...)`."""
    words = command[0] if len(command) == 1 else command
    status = session.of(StartedPrograms).status(session, words, options)
    if status is None:
        return original(*command, **options)

    async def ended() -> _Ended:
        return _Ended(status, options)

    return ended()


def _system(session: Session, original: Callable[..., Any], command: Any) -> Any:
    """`os.system(...)`."""
    status = session.of(StartedPrograms).status(session, command, {})
    return original(command) if status is None else status << 8


def _run_code(session: Session, original: Callable[..., Any], code: Any, names: dict[str, Any], *given: Any,
              **options: Any) -> Any:  # fmt: skip
    """`runpy.run_path(...)` and `run_module(...)`, which both come to this."""
    in_place = session.of(StartedPrograms).in_place
    found = None if in_place is None else in_place(code.co_filename)
    if found is None:
        return original(code, names, *given, **options)
    names.update(found[1])
    return original(found[0], names, *given, **options)


def patches() -> Iterator[Patch]:
    """How programs are started."""
    yield Patch(subprocess.Popen, "__init__", _start)
    yield Patch(os, "system", _system)
    yield Patch(runpy, "_run_code", _run_code)
    for name in ("create_subprocess_exec", "create_subprocess_shell"):
        yield Patch(asyncio, name, _start_awaited)
        yield Patch(asyncio.subprocess, name, _start_awaited)
