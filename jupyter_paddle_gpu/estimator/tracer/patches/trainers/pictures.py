"""Pictures in files that stand in for those that are not on this machine."""

from __future__ import annotations

import os
import struct
import tempfile
import zlib
from functools import cache

COUNT = 1 << 14
"""Samples of a data set that stands in: so many that an epoch has whole batches. All are the same picture."""
WIDTH, HEIGHT = 640, 480
"""The commonest size of COCO's pictures (https://cocodataset.org)."""


def picture(channels: int = 3, width: int = WIDTH, height: int = HEIGHT) -> str:
    """The path of a black picture, in the folder for temporary files that an estimate has to itself."""
    return _picture(channels, width, height, 1, tempfile.gettempdir())


def mask(classes: int, width: int = WIDTH, height: int = HEIGHT) -> str:
    """The path of a picture of labels in which each class stands, also in any part of it that is as wide as there are
    classes: some losses take memory for each that is present."""
    return _picture(1, width, height, min(classes, 255), tempfile.gettempdir())  # 255 is what is ignored


@cache
def _picture(channels: int, width: int, height: int, values: int, folder: str) -> str:
    name = f"stand-in-{channels}-{width}-{height}-{values}.png"
    path = os.path.join(folder, name)  # noqa: PTH118 - programs take strings
    kind = 0 if channels == 1 else 2
    row = bytes(place % values for place in range(width * channels))
    rows = zlib.compress((b"\0" + row) * height)
    header = struct.pack(">2I5B", width, height, 8, kind, 0, 0, 0)
    parts = [b"\x89PNG\r\n\x1a\n", *(_chunk(*one) for one in ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b"")))]
    with open(path, "wb") as file:  # noqa: PTH123 - the guard follows `open`
        file.write(b"".join(parts))
    return path


def _chunk(name: bytes, data: bytes) -> bytes:
    """A part of a picture in Portable Network Graphics (ISO/IEC 15948, 5.3)."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
