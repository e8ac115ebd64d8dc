"""Whether a process of a container lives, as the machine itself sees it: containers number their processes anew, but
the host numbers all of them and says each one's number within (`NSpid`, proc_pid_status(5))."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import NamedTuple

HOST = "pid:[4026531836]"
"""The namespace of the machine itself (PROC_PID_INIT_INO, include/linux/proc_ns.h)."""
SCAN_SECONDS = 1.0
"""/proc is read through at most so often, however many processes somebody claims for: 30 microseconds a process."""
MOST_ASKED = 4096


class Inner(NamedTuple):
    """A process of a container: its number there, its start, its user as the host names him."""

    pid: int
    ticks: int
    user: int


class Containers:
    """What the host has seen of its containers' processes. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: frozenset[Inner] = frozenset()
        self._seen_at = float("-inf")
        self._asked: dict[tuple[int, int | None, int], float] = {}  # when first

    def may_live(self, pid: int, ticks: int | None, user: int) -> bool:
        """False where no container of this machine has such a process, once that was looked for since it was first
        asked. True also where that cannot be told: not on the host itself, or where /proc hides others' processes.

        Args:
            pid: as its container numbers it; `ticks`: None: not known.
            user: its owner; 0: anybody.
        """
        if not _sees_all():
            return True
        key = pid, ticks, user
        with self._lock:
            now = time.monotonic()
            if len(self._asked) >= MOST_ASKED:
                self._asked.clear()
            first = self._asked.setdefault(key, now)
            if now - self._seen_at >= SCAN_SECONDS:
                self._seen, self._seen_at = frozenset(_inner_processes()), now
            if any(one.pid == pid and ticks in (None, one.ticks) and user in (0, one.user) for one in self._seen):
                return True
            return first > self._seen_at


def _sees_all() -> bool:
    try:
        Path("/proc/1/status").read_bytes()
        return str(Path("/proc/self/ns/pid").readlink()) == HOST
    except OSError:
        return False


def _inner_processes() -> list[Inner]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (inner := _inner(folder)) is not None:
            found += inner
    return found


def _inner(folder: Path) -> list[Inner] | None:
    """A process by its numbers in each container that it is in; None: in none, or it has just ended."""
    try:
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
        numbers = [int(number) for number in status.get("NSpid", "").split()[1:]]
        if not numbers or status["State"].split()[0] == "Z":
            return None
        text = (folder / "stat").read_bytes().decode("ascii", "replace")
    except (OSError, KeyError, ValueError):
        return None
    ticks, user = int(text[text.rindex(")") + 2 :].split()[19]), int(status["Uid"].split()[0])
    return [Inner(number, ticks, user) for number in numbers]
