"""The viewers that run: started when somebody looks, each a process of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ..domain.errors import PaddleGpuError
from . import program
from .viewer import Viewer

AT_ONCE = 4
"""Processes; of more the one that was opened first is ended."""
IDLE_SECONDS = 600.0
"""After so long without a request a viewer ends; the next request starts it anew."""
_START_SECONDS = 120.0
"""For its imports, on a slow network disk."""
_SECRETS = ("JPY_", "JUPYTER_TOKEN", "JUPYTERHUB_")
"""What a server's environment holds that a viewer has no business with."""


@dataclass
class _Running:
    viewer: Viewer
    folder: Path
    prefix: str
    pythons: tuple[str, ...]
    home: Path
    process: subprocess.Popen[bytes] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def socket(self) -> Path:
        return self.home / "socket"

    def is_up(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()


class Viewers:
    """Viewers by what they show.

    Args:
        idle_seconds: after which one that nobody asks anything ends.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._running: dict[tuple[str, str], _Running] = {}
        self._lock = threading.Lock()

    def open(
        self, viewer: Viewer, key: str, *, folder: Path, prefix: str, pythons: Sequence[str], again: bool = False
    ) -> Path:
        """The socket on which the viewer shows the folder; started where it does not run.

        Args:
            key: what is shown, of which there is one at a time (a job's id).
            prefix: path under which it is reached; what it answers leads to paths below it.
            pythons: interpreters that may have the viewer, the most likely one first.
            again: whether it is started anew even if it seems to run: it did not answer.

        Raises:
            PaddleGpuError: `viewer_missing` (409), `viewer_failed` (502).
        """
        with self._lock:
            found = self._running.pop((viewer.name, key), None)
            if found is None:
                home = Path(tempfile.mkdtemp(prefix="paddle-gpu-"))  # short, as a socket's path must be; ours alone
                found = _Running(viewer, folder, prefix, tuple(pythons), home)
            elif found.folder != folder:
                found.stop()
                found.folder = folder
            self._running[viewer.name, key] = found
            spare = list(self._running.items())[:-AT_ONCE]
            for name, _ in spare:
                del self._running[name]
        for _, one in spare:
            _remove(one)
        with found.lock:
            if again or not found.is_up():
                found.stop()
                self._start(found)
        return found.socket

    def _start(self, one: _Running) -> None:
        for python in one.pythons:
            one.socket.unlink(missing_ok=True)
            with (one.home / "errors.log").open("wb") as errors:
                process = _spawn(python, one, errors, self._idle_seconds)
            if process is None:
                continue
            one.process = process
            if _first_line(process) == program.READY:
                return
            status = process.poll()
            one.stop()
            if status != program.MISSING:
                raise _failed(one)
        raise PaddleGpuError(
            "viewer_missing",
            "{viewer} is not installed.",
            hint="Install it and open it again: `{python} -m pip install {package}`",
            status=409,
            viewer=one.viewer.title,
            python=one.pythons[0],
            package=one.viewer.package,
        )

    def close(self) -> None:
        """End all."""
        with self._lock:
            running, self._running = list(self._running.values()), {}
        for one in running:
            _remove(one)


def _spawn(python: str, one: _Running, errors: IO[bytes], idle_seconds: float) -> subprocess.Popen[bytes] | None:
    arguments = [one.viewer.name, str(one.socket), one.prefix, str(one.folder), str(idle_seconds)]
    try:
        return subprocess.Popen(
            [python, program.__file__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=one.home,
            env={name: value for name, value in os.environ.items() if not name.startswith(_SECRETS)},
            start_new_session=True,
        )
    except OSError:  # an interpreter that is gone
        return None


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """What it says first; nothing where it ends or is not up in time."""
    overdue = threading.Timer(_START_SECONDS, process.kill)
    overdue.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if line != program.READY:
            process.wait()
        return line
    finally:
        overdue.cancel()


def _failed(one: _Running) -> PaddleGpuError:
    said = (one.home / "errors.log").read_bytes()[-10_000:].decode("utf-8", "replace").strip().splitlines()
    return PaddleGpuError(
        "viewer_failed",
        "{viewer} did not start: {why}",
        hint="Try it in a terminal: `{python} -m pip install --upgrade {package}`",
        status=502,
        viewer=one.viewer.title,
        why=said[-1][:300] if said else "?",
        python=one.pythons[0],
        package=one.viewer.package,
    )


def _remove(one: _Running) -> None:
    with one.lock:
        one.stop()
        shutil.rmtree(one.home, ignore_errors=True)
