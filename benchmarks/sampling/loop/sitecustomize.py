"""Put into a server's process by PYTHONPATH: how long its event loop is away from its sockets.

The file that LOOP_FILE names holds four doubles: the longest round of the loop in seconds of wall time and of processor
time, and how many rounds were longer than 10 ms of either. Whoever reads it sets it back to zeros.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import struct
import threading
import time
from pathlib import Path
from typing import Any

FORM = struct.Struct("4d")
LONG = 0.010


def _watch() -> None:
    with Path(os.environ["LOOP_FILE"]).open("r+b") as file:
        kept = mmap.mmap(file.fileno(), FORM.size)
    once = asyncio.base_events.BaseEventLoop._run_once  # type: ignore[attr-defined]
    woke = [0.0, 0.0]

    def run_once(loop: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            once(loop)
            return
        if "select" not in vars(loop._selector):
            select = loop._selector.select

            def selected(timeout: float | None = None) -> Any:
                found = select(timeout)
                woke[:] = time.perf_counter(), time.thread_time()
                return found

            loop._selector.select = selected
        once(loop)
        wall, processor = time.perf_counter() - woke[0], time.thread_time() - woke[1]
        most, busiest, late, heavy = FORM.unpack_from(kept)
        FORM.pack_into(
            kept, 0, max(most, wall), max(busiest, processor), late + (wall > LONG), heavy + (processor > LONG)
        )

    asyncio.base_events.BaseEventLoop._run_once = run_once  # type: ignore[attr-defined]


if os.environ.get("LOOP_FILE"):
    _watch()
