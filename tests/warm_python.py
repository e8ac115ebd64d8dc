"""Python with some modules imported once: each program runs in a fresh fork of a process that has done nothing else.

`python warm_python.py ADDRESS MODULE...` is that process. `WarmPython` starts it and has it run programs, as
`subprocess.run` would run `python ...`, without the time that the imports take. What Paddle allocates once a process
is allocated in each fork anew, so that peaks are those of a process of its own.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from types import ModuleType
from typing import NoReturn

SECONDS = 1200.0
"""For one program, on a busy machine."""


class WarmPython:
    """A warm process, started with the first program. Several programs may run at the same time.

    `options` are the interpreter's, for instance `-W ignore`.
    """

    def __init__(self, *modules: str, options: tuple[str, ...] = ()) -> None:
        self._modules, self._options = modules, options
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="pgw-")
        self._address = f"{self._folder.name}/socket"

    def run(
        self, *arguments: str, sent: str = "", environment: dict[str, str] | None = None, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `python *arguments` (a file, or `-c` and code) to its end, in `folder`, with `sent` as its input.

        `environment` is all that the program sees, though not what the modules were imported with.
        """
        self._start()
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as errors,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            given.write(sent.encode())
            given.seek(0)
            connection.settimeout(SECONDS)
            connection.connect(self._address)
            socket.send_fds(connection, [b"\n"], [file.fileno() for file in (given, out, errors)])
            connection.sendall(
                json.dumps([str(folder or Path.cwd()), environment or dict(os.environ), arguments]).encode()
            )
            connection.shutdown(socket.SHUT_WR)
            status = _received(connection)
            for file in (out, errors):
                file.seek(0)
            printed, said = (_text(file.read()) for file in (out, errors))
        return subprocess.CompletedProcess(arguments, int(status or -1), printed, said)

    def close(self) -> None:
        """End the process; programs that still run end with it."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
        self._folder.cleanup()

    def _start(self) -> None:
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, *self._options, __file__, self._address, *self._modules],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )
                assert self._process.stdout is not None
                assert self._process.stdout.readline() == b"ready\n", "a module cannot be imported"


def main(address: str, *modules: str) -> None:
    """Fork a process for each program that comes, until nobody holds our input any more."""
    for module in modules:
        importlib.import_module(module)
    gc.freeze()  # no fork looks through what was imported, which would copy all of it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody here asks how a fork ended
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        os.write(1, b"ready\n")
        while True:
            readable, _, _ = select.select([listener.fileno(), 0], [], [])
            if 0 in readable:
                os.killpg(0, signal.SIGKILL)
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _serve(connection)
            connection.close()


def _serve(connection: socket.socket) -> NoReturn:
    """Run the program in one more fork and say how it ended, whatever it does to itself."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
    folder, environment, arguments = json.loads(_received(connection))
    child = os.fork()
    if child == 0:
        connection.close()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        _run(arguments)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):  # whoever asked has gone
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(arguments: list[str]) -> NoReturn:
    """What `python` does with its arguments, without its orderly end: Paddle's takes longer than most programs."""
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115  # for as long as it runs
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    if arguments[0] == "-c":
        name, code, sys.argv, sys.path[0] = "<string>", arguments[1], ["-c", *arguments[2:]], ""
    else:
        name, code, sys.argv = arguments[0], Path(arguments[0]).read_text(encoding="utf-8"), arguments
        sys.path[0] = str(Path(name).parent)
    space = sys.modules["__main__"] = ModuleType("__main__")
    if name != "<string>":
        space.__file__ = name
    status = 0
    try:
        exec(compile(code, name, "exec"), vars(space))
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    finally:
        for file in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                file.flush()
        os._exit(status)


def _text(raw: bytes) -> str:
    """As `subprocess` reads texts: each kind of line end is one."""
    return raw.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")


def _received(connection: socket.socket) -> str:
    """All that comes until the other end closes its half."""
    return b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()


if __name__ == "__main__":
    main(*sys.argv[1:])
