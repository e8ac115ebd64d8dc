"""The way from child to supervisor: one order for everything the notebook prints and shows.

Printed bytes come through the pipe that is the child's stdout. Whatever is more than bytes (figures, errors, the start
of a cell) goes as JSON through a second pipe, and a mark of a few bytes in the first one says where it belongs. So the
order is that of the first pipe, a large figure cannot be torn by another process's output, and a mark (smaller than
PIPE_BUF) is written in one piece.
"""

import contextlib
import json
import os
import struct
import threading
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Union

from . import files

_LENGTH = struct.Struct(">I")


def mark(nonce: str) -> bytes:
    """The bytes that stand for one message; `nonce` keeps printed text from looking like it."""
    return b"\x1e\x1f" + nonce.encode("ascii") + b"\x1f\x1e"


class Sender:
    """The child's end. Only the process that made it sends; a fork of it (a loader's worker) must print plainly."""

    def __init__(self, stdout: int, messages: int, answers: int, nonce: str) -> None:
        self._stdout, self._messages, self._answers = stdout, messages, answers
        self._mark = mark(nonce)
        self._lock = threading.RLock()
        self._pid = os.getpid()

    @property
    def mine(self) -> bool:
        """Whether this process may send."""
        return os.getpid() == self._pid

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message; where the supervisor is gone this does nothing."""
        if not self.mine:
            return
        data = json.dumps(dict(fields, kind=kind), default=str).encode("utf-8", "replace")
        with contextlib.suppress(OSError), self._lock:
            files.write_all(self._messages, _LENGTH.pack(len(data)) + data)
            files.write_all(self._stdout, self._mark)

    def ask(self, kind: str, **fields: Any) -> str:
        """Send a message and wait for the one-letter answer; `s` (stop) where the supervisor is gone."""
        self.send(kind, **fields)
        try:
            return os.read(self._answers, 1).decode("ascii") or "s"
        except OSError:
            return "s"


class Receiver:
    """The supervisor's end: bytes of both pipes in, an ordered list of printed bytes and messages out."""

    def __init__(self, nonce: str) -> None:
        self._mark = mark(nonce)
        self._printed = b""
        self._messages = bytearray()
        self._items: Deque[Dict[str, Any]] = deque()
        self._waiting: Deque[Optional[bytes]] = deque()  # printed bytes; None stands for the next message

    def take_messages(self, data: bytes) -> None:
        """Bytes of the second pipe."""
        self._messages += data
        while len(self._messages) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._messages)
            if len(self._messages) < _LENGTH.size + length:
                break
            body = bytes(self._messages[_LENGTH.size : _LENGTH.size + length])
            del self._messages[: _LENGTH.size + length]
            self._items.append(json.loads(body.decode("utf-8")))

    def take_printed(self, data: bytes, last: bool = False) -> None:
        """Bytes of the first pipe; `last` when no more can come."""
        pieces = (self._printed + data).split(self._mark)
        self._printed = pieces.pop()
        for piece in pieces:
            if piece:
                self._waiting.append(piece)
            self._waiting.append(None)
        keep = 0 if last else _overlap(self._printed, self._mark)
        cut = len(self._printed) - keep
        if cut:
            self._waiting.append(self._printed[:cut])
            self._printed = self._printed[cut:]

    def ready(self) -> List[Union[bytes, Dict[str, Any]]]:
        """Everything whose turn has come, in order."""
        out: List[Union[bytes, Dict[str, Any]]] = []
        while self._waiting and (self._waiting[0] is not None or self._items):
            item = self._waiting.popleft()
            out.append(self._items.popleft() if item is None else item)
        return out


def _overlap(text: bytes, marker: bytes) -> int:
    """How many bytes at the end of `text` may be the beginning of `marker`."""
    for size in range(min(len(marker) - 1, len(text)), 0, -1):
        if marker.startswith(text[len(text) - size :]):
            return size
    return 0
