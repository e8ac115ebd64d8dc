"""Length-prefixed JSON over file descriptors: four bytes of length (big endian), then UTF-8 JSON.

Both ends use this module, the server's and the kernel interpreter's.
"""

from __future__ import annotations

import json
import os
from typing import Any

HEADER = 4
MAX_FRAME = 256 * 1024 * 1024
"""No frame is longer (bytes): a step of a million operations stays far below."""


class FrameError(Exception):
    """The other end closed in the middle of a frame, or sent a frame that is too long or is not JSON."""


def encode(value: Any) -> bytes:
    """One frame. NaN and infinities are refused, since the other end's JSON knows none."""
    body = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(body) > MAX_FRAME:
        raise FrameError(f"a frame of {len(body)} bytes is too long")
    return len(body).to_bytes(HEADER, "big") + body


def write_frame(descriptor: int, value: Any, beside: bytes = b"") -> None:
    """Write one frame, whole, and bytes that follow it."""
    view = memoryview(encode(value) + beside)
    while view:
        view = view[os.write(descriptor, view) :]


def read_frame(descriptor: int) -> Any | None:
    """The next frame's value; None at a clean end of the stream. Blocks."""
    header = _read_exactly(descriptor, HEADER)
    if not header:
        return None
    return _decode(_read_exactly(descriptor, _length(header)))


def read_bytes(descriptor: int, count: int) -> bytes:
    """So many bytes that follow a frame. Blocks."""
    return _read_exactly(descriptor, count)


def body_of(data: bytes | bytearray) -> bytes | None:
    """What is in the frame with which `data` begins, as it came; None while that is not whole.

    Raises:
        FrameError: it will never be: it is too long.
    """
    end = HEADER + _length(bytes(data[:HEADER])) if len(data) >= HEADER else 0
    return bytes(data[HEADER:end]) if 0 < end <= len(data) else None


class FrameBuffer:
    """Puts frames together from pieces, for an end that must not block."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, piece: bytes) -> list[Any]:
        """The values of all frames that `piece` completes."""
        self._data += piece
        values = []
        while len(self._data) >= HEADER:
            end = HEADER + _length(bytes(self._data[:HEADER]))
            if len(self._data) < end:
                break
            values.append(_decode(bytes(self._data[HEADER:end])))
            del self._data[:end]
        return values


def _length(header: bytes) -> int:
    length = int.from_bytes(header, "big")
    if length > MAX_FRAME:
        raise FrameError(f"a frame of {length} bytes is too long")
    return length


def _decode(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise FrameError(f"a frame is not JSON: {error}") from error


def _read_exactly(descriptor: int, count: int) -> bytes:
    pieces = []
    missing = count
    while missing:
        piece = os.read(descriptor, min(missing, 1 << 20))
        if not piece:
            if missing == count and count == HEADER:
                return b""
            raise FrameError("the stream ended in the middle of a frame")
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)
