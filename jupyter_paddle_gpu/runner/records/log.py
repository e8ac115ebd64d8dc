"""The job's log: one JSON object a line, `n` equal to the line's number, appended by one process at a time."""

import json
import os
from pathlib import Path
from typing import Any, List, Mapping, Optional, Tuple

from .. import files

# The server adds lines as well, in a folder that a job can write: a link or a pipe in the log's place is refused.
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND
for _name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
    _FLAGS |= getattr(os, _name, 0)
# The encoder's own C function for one string (non-ASCII stays as it is): a record needs no more of JSON than that.
_quote = json.encoder.encode_basestring


class Log:
    """Appends records; holds back what a full disk does not take, so that no line is lost and none half written."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(str(path), _FLAGS, 0o666)
        self._size, self._next = _repair(self._descriptor)
        self._pending: List[bytes] = []

    def add(
        self,
        time: float,
        stream: str,
        text: str,
        replaces: bool = False,
        passing: bool = False,
        *,
        coloured: str = "",
        place: "Optional[Tuple[int, int]]" = None,
        says: "Optional[Tuple[str, Mapping[str, Any]]]" = None,
        figure: "Optional[Tuple[int, int]]" = None,
    ) -> None:
        """Queue a record (seconds since the epoch); `flush` writes it. `passing`: another state will replace it.

        `coloured` is the same text with its colours, `place` the cell (index) and the line (from 1) that it names,
        `says` the template and the fields of a sentence of ours, `figure` the cell (index) and the number (from 1) of
        the picture that stands here.
        """
        flags = (',"r":true' if replaces else "") + (',"p":true' if passing else "")
        if coloured:
            flags += ',"c":' + _quote(coloured)
        if place is not None:
            flags += ',"at":{"cell":%d,"line":%d}' % place
        if says is not None:
            flags += ',"m":' + json.dumps({"text": says[0], "params": says[1]}, ensure_ascii=False)
        if figure is not None:
            flags += ',"f":{"cell":%d,"line":%d}' % figure
        record = '{"n":%d,"t":%.3f,"s":"%s","x":%s%s}\n' % (self._next, time, stream, _quote(text), flags)
        self._next += 1
        self._pending.append(record.encode("utf-8", "replace"))

    def add_lines(self, time: float, stream: str, texts: List[str]) -> None:
        """Queue many complete lines of the same moment."""
        head = ',"t":%.3f,"s":"%s","x":' % (time, stream)
        records = ['{"n":%d%s%s}\n' % (n, head, _quote(text)) for n, text in enumerate(texts, self._next)]
        self._next += len(texts)
        self._pending.append("".join(records).encode("utf-8", "replace"))

    def flush(self) -> bool:
        """Write what is queued. False: the disk is full, the rest stays queued. Raises other `OSError`."""
        if not self._pending:
            return True
        data = b"".join(self._pending)
        try:
            files.write_all(self._descriptor, data)
        except OSError as error:
            if not files.is_full(error):
                raise
            self._keep_whole_lines(data)
            return False
        self._size += len(data)
        self._pending = []
        return True

    def _keep_whole_lines(self, data: bytes) -> None:
        written = os.fstat(self._descriptor).st_size - self._size
        whole = data.rfind(b"\n", 0, written) + 1
        self._size += whole
        os.ftruncate(self._descriptor, self._size)
        self._pending = [data[whole:]]

    def close(self) -> None:
        """Make what is written durable and let go of the file."""
        os.fsync(self._descriptor)
        os.close(self._descriptor)


def _repair(descriptor: int) -> "tuple[int, int]":
    """Cut off a last line that a crash left without its end; returns the size and the next sequence number."""
    size = os.fstat(descriptor).st_size
    end, block, tail = size, 65536, b""
    while end > 0 and tail.count(b"\n") < 2:
        start = max(0, end - block)
        tail = os.pread(descriptor, end - start, start) + tail
        end = start
    whole = tail.rfind(b"\n") + 1
    if whole < len(tail):
        size -= len(tail) - whole
        os.ftruncate(descriptor, size)
    last = tail[:whole].rstrip(b"\n").rsplit(b"\n", 1)[-1]
    if not last:
        return size, 0
    try:
        return size, int(json.loads(last.decode("utf-8"))["n"]) + 1
    except (ValueError, KeyError, TypeError):
        return size, _count(descriptor, size)


def _count(descriptor: int, size: int) -> int:
    count, offset = 0, 0
    while offset < size:
        block = os.pread(descriptor, 1 << 20, offset)
        count += block.count(b"\n")
        offset += len(block)
    return count
