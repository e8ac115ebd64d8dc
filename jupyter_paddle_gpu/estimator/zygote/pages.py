"""Pages of memory that a forked process is going to write: it can have its copies before anybody waits for it.

A fork copies no memory; the first write to each page does, and a trace writes some 5,000 pages of the zygote's (mostly
counts of references). Which ones is seen while the zygote itself traces its small programs: beside a process that does
nothing and shares all of them, those that it writes are its own.

Sources: Documentation/admin-guide/mm/pagemap.rst of the Linux kernel (bits 56 and 63), madvise(2) (MADV_POPULATE_WRITE,
since Linux 5.14). Where there is neither, nothing is known and nothing copied.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import struct
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from . import kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGEMAP, MAPS = Path("/proc/self/pagemap"), Path("/proc/self/maps")
_EXCLUSIVE, _PRESENT = 1 << 56, 1 << 63
_OWN = _EXCLUSIVE | _PRESENT
_ENTRY = struct.Struct("=Q")
_POPULATE_WRITE = 23
BESIDE = b"estimator-still"
"""The name of the process that does nothing, for who looks at the machine's processes."""
AT_A_TIME = 32
"""Stretches of pages between two looks whether somebody waits: under a millisecond."""


class Pages:
    """What is known of them, as stretches of addresses."""

    def __init__(self) -> None:
        self._numbers: set[int] = set()
        self._stretches: list[tuple[int, int]] = []

    @contextmanager
    def learning(self) -> Iterator[None]:
        """What this process writes meanwhile, one like it will write again."""
        if not PAGEMAP.exists():
            yield
            return
        other = os.fork()
        if other == 0:
            with suppress(BaseException):
                kernel.die_with_parent()
                kernel.rename(BESIDE)
                signal.pause()
            os._exit(0)
        try:
            yield
            with suppress(OSError):
                self._numbers.update(_own())
                self._stretches = list(_joined(sorted(self._numbers)))
        finally:
            os.kill(other, signal.SIGKILL)
            os.waitpid(other, 0)

    def copy(self, is_awaited: Callable[[], bool]) -> int:
        """Have copies of those pages, until somebody waits for this process; how many stretches were looked at."""
        libc = ctypes.CDLL(None)
        libc.madvise.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)
        for number, (begin, length) in enumerate(self._stretches):
            if number % AT_A_TIME == 0 and is_awaited():
                return number
            libc.madvise(begin, length, _POPULATE_WRITE)  # an address that is gone is none of our concern
        return len(self._stretches)


def _own() -> Iterator[int]:
    """The numbers of writable private pages that no other process has as well."""
    with PAGEMAP.open("rb", buffering=0) as pagemap:
        for line in MAPS.read_text().splitlines():
            addresses, access, *_ = line.split()
            if access.startswith("rw") and access.endswith("p"):
                begin, end = (int(address, 16) // mmap.PAGESIZE for address in addresses.split("-"))
                pagemap.seek(begin * _ENTRY.size)
                entries = pagemap.read((end - begin) * _ENTRY.size)
                for number, (entry,) in enumerate(_ENTRY.iter_unpack(entries), begin):
                    if entry & _OWN == _OWN:
                        yield number


def _joined(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Address and length of each stretch of pages that follow one another."""
    at = 0
    while at < len(numbers):
        end = at + 1
        while end < len(numbers) and numbers[end] == numbers[end - 1] + 1:
            end += 1
        yield numbers[at] * mmap.PAGESIZE, (end - at) * mmap.PAGESIZE
        at = end
