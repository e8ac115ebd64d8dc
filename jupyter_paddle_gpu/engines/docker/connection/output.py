"""A container's own output, line by line, from any point on, with no line lost and none twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .api import NOT_FOUND, part
from .daemon import Daemon
from .faults import explained
from .transport import Answer, DaemonError

_HEADER = 8
_NO_OUTPUT = (NOT_FOUND, 409)
"""The container is gone, or about to be: of one whose removal a crash of the daemon cut off, Docker gives no output."""
_STREAMS = (1, 2)
"""Docker's numbers of stdout and stderr."""


def read_output(
    daemon: Daemon, container: str, cursor: str = "", *, tail: int | None = None
) -> Iterator[tuple[str, str]]:
    """(cursor, line) of what a container printed on both streams, in the order in which the daemon kept it.

    Args:
        cursor: of the last line that was taken; empty for all.
        tail: only the last so many lines.
    """
    taken = _Taken.of(cursor)
    params: dict[str, Any] = {"stdout": 1, "stderr": 1, "timestamps": 1, "tail": tail or "all"}
    if since := taken.since():
        params["since"] = since
    with explained():
        try:
            with daemon.api.asking("GET", f"/containers/{part(container)}/logs", params) as answer:
                yield from taken.rest(_lines(_frames(answer)))
        except DaemonError as error:
            if error.status not in _NO_OUTPUT:
                raise


class _Taken:
    """What has been handed out of each stream: the time of its last line, and how many lines of exactly that time.

    Docker gives a line its time before it waits to write it down, so a line of one stream can lie behind later ones of
    the other; within a stream times never go back. As a cursor: `stdout/count,stderr/count`, with an empty part for a
    stream of which nothing was taken, such as `1763707200.000000001/2,`.
    """

    def __init__(self, streams: dict[int, tuple[str, int]]) -> None:
        self._streams = streams

    @classmethod
    def of(cls, cursor: str) -> _Taken:
        """Of a cursor; of an empty one: nothing."""
        parts = {number: one.partition("/") for number, one in zip(_STREAMS, cursor.split(","), strict=False) if one}
        return cls({number: (stamp, int(count or 0)) for number, (stamp, _, count) in parts.items()})

    def since(self) -> str:
        """Docker's `since`, which leaves out all that is earlier; empty where a stream is wanted from its beginning."""
        stamps = [self._streams[number][0] for number in _STREAMS if number in self._streams]
        return min(stamps, key=_number) if len(stamps) == len(_STREAMS) else ""

    def rest(self, lines: Iterable[tuple[int, str, str]]) -> Iterator[tuple[str, str]]:
        """(cursor, line) of those (stream, time, line) that have not been handed out."""
        before, seen = dict(self._streams), dict[int, int]()
        for stream, stamp, line in lines:
            last, count = before.get(stream, ("", 0))
            if last and _number(stamp) < _number(last):
                continue
            if stamp == last:  # `since` repeats the lines of that very moment
                seen[stream] = seen.get(stream, 0) + 1
                if seen[stream] <= count:
                    continue
            now, number = self._streams.get(stream, ("", 0))
            self._streams[stream] = (stamp, number + 1 if stamp == now else 1)
            yield self._cursor(), line

    def _cursor(self) -> str:
        return ",".join("{}/{}".format(*self._streams[one]) if one in self._streams else "" for one in _STREAMS)


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


def _lines(frames: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str, str]]:
    """(stream, time as `seconds.nanoseconds`, line). A line longer than 16 KiB comes in several frames, each with its
    time."""
    begun: dict[int, tuple[str, bytes]] = {}
    for stream, frame in frames:
        stamp, _, text = frame.partition(b" ")
        first, before = begun.pop(stream, (_seconds(stamp.decode("ascii", "replace")), b""))
        if text.endswith(b"\n"):
            yield stream, first, (before + text[:-1]).decode("utf-8", "replace")
        else:
            begun[stream] = (first, before + text)
    for stream, (first, before) in begun.items():
        yield stream, first, before.decode("utf-8", "replace")


def _number(stamp: str) -> tuple[int, int]:
    """A time to compare, exactly."""
    whole, _, fraction = stamp.partition(".")
    return int(whole), int(fraction or 0)


def _seconds(stamp: str) -> str:
    """`2026-11-21T06:35:35.890283671Z` -> `1795242935.890283671`, exactly (a float has not enough digits)."""
    from datetime import datetime

    whole, _, fraction = stamp.rstrip("Z").partition(".")
    try:
        seconds = int(datetime.fromisoformat(whole + "+00:00").timestamp())
    except ValueError:
        return "0.000000000"
    return f"{seconds}.{fraction:0<9}"
