"""A container's own output, line by line, from any point on, with no line lost and none twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .api import NOT_FOUND, part
from .daemon import Daemon
from .faults import explained
from .transport import Answer, DaemonError

_HEADER = 8


def read_output(
    daemon: Daemon, container: str, cursor: str = "", *, tail: int | None = None
) -> Iterator[tuple[str, str]]:
    """(cursor, line) of what a container printed on both streams, in the order in which the daemon kept it.

    Docker's `since` repeats the lines of that very moment, and several lines can have the same time. A cursor is
    therefore a time and how many lines of exactly that time have been handed out: `1763707200.000000001/2`.

    Args:
        cursor: of the last line that was taken; empty for all.
        tail: only the last so many lines.
    """
    since, _, taken = cursor.partition("/")
    params: dict[str, Any] = {"stdout": 1, "stderr": 1, "timestamps": 1, "tail": tail or "all"}
    if since:
        params["since"] = since
    with explained():
        try:
            with daemon.api.asking("GET", f"/containers/{part(container)}/logs", params) as answer:
                skip = int(taken or 0)
                moment, count = since, 0
                for stamp, line in _lines(_frames(answer)):
                    count = count + 1 if stamp == moment else 1
                    moment = stamp
                    if stamp == since and count <= skip:
                        continue
                    yield f"{stamp}/{count}", line
        except DaemonError as error:
            if error.status != NOT_FOUND:
                raise


def _frames(answer: Answer) -> Iterator[tuple[int, bytes]]:
    """(stream, bytes) of Docker's multiplexed answer: eight bytes of header, then as many as it says."""
    rest = b""
    for chunk in answer.chunks():
        rest += chunk
        while len(rest) >= _HEADER:
            size = int.from_bytes(rest[4:_HEADER], "big")
            if len(rest) < _HEADER + size:
                break
            yield rest[0], rest[_HEADER : _HEADER + size]
            rest = rest[_HEADER + size :]


def _lines(frames: Iterator[tuple[int, bytes]]) -> Iterator[tuple[str, str]]:
    """(time as `seconds.nanoseconds`, line). A line longer than 16 KiB comes in several frames, each with its time."""
    begun: dict[int, tuple[str, bytes]] = {}
    for stream, frame in frames:
        stamp, _, text = frame.partition(b" ")
        first, before = begun.pop(stream, (_seconds(stamp.decode("ascii", "replace")), b""))
        if text.endswith(b"\n"):
            yield first, (before + text[:-1]).decode("utf-8", "replace")
        else:
            begun[stream] = (first, before + text)
    for first, before in begun.values():
        yield first, before.decode("utf-8", "replace")


def _seconds(stamp: str) -> str:
    """`2026-11-21T06:35:35.890283671Z` -> `1795242935.890283671`, exactly (a float has not enough digits)."""
    from datetime import datetime

    whole, _, fraction = stamp.rstrip("Z").partition(".")
    try:
        seconds = int(datetime.fromisoformat(whole + "+00:00").timestamp())
    except ValueError:
        return "0.000000000"
    return f"{seconds}.{fraction:0<9}"
