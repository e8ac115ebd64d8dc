"""`events.jsonl` followed from its beginning: what a job wrote since the last look, checked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ...engines import own_files
from . import untrusted

BLOCK_BYTES = 1 << 20
LOOK_BLOCKS = 64
"""What is read at one look at most: days of a runner's events, and not all that a job can write."""


class EventFile:
    """The events of one job; each look goes on where the one before ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""

    def is_new(self) -> bool:
        """Whether the file is shorter than what was read: another attempt began a new one. Reading starts over then."""
        with contextlib.suppress(OSError), own_files.open_read(self._path) as file:
            if os.fstat(file.fileno()).st_size < self._offset:
                self._offset, self._rest = 0, b""
                return True
        return False

    def new(self) -> Iterator[untrusted.Event]:
        """The events since the last look; what is no event is left out."""
        with contextlib.suppress(OSError), own_files.open_read(self._path) as file:
            file.seek(self._offset)
            for _ in range(LOOK_BLOCKS):
                data = file.read(BLOCK_BYTES)
                if not data:
                    return
                self._offset += len(data)
                *lines, self._rest = (self._rest + data).split(b"\n")
                if len(self._rest) > BLOCK_BYTES:  # no event is that long
                    self._rest = b""
                for line in lines:
                    if line.strip() and (event := untrusted.event(line)) is not None:
                        yield event
