"""The way from child to supervisor: one order for everything the notebook prints and shows.

Printed bytes come through the pipe that is the child's stdout. Whatever is more than bytes (figures, errors, the start
of a cell) goes as JSON through a second pipe, and a mark of a few bytes in the first one says where it belongs. What
Python code prints to stderr goes through the first pipe as well, between two marks. So the order is that of the first
pipe, a large figure cannot be torn by another process's output, and whatever has marks is written in one piece (not
larger than PIPE_BUF).
"""

import contextlib
import json
import os
import struct
import threading
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Tuple, Union

from . import files

_LENGTH = struct.Struct(">I")
_ERROR_CHARACTERS = 1000
"""In UTF-8, with two marks, these are less than the 4096 bytes that a pipe takes in one piece."""
MESSAGE, ERRORS, OUTPUT = b"m", b"e", b"o"
"""What a mark says: a message belongs here; what follows was printed to stderr; to stdout."""
Printed = Tuple[str, bytes]
"""`stdout` or `stderr`, and what was printed there."""


def mark(nonce: str, kind: bytes = MESSAGE) -> bytes:
    """The bytes of a mark; `nonce` keeps printed text from looking like it."""
    return b"\x1e\x1f" + nonce.encode("ascii") + b"\x1f\x1e" + kind


class Sender:
    """The child's end. Only the process that made it sends; a fork of it (a loader's worker) must print plainly."""

    def __init__(self, stdout: int, messages: int, answers: int, nonce: str) -> None:
        self._stdout, self._messages, self._answers = stdout, messages, answers
        self._mark, self._errors, self._output = (mark(nonce, kind) for kind in (MESSAGE, ERRORS, OUTPUT))
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._main = threading.get_ident()
        self._sending = False
        self._interrupted = False

    @property
    def mine(self) -> bool:
        """Whether this process may send."""
        return os.getpid() == self._pid

    def interrupt(self) -> None:
        """Raise `KeyboardInterrupt`, but not in the middle of a message, which would tear the order."""
        if self._sending:
            self._interrupted = True
        else:
            raise KeyboardInterrupt

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message; where the supervisor is gone this does nothing."""
        if not self.mine:
            return
        data = json.dumps(dict(fields, kind=kind), default=str).encode("utf-8", "replace")
        self._write([(self._messages, _LENGTH.pack(len(data)) + data), (self._stdout, self._mark)])

    def send_errors(self, text: str) -> None:
        """Print to stderr."""
        pieces = [text[at : at + _ERROR_CHARACTERS] for at in range(0, len(text), _ERROR_CHARACTERS)]
        self._write(
            [(self._stdout, self._errors + piece.encode("utf-8", "replace") + self._output) for piece in pieces]
        )

    def _write(self, parts: List[Tuple[int, bytes]]) -> None:
        main = threading.get_ident() == self._main
        if main:
            self._sending = True
        try:
            with contextlib.suppress(OSError), self._lock:
                for descriptor, data in parts:
                    files.write_all(descriptor, data)
        finally:
            if main:
                self._sending = False
        if main and self._interrupted:
            self._interrupted = False
            raise KeyboardInterrupt

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
        self._mark = mark(nonce, b"")
        self._rest = b""
        self._stream = "stdout"
        self._messages = bytearray()
        self._items: Deque[Dict[str, Any]] = deque()
        self._waiting: Deque[Optional[Printed]] = deque()  # printed bytes; None stands for the next message

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
        first, *pieces = (self._rest + data).split(self._mark)
        self._rest = b""
        if not pieces:
            first = self._keep_rest(first, last)
        self._put(first)
        for number, piece in enumerate(pieces, 1):
            kind, text = piece[:1], piece[1:]
            if number == len(pieces):
                if not kind and not last:  # the mark's last byte is still to come
                    self._rest = self._mark
                    return
                text = self._keep_rest(text, last)
            if kind == MESSAGE:
                self._waiting.append(None)
            else:
                self._stream = "stderr" if kind == ERRORS else "stdout"
            self._put(text)

    def _keep_rest(self, text: bytes, last: bool) -> bytes:
        """Hold back what may be the beginning of a mark."""
        cut = len(text) - (0 if last else _overlap(text, self._mark))
        self._rest = text[cut:]
        return text[:cut]

    def _put(self, text: bytes) -> None:
        if not text:
            return
        before = self._waiting[-1] if self._waiting else None
        if before is not None and before[0] == self._stream:
            self._waiting[-1] = (self._stream, before[1] + text)
        else:
            self._waiting.append((self._stream, text))

    def ready(self) -> List[Union[Printed, Dict[str, Any]]]:
        """Everything whose turn has come, in order."""
        out: List[Union[Printed, Dict[str, Any]]] = []
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
