"""Jupyter Servers on the stand-in for NVML, and what their libraries and event loops write down."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from .loop.sitecustomize import FORM

HERE = Path(__file__).parent
CARDS = 8
DELAY = 100
"""Microseconds of a call of NVML in the servers."""


@dataclass
class Server:
    """One Jupyter Server with one extension.

    Attributes:
        python: the interpreter that has it.
        path: of the devices' socket; `hello`: what a client says there to have samples.
        options: more of its command line.
    """

    name: str
    python: str
    extension: str
    path: str
    hello: str
    folder: Path
    options: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    port: int = 0

    @property
    def root(self) -> Path:
        """The folder that it shows."""
        return self.folder / f"root-{self.name}"

    @contextlib.contextmanager
    def running(self, environment: Mapping[str, str]) -> Iterator[psutil.Process]:
        """Its process, when it answers."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.root.mkdir(exist_ok=True)
        command = [
            *(self.python, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={self.port}"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.root}"),
            f"--ServerApp.jpserver_extensions={{'{self.extension}': True}}",
            *self.options,
        ]
        with (self.folder / f"{self.name}.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            try:
                while True:
                    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                        break
                    if process.poll() is not None:
                        raise RuntimeError((self.folder / f"{self.name}.log").read_text()[-2000:])
                    time.sleep(0.2)
                yield psutil.Process(process.pid)
            finally:
                process.terminate()
                process.wait(60)


class Counters:
    """What the library and the loop write down."""

    def __init__(self, folder: Path) -> None:
        self.calls, self.loop = folder / "calls", folder / "loop"
        self.calls.write_bytes(bytes(8))
        self.loop.write_bytes(bytes(FORM.size))

    def clear(self) -> None:
        """Count the loop's rounds from now on."""
        with self.loop.open("r+b") as file:
            file.write(bytes(FORM.size))

    def rounds(self) -> dict[str, float]:
        """What the event loop's rounds took since then."""
        longest, busiest, held, made, late, heavy, holding, making = FORM.unpack(self.loop.read_bytes())
        return {
            "longest_round_ms": 1000 * longest,
            "busiest_round_ms": 1000 * busiest,
            "longest_round_with_a_processor_ms": 1000 * held,
            "longest_round_by_the_server_ms": 1000 * made,
            "rounds_over_10_ms": late,
            "rounds_over_10_ms_of_processor": heavy,
            "rounds_over_10_ms_with_a_processor": holding,
            "rounds_over_10_ms_by_the_server": making,
        }

    def measured(self, process: psutil.Process, seconds: float) -> dict[str, float]:
        """What happened in so many seconds from now on."""
        self.clear()
        before, calls, began = process.cpu_times(), self._count(), time.monotonic()
        time.sleep(seconds)
        passed, after = time.monotonic() - began, process.cpu_times()
        used = after.user + after.system - before.user - before.system
        return {
            "calls_a_second": (self._count() - calls) / passed,
            "processor_ms_a_second": 1000 * used / passed,
            **self.rounds(),
        }

    def _count(self) -> int:
        found: int = struct.unpack("l", self.calls.read_bytes())[0]
        return found


def library(folder: Path, *options: str) -> Path:
    """The folder with the stand-in, whose calls are counted where that is among the compiler's options."""
    folder.mkdir()
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wl,-Bsymbolic", *options]
    subprocess.run([*command, "-o", folder / "libnvidia-ml.so.1", HERE / "counted.c", "-ldl"], check=True)
    return folder


def environment(folder: Path, counters: Counters) -> dict[str, str]:
    """Of a process that sees the cards and counts its calls."""
    world = [f"count {CARDS}", *(f"process {card} {os.getpid()} 1073741824" for card in range(CARDS))]
    (folder / "world").write_text("\n".join(world) + "\n")
    return {
        **os.environ,
        "NVML_STAND_IN": str(folder / "world"),
        "NVML_CALLS": str(counters.calls),
        "PADDLE_GPU_DATA": str(folder / "data"),
        "LD_LIBRARY_PATH": str(library(folder / "counting", "-finstrument-functions")),
    }


def watched(environment: Mapping[str, str], counters: Counters) -> dict[str, str]:
    """Of a server whose event loop is watched."""
    delay, loop = {"NVML_DELAY": str(DELAY)}, {"LOOP_FILE": str(counters.loop), "PYTHONPATH": str(HERE / "loop")}
    return {**environment, **delay, **loop}
