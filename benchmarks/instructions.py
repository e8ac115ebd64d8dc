"""How many instructions a thread has run: a figure that other work on the machine does not change.

Standard library only, so that a process that measures may load it beside whatever it measures.
Source: perf_event_open(2) of Linux; elsewhere, and where the kernel does not let a process count its own, nothing is
told.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

_CALL = {"x86_64": 298, "aarch64": 241}
"""The number of the system call."""
_SIZE = 128
"""Bytes of `struct perf_event_attr`."""
_HARDWARE, _INSTRUCTIONS = 0, 1
_USER_ALONE = 1 << 5 | 1 << 6
"""Neither the kernel's nor a hypervisor's."""


class Instructions:
    """Counts from when it is made, in the thread that makes it."""

    def __init__(self) -> None:
        self._descriptor = -1
        number = _CALL.get(platform.machine()) if sys.platform == "linux" else None
        if number is not None:
            attributes = struct.pack("=IIQQQQQ", _HARDWARE, _SIZE, _INSTRUCTIONS, 0, 0, 0, _USER_ALONE)
            about = ctypes.create_string_buffer(attributes, _SIZE)
            self._descriptor = ctypes.CDLL(None, use_errno=True).syscall(number, about, 0, -1, -1, 0)

    def read(self) -> int | None:
        """So many by now; None where they cannot be counted."""
        if self._descriptor < 0:
            return None
        return int.from_bytes(os.read(self._descriptor, 8), sys.byteorder)
