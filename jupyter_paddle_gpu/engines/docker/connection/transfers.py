"""Long calls of the daemon that answer with a stream of events (pull, build): with progress, and to be cancelled."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from docker import errors

from ....domain.errors import PaddleGpuError
from ....domain.messages import Message
from .daemon import Daemon
from .faults import explained, refusal

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
    data: Any = None,
    image: str = "",
) -> Iterator[dict[str, Any]]:
    """The events of a POST, one by one.

    The answer is read in a thread of its own: whoever waits can look for a cancel meanwhile, and closing the connection
    is what makes the daemon stop.

    Raises:
        PaddleGpuError: the daemon's refusal as a class, or `cancelled`.
    """
    api = daemon.api
    with explained(image=image):
        response = api.post(
            f"{api.base_url}/v{api.api_version}{path}",
            params=params,
            headers=headers,
            data=data,
            stream=True,
            timeout=(daemon.settings.request_seconds, SILENCE_SECONDS),
        )
        if response.status_code >= 400:
            raise errors.APIError(
                response.reason, response=response, explanation=_explanation(response.content.decode(errors="replace"))
            )
    events: queue.Queue[dict[str, Any] | BaseException | None] = queue.Queue(maxsize=1000)
    thread = threading.Thread(target=_read, args=(response, events), name="docker-transfer", daemon=True)
    thread.start()
    try:
        yield from _events(events, cancelled, image)
    finally:
        _hang_up(response)
        while thread.is_alive():  # a full queue would keep the reader from ending
            with contextlib.suppress(queue.Empty):
                events.get(timeout=CANCEL_SECONDS)


def _explanation(body: str) -> str:
    try:
        return str(json.loads(body).get("message", body))
    except (ValueError, AttributeError):
        return body


def _read(response: Any, events: queue.Queue[dict[str, Any] | BaseException | None]) -> None:
    try:
        rest = b""
        for chunk in response.iter_content(chunk_size=None):
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
    events: queue.Queue[dict[str, Any] | BaseException | None], cancelled: Callable[[], bool], image: str
) -> Iterator[dict[str, Any]]:
    while True:
        if cancelled():
            raise refusal(Message(code="cancelled", text="Cancelled while the image was being prepared."), 409)
        try:
            event = events.get(timeout=CANCEL_SECONDS)
        except queue.Empty:
            continue
        if event is None:
            return
        if isinstance(event, BaseException):
            with explained(image=image):
                raise errors.DockerException(f"the transfer broke off: {event}") from event
        yield event


def _hang_up(response: Any) -> None:
    """Close the connection even while another thread reads from it."""
    with contextlib.suppress(Exception):
        wire = response.raw._fp.fp.raw
        (getattr(wire, "_sock", None) or wire).shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(Exception):
        response.close()


def is_cancelled(error: PaddleGpuError) -> bool:
    """Whether it was the person who ended the transfer."""
    return error.code == "cancelled"
