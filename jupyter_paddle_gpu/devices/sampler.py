"""One thread that samples for everybody who looks, and only while somebody does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")
log = logging.getLogger(__name__)

DEFAULT_INTERVAL = 2.0
"""Seconds between samples: quick enough to watch a training start, slow enough not to be seen in a CPU monitor."""
MAX_INTERVAL = 60.0
"""Seconds between attempts, at most, after samples failed."""


class Sampler(Generic[S]):
    """Calls `read` every `interval` seconds and hands the sample to every subscriber.

    Args:
        read: takes a sample; may block. When it raises, the time to the next attempt doubles, up to `max_interval`.
        idle: called when the last subscriber has left, from the sampling thread.
    """

    def __init__(
        self,
        read: Callable[[], S],
        *,
        interval: float = DEFAULT_INTERVAL,
        max_interval: float = MAX_INTERVAL,
        idle: Callable[[], None] = lambda: None,
    ) -> None:
        self._read = read
        self._interval = interval
        self._max_interval = max_interval
        self._idle = idle
        self._changed = threading.Condition()
        self._subscribers: dict[int, Callable[[S], None]] = {}
        self._number = 0
        self._new = False
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether the thread is at work."""
        with self._changed:
            return self._thread is not None

    def subscribe(self, callback: Callable[[S], None]) -> Callable[[], None]:
        """Hand every sample to `callback` (from the sampling thread), the first one at once; returns the way out."""
        with self._changed:
            number = self._number
            self._number += 1
            self._subscribers[number] = callback
            self._new = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="paddle-gpu-sampler", daemon=True)
                self._thread.start()
            self._changed.notify_all()

        def unsubscribe() -> None:
            with self._changed:
                self._subscribers.pop(number, None)
                self._changed.notify_all()

        return unsubscribe

    def stop(self, timeout: float = 3.0) -> None:
        """Send everybody away and wait for the thread, at most `timeout` seconds."""
        with self._changed:
            self._subscribers.clear()
            thread = self._thread
            self._changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def _run(self) -> None:
        wait = self._interval
        while True:
            with self._changed:
                self._new = False
            try:
                sample = self._read()
                wait = self._interval
            except Exception:
                wait = min(2 * wait, self._max_interval)
                log.exception("Sampling the devices failed; next attempt in %s s", wait)
            else:
                self._hand_out(sample)
            with self._changed:
                self._changed.wait_for(lambda: self._new or not self._subscribers, timeout=wait)
                if not self._subscribers:
                    self._thread = None
                    break
        self._idle()

    def _hand_out(self, sample: S) -> None:
        with self._changed:
            subscribers = list(self._subscribers.values())
        for callback in subscribers:
            try:
                callback(sample)
            except Exception:  # noqa: PERF203 - one client's fault must not blind the others
                log.exception("A subscriber to the devices failed")
