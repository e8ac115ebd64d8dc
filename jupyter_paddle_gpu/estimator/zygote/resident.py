"""What this process holds in memory of its own: anonymous pages, which no kernel can drop and read again from a file.

Pages of files (libraries, memory-mapped arrays) are left out: where memory runs short the kernel takes them back.
Source: proc(5), /proc/self/status. Elsewhere than on Linux nothing is told.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

STATUS = Path("/proc/self/status")
SECONDS = 0.01
"""Between two looks. Meanwhile a trace maps code that runs for the first time, 22 to 80 MiB in all (measured, as the
file system maps more or less around a page that is asked for)."""
_FIELDS = ("VmHWM", "RssAnon", "RssFile", "RssShmem")


class Growth:
    """By how much a process grew at most since this was made.

    A forked child starts with its parent's pages, which count from the beginning: pages that it writes to become its
    own without making it larger, so that only what it took beyond the parent is growth.

    The kernel keeps the highest resident size of all pages (`VmHWM`), also of what is freed before anybody looks. What
    of it was files it does not say: as much as at the next look, for which a thread has to be there all the time.
    """

    def __init__(self) -> None:
        self._before = _read()
        self._highest = self._before.get("VmHWM", 0)
        self._most = self._before.get("RssAnon", 0)
        self._lock = threading.Lock()
        if self._before:
            threading.Thread(target=self._watch, name="resident", daemon=True).start()

    def peak(self) -> int | None:
        """Bytes; None where they cannot be told."""
        if not self._before or not self._look():
            return None
        return self._most - self._before["RssAnon"]

    def _watch(self) -> None:
        while True:
            time.sleep(SECONDS)
            self._look()

    def _look(self) -> bool:
        now = _read()
        if not now:
            return False
        with self._lock:
            self._most = max(self._most, now["RssAnon"])
            if now["VmHWM"] > self._highest:
                self._highest = now["VmHWM"]
                self._most = max(self._most, self._highest - now["RssFile"] - now["RssShmem"])
        return True


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
