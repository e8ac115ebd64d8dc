"""What this process holds in memory of its own: anonymous pages, which no kernel can drop and read again from a file.

Pages of files (libraries, memory-mapped arrays) are left out: where memory runs short the kernel takes them back.
Source: proc(5), /proc/self/status. Elsewhere than on Linux nothing is told.
"""

from __future__ import annotations

from pathlib import Path

STATUS = Path("/proc/self/status")
CODE = 32 << 20
"""Bytes; pages of libraries that a child touches for the first time in a trace: 23 to 36 MiB (measured)."""
_FIELDS = ("VmHWM", "RssAnon", "RssFile", "RssShmem")


class Growth:
    """By how much a process grew at most since this was made.

    A forked child starts with its parent's pages, which count from the beginning: pages that it writes to become its
    own without making it larger, so that only what it took beyond the parent is growth.
    """

    def __init__(self) -> None:
        self._before = _read()

    def peak(self) -> int | None:
        """Bytes; None where they cannot be told.

        The kernel keeps the highest resident size of all pages (`VmHWM`). What of it was files then it does not say: as
        much as now, less the code that may have run since.
        """
        before, now = self._before, _read()
        if not before or not now:
            return None
        files = max(now["RssFile"] - CODE, before["RssFile"]) + now["RssShmem"]
        return max(now["VmHWM"] - files, now["RssAnon"]) - before["RssAnon"]


def _read() -> dict[str, int]:
    """The fields in bytes; empty where one is missing."""
    try:
        lines = STATUS.read_text().splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name in _FIELDS:
            found[name] = int(value.split()[0]) << 10
    return found if len(found) == len(_FIELDS) else {}
