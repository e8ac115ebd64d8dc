"""A daemon that takes connections and does not answer is found out once, not by everybody who asks."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from ....domain.errors import PaddleGpuError
from ....domain.jobs import reasons
from ....domain.messages import Message
from .faults import refusal

UNREACHABLE = frozenset({"docker_missing", "docker_permission", "engine_unreachable"})
"""What says that nobody answers."""


class Silence:
    """What is remembered of a daemon that did not answer. Thread-safe.

    While it is remembered nobody waits: the refusal comes at once. After `seconds` one question is asked again; until
    it has its answer the others are still refused, so that nobody gathers behind a daemon that hangs.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._refusal: Message | None = None
        self._until = 0.0
        self._trying = False

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """Ask within it. Raises `PaddleGpuError` where the daemon is known not to answer."""
        with self._lock:
            tries = self._refusal is not None
            if self._refusal is not None and (self._trying or time.monotonic() < self._until):
                raise refusal(self._refusal)
            self._trying = self._trying or tries
        try:
            yield
        finally:
            if tries:
                with self._lock:
                    self._trying = False

    def heard(self) -> None:
        """It has answered, whatever it said."""
        with self._lock:
            self._refusal = None

    def not_heard(self, refusal: Message) -> None:
        """It has not answered in time."""
        with self._lock:
            self._refusal, self._until = refusal, time.monotonic() + self._seconds


class Passing:
    """Within it, a daemon that does not answer is a passing fault (`engine_unreachable`), whatever the cause."""

    def __init__(self, lost: Callable[[], None]) -> None:
        self._lost = lost

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, PaddleGpuError) or error.code not in UNREACHABLE:
            return
        self._lost()
        if error.code != "engine_unreachable":
            raise refusal(reasons.engine_unreachable("docker", error.message.render())) from error
