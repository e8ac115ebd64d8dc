"""Processes of a job: who the runner is, what descends from it, and how all of it is ended. Linux's /proc where there
is one; without it (macOS) the process group is all that can be seen."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")


def identity() -> Dict[str, Any]:
    """What tells this process from a later one with the same pid: start in clock ticks since boot, and which boot."""
    pid = os.getpid()
    return {
        "pid": pid,
        "started_ticks": started_ticks(pid),
        "boot_id": boot_id(),
        "host": os.uname().nodename,
        "time": time.time(),
    }


def boot_id() -> Optional[str]:
    """The kernel's identity of this boot; None where it has none."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def started_ticks(pid: int) -> Optional[int]:
    """When a process started, in clock ticks since boot; None where it is gone or /proc is missing."""
    fields = _stat(pid)
    return int(fields[19]) if fields else None


def _stat(pid: int) -> List[str]:
    """Fields of /proc/<pid>/stat from the third (state) on; the name before may hold anything."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes().decode("ascii", "replace")
    except OSError:
        return []
    return text[text.rindex(")") + 2 :].split()


def become_subreaper() -> None:
    """Processes that the notebook orphans become ours, so that they can be found and ended."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """In the child: SIGKILL when the supervisor goes, whatever the reason."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def descendants(root: int) -> Set[int]:
    """All processes below `root`, zombies left out."""
    children: Dict[int, List[int]] = {}
    try:
        pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    except OSError:
        return set()
    for pid in pids:
        fields = _stat(pid)
        if fields and fields[0] not in "ZX":
            children.setdefault(int(fields[1]), []).append(pid)
    found: Set[int] = set()
    stack = [root]
    while stack:
        for pid in children.get(stack.pop(), []):
            if pid not in found:
                found.add(pid)
                stack.append(pid)
    return found


def end_descendants(grace: float) -> int:
    """SIGTERM to all below this process, SIGKILL after `grace` seconds, reaping them; returns how many there were."""
    first = descendants(os.getpid())
    _signal(first, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while True:
        reap()
        left = descendants(os.getpid())
        if not left:
            return len(first)
        if time.monotonic() > deadline:
            # A process may fork faster than one walk of /proc: go on until a walk finds nothing.
            _signal(left, signal.SIGKILL)
            if time.monotonic() > deadline + 5:
                return len(first)
        time.sleep(0.02)


def kill(pid: int) -> None:
    """SIGKILL to a child and everything below it."""
    _signal({pid, *descendants(pid)}, signal.SIGKILL)


def reap() -> "Dict[int, Tuple[int, int]]":
    """Collect every ended child: pid -> (wait status, largest resident size in bytes)."""
    ended: Dict[int, Tuple[int, int]] = {}
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if not pid:
            return ended
        ended[pid] = status, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _signal(pids: Set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def resident_bytes(pid: int, limit: int) -> int:
    """Memory of a process and all below it. Shared pages are told apart only where the plain sum is over `limit`."""
    members = [pid, *descendants(pid)]
    total = sum(int(fields[21]) * os.sysconf("SC_PAGE_SIZE") for fields in map(_stat, members) if fields)
    if total <= limit:
        return total
    return sum(_proportional_bytes(member) for member in members)


def _proportional_bytes(pid: int) -> int:
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    fields = _stat(pid)
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def oom_kills() -> Optional[int]:
    """How often the kernel killed for memory in this process's control group; None where it does not tell."""
    try:
        groups = dict(line.split(":", 2)[1:] for line in (_PROC / "self/cgroup").read_text().splitlines())
    except (OSError, ValueError):
        return None
    candidates = [Path("/sys/fs/cgroup") / groups.get("", "/").lstrip("/") / "memory.events"]
    candidates.append(Path("/sys/fs/cgroup/memory.events"))
    candidates.append(Path("/sys/fs/cgroup/memory") / groups.get("memory", "/").lstrip("/") / "memory.oom_control")
    candidates.append(Path("/sys/fs/cgroup/memory/memory.oom_control"))
    for path in candidates:
        with contextlib.suppress(OSError, ValueError):
            for line in path.read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    return None
