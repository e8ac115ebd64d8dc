"""Long calls of the daemon that answer with a stream of events (pull, build): with progress, and to be cancelled."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ....domain.errors import PaddleGpuError
from ....domain.messages import Message
from .daemon import Daemon
from .faults import explained, refusal
from .transport import Answer

CANCEL_SECONDS = 0.2
"""How soon a cancel is seen while the daemon says nothing."""
SILENCE_SECONDS = 600.0
"""After this long without a word the transfer counts as broken off (a pull retries by itself for less)."""


def stream(
    daemon: Daemon,
    path: str,
    *,
    cancelled: Callable[[], bool],
    params: dict[str, Any],
    headers: dict[str, str] | None = None,
    data: bytes | None = None,
    image: str = "",
) -> Iterator[dict[str, Any]]:
    """The events of a POST, one by one.

    The answer is read in a thread of its own: whoever waits can look for a cancel meanwhile, and closing the connection
    is what makes the daemon stop.

    Raises:
        PaddleGpuError: the daemon's refusal as a class, or `cancelled`.
    """
    events: queue.Queue[dict[str, Any] | BaseException | None] = queue.Queue(maxsize=1000)
    with (
        explained(image=image),
        daemon.api.asking("POST", path, params, body=data, headers=headers, silence=SILENCE_SECONDS) as answer,
    ):
        thread = threading.Thread(target=_read, args=(answer, events), name="docker-transfer", daemon=True)
        thread.start()
        try:
            yield from _events(events, cancelled)
        finally:
            answer.hang_up()
            while thread.is_alive():  # a full queue would keep the reader from ending
                with contextlib.suppress(queue.Empty):
                    events.get(timeout=CANCEL_SECONDS)


def _read(answer: Answer, events: queue.Queue[dict[str, Any] | BaseException | None]) -> None:
    try:
        rest = b""
        for chunk in answer.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    events.put(json.loads(line))
        if rest.strip():
            events.put(json.loads(rest))
        events.put(None)
    except Exception as error:  # whatever it is, it belongs to the thread that waits
        events.put(error)


def _events(
    events: queue.Queue[dict[str, Any] | BaseException | None], cancelled: Callable[[], bool]
) -> Iterator[dict[str, Any]]:
    while True:
        if cancelled():
            raise refusal(Message(code="cancelled", text="Stopped while the image was being prepared."), 409)
        try:
            event = events.get(timeout=CANCEL_SECONDS)
        except queue.Empty:
            continue
        if event is None:
            return
        if isinstance(event, BaseException):
            raise ConnectionError(f"the transfer broke off: {event}") from event
        yield event


def is_cancelled(error: PaddleGpuError) -> bool:
    """Whether it was the person who ended the transfer."""
    return error.code == "cancelled"
