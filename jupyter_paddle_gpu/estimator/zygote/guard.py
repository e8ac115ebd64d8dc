"""What user code may not do in a child: write, start processes, reach a network, grow without limit.

Two layers: the kernel's (`kernel.confine`, whatever the code is written in) and Python's audit events, which know what
was wanted and so give the sentence. Every refusal is an exception in the user's code, but for the writes that `overlay`
can pretend. All are kept for the answer, but for what libraries try while they are imported (a look at the processors,
a folder for a cache): nobody who reads the notebook could do anything about that, and where the import fails for it
the exception tells.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import kernel
from .overlay import Overlay

if TYPE_CHECKING:
    from types import FrameType

MAX_REFUSALS = 20
"""Distinct refusals kept for the answer."""

_LIBRARIES = (sysconfig.get_path("stdlib"), *(f"{os.sep}{name}-packages{os.sep}" for name in ("site", "dist")))
"""What the path of a library's module has in it."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# Audit event -> how many of its first arguments are paths that would change.
_CHANGES = {
    "os.remove": 1,
    "os.rmdir": 1,
    "os.mkdir": 1,
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "os.utime": 1,
    "os.setxattr": 1,
    "os.removexattr": 1,
}
_PROCESSES = frozenset(
    ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "pty.spawn")
)
_NETWORK = frozenset(
    (
        "socket.connect",
        "socket.bind",
        "socket.sendto",
        "socket.sendmsg",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.getnameinfo",
        "urllib.Request",
    )
)
_SIGNALS = frozenset(("os.kill", "os.killpg", "signal.pthread_kill"))
_WATCHED = frozenset(("open", *_CHANGES)) | _PROCESSES | _NETWORK | _SIGNALS
_BEGINS_ANEW = "jupyter_paddle_gpu.begins_anew"
"""What the tracer says (`notebook.processes`) before it follows a program once more."""


class RefusedError(PermissionError):
    """An estimate does not do this.

    Attributes:
        refused: what was wanted (write, process, network, signal) and of what. The tracer looks for this attribute,
            also below the libraries' own exceptions.
    """

    def __init__(self, action: str, target: str) -> None:
        super().__init__(f"not done while the memory is estimated ({action}): {target}")
        self.refused = (action, target)


class Guard:
    """The limits of one child; `refusals` are the distinct (action, target) pairs that its code was refused."""

    def __init__(self, private: str) -> None:
        self.refusals: list[tuple[str, str]] = []
        self.held: list[str] = []
        self._private = os.path.realpath(private)

    def enter(self, limits: dict[str, int]) -> None:
        """From here on the process is limited, for good. `limits`: memory_bytes, cpu_seconds, file_bytes."""
        os.environ["TMPDIR"] = tempfile.tempdir = self._private
        os.environ.setdefault("MPLBACKEND", "Agg")
        os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # else it ends the process in place of what stopped a program
        sys.dont_write_bytecode = True
        _set_resource_limits(limits)
        _die_first()
        self.held = kernel.confine(self._private)
        note, absent = functools.partial(self._keep, "write"), functools.partial(self._keep, "folder")
        overlay = Overlay(self._private, self._mine, note, absent)
        overlay.install()
        sys.addaudithook(self._hook(overlay))

    def _hook(self, overlay: Overlay) -> Any:
        own = os.getpid()

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event not in _WATCHED:
                if event == _BEGINS_ANEW:
                    overlay.begin_anew()
                return
            if event == "open":
                path, _, flags = arguments
                if isinstance(path, int) or not isinstance(flags, int) or not flags & _WRITING or self._mine(path):
                    return
                self._refuse("write", path)
            elif event in _CHANGES:
                for path in arguments[: _CHANGES[event]]:
                    if not isinstance(path, int) and not self._mine(path):
                        self._refuse("write", path)
            elif event in _PROCESSES:
                self._refuse("process", arguments[0] if arguments else event)
            elif event in _NETWORK:
                self._refuse("network", _address(event, arguments))
            elif arguments and arguments[0] != own:
                self._refuse("signal", arguments[0])

        return hook

    def _mine(self, path: Any) -> bool:
        try:
            whole = os.path.realpath(os.fsdecode(path))
        except (TypeError, ValueError, OSError):
            return False
        return whole in ("/dev/null", "/dev/zero") or whole == self._private or whole.startswith(self._private + os.sep)

    def _keep(self, action: str, target: Any) -> str:
        text = os.fsdecode(target) if isinstance(target, (str, bytes, os.PathLike)) else repr(target)
        refusal = (action, text[:200])
        if refusal not in self.refusals and len(self.refusals) < MAX_REFUSALS and not _library_is_imported():
            self.refusals.append(refusal)
        return text[:200]

    def _refuse(self, action: str, target: Any) -> None:
        raise RefusedError(action, self._keep(action, target))


def _library_is_imported() -> bool:
    """Whether the innermost module that is being imported is a library's and not one of the notebook's own."""
    frame: FrameType | None = sys._getframe(1)
    path = ""
    while frame is not None:
        inner, path = path, frame.f_code.co_filename
        if path == "<frozen importlib._bootstrap>":
            return any(part in inner for part in _LIBRARIES)
        frame = frame.f_back
    return False


def _address(event: str, arguments: tuple[Any, ...]) -> Any:
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"):
        address = arguments[-1]
        return f"{address[0]}:{address[1]}" if isinstance(address, tuple) and len(address) > 1 else address
    return arguments[0]


def _die_first() -> None:
    """Where memory runs out in spite of the limit, the kernel shall take this process and not the server."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _set_resource_limits(limits: dict[str, int]) -> None:
    try:
        import resource
    except ImportError:  # not on this platform: the wall clock alone limits
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_bytes"],) * 2)
    seconds = int(limits["cpu_seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    statm = Path("/proc/self/statm")
    if statm.exists():  # the address space also counts what the libraries have mapped already
        mapped = int(statm.read_text().split()[0]) * resource.getpagesize()
        limit = mapped + limits["memory_bytes"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
