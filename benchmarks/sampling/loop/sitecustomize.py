"""Put into a server's process by PYTHONPATH: how long its event loop is away from its sockets.

The file that LOOP_FILE names holds eight doubles: the longest round of the loop in seconds of

- wall time,
- processor time,
- wall time without what its thread waited for a processor that other programs had (the kernel counts that,
  `/proc/thread-self/schedstat`: run_delay of sched-stats.rst, in ns),
- what the server itself made of it, however busy the machine is: its thread's processor time, and of the time that it
  stood still at most as much as the server's other threads computed meanwhile (one of them may have had the
  interpreter, and itself have waited for a processor),

then how many rounds were longer than 10 ms of each. Whoever reads it sets it back to zeros.
Where LOOP_SLOW names a file, callbacks that took more than 3 ms of processor time are written into it, each with the
lines of code at which it was seen.
"""

from __future__ import annotations

import asyncio
import collections
import gc
import mmap
import os
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

FORM = struct.Struct("8d")
LONG = 0.010
SLOW = 0.003


def _watch() -> None:
    with Path(os.environ["LOOP_FILE"]).open("r+b") as file:
        kept = mmap.mmap(file.fileno(), FORM.size)
    once = asyncio.base_events.BaseEventLoop._run_once  # type: ignore[attr-defined]
    woke = [0.0, 0.0, 0.0, 0.0]
    counted = os.open("/proc/thread-self/schedstat", os.O_RDONLY)

    def now() -> tuple[float, float, float, float]:
        """Wall time, processor time, wall time less what the main thread waited for a processor, and the processor time
        of the other threads."""
        wall, own, all_threads = time.perf_counter(), time.thread_time(), time.process_time()
        return wall, own, wall - int(os.pread(counted, 80, 0).split()[1]) / 1e9, all_threads - own

    def run_once(loop: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            once(loop)
            return
        if "select" not in vars(loop._selector):
            select = loop._selector.select

            def selected(timeout: float | None = None) -> Any:
                found = select(timeout)
                woke[:] = now()
                return found

            loop._selector.select = selected
        once(loop)
        wall, own, held, others = (end - begin for end, begin in zip(now(), woke, strict=True))
        took = (wall, own, held, own + max(0.0, min(held - own, others)))
        known = FORM.unpack_from(kept)
        longest = [max(pair) for pair in zip(known[:4], took, strict=True)]
        FORM.pack_into(kept, 0, *longest, *(n + (one > LONG) for n, one in zip(known[4:], took, strict=True)))

    asyncio.base_events.BaseEventLoop._run_once = run_once  # type: ignore[attr-defined]


def _tell_slow() -> None:
    """Whose callbacks are slow, and where in them the time goes: the loop's stack is looked at each millisecond."""
    seen: collections.Counter[str] = collections.Counter()
    main = threading.main_thread().ident
    run, busy = asyncio.events.Handle._run, [False]  # type: ignore[attr-defined]
    log = Path(os.environ["LOOP_SLOW"]).open("a", buffering=1)  # noqa: SIM115

    def looked() -> None:
        while True:
            time.sleep(0.001)
            frame = sys._current_frames().get(main) if busy[0] else None  # type: ignore[arg-type]
            lines = []
            while frame is not None and "asyncio/events" not in frame.f_code.co_filename:
                lines.append(f"{'/'.join(frame.f_code.co_filename.split('/')[-2:])}:{frame.f_lineno}")
                frame = frame.f_back
            if lines:
                seen[" < ".join(lines[:14])] += 1

    def timed(handle: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            run(handle)
            return
        seen.clear()
        busy[0], began = True, time.thread_time()
        run(handle)
        busy[0], used = False, time.thread_time() - began
        if used > SLOW:
            print(
                f"{1000 * used:.1f} ms {handle!r}"[:300],
                *(f"\n    {n} {at}" for at, n in seen.most_common(6)),
                file=log,
            )

    def collected(phase: str, told: dict[str, int]) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if phase == "start":
            collected.began = time.thread_time()  # type: ignore[attr-defined]
        elif (used := time.thread_time() - collected.began) > 0.001:  # type: ignore[attr-defined]
            print(f"garbage of generation {told['generation']}: {1000 * used:.1f} ms", file=log)

    asyncio.events.Handle._run = timed  # type: ignore[method-assign,assignment]
    gc.callbacks.append(collected)
    sys.setswitchinterval(0.0005)
    threading.Thread(target=looked, daemon=True).start()


if os.environ.get("LOOP_FILE"):
    _watch()
if os.environ.get("LOOP_SLOW"):
    _tell_slow()
