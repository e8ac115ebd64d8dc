"""Reading a job's log from any line on, while it is being written; and adding lines while no runner owns it."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...domain.decoding import decoder
from ...domain.jobs.job import LogLine, LogPage, Phrase
from ...domain.messages import Message
from ...engines import own_files
from ...engines.base import JobFolder
from ...runner.records.log import Log
from ..store.lock import FileLock

STEP = 1000
"""Every so many lines the index remembers where one begins: a page is found within that many lines."""
PAGE_BYTES = 1 << 20
"""Most that is read of a log for one page: lines have up to 10,000 characters, so that their number bounds nothing."""
_BLOCK = 1 << 20
_READERS = 64
"""How many indexes are kept; each is a few kilobytes for a million lines."""

_decoder = decoder(LogLine)


class LogReader:
    """One log file with a sparse index of line beginnings, extended as the file grows. Thread-safe.

    Args:
        root: folders between it and the file are the job's to change, and entered through no link.
    """

    def __init__(self, path: Path, root: Path | None = None) -> None:
        self._path, self._root = path, root or path.parent
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._inode = -1
        self._scanned = 0
        self._lines = 0
        self._offsets = [0]

    def page(self, since: int, limit: int, size: int = PAGE_BYTES) -> LogPage:
        """At most `limit` lines and `size` bytes (one line at least) from line `since` on; negative: the last so many,
        of which those at the end are given. A half-written last line is not there yet. A file that is not there has no
        lines."""
        with self._lock:
            try:
                file = own_files.open_read_below(self._root, self._path)
            except OSError:
                self._begin()
                return LogPage((), 0, 0)
            with file:
                self._extend(file.fileno())
                if since < 0:
                    start = max(0, self._lines + since, self._first_within(file.fileno(), size))
                else:
                    start = min(since, self._lines)
                stop = min(self._lines, start + max(0, limit))
                lines = tuple(self._read(file.fileno(), start, stop, size))
            return LogPage(lines, start + len(lines), self._lines)

    def _first_within(self, descriptor: int, size: int) -> int:
        """The first of the lines that are whole in the last `size` bytes; the last line where not even that is."""
        if self._scanned <= size:
            return 0
        block = os.pread(descriptor, size + 1, self._scanned - size - 1)  # with the end of the line before
        return self._lines - max(1, block.count(b"\n") - 1) if self._lines else 0

    def _extend(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if status.st_ino != self._inode or status.st_size < self._scanned:
            self._begin()
            self._inode = status.st_ino
        while self._scanned < status.st_size:
            block = os.pread(descriptor, _BLOCK, self._scanned)
            end = block.rfind(b"\n") + 1
            if not end:
                if len(block) < _BLOCK:
                    return  # half a line: not before it is whole
                raise OSError(f"a line of {self._path} is longer than {_BLOCK} bytes")
            self._index(block[:end])
            self._scanned += end

    def _index(self, block: bytes) -> None:
        position, left = 0, block.count(b"\n")
        self._lines += left
        until_next = STEP - (self._lines - left) % STEP
        while left >= until_next:
            for _ in range(until_next):
                position = block.index(b"\n", position) + 1
            self._offsets.append(self._scanned + position)
            left -= until_next
            until_next = STEP

    def _read(self, descriptor: int, start: int, stop: int, size: int) -> Iterator[LogLine]:
        if start >= stop:
            return
        number, offset = start // STEP * STEP, self._offsets[start // STEP]
        rest, taken = b"", 0
        while number < stop:
            block = os.pread(descriptor, min(_BLOCK, self._scanned - offset), offset)
            offset += len(block)
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                if number >= stop:
                    return
                if number >= start:
                    taken += len(line) + 1
                    if taken > size and number > start:
                        return
                    yield _decode(line, number)
                number += 1


def _decode(line: bytes, number: int) -> LogLine:
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # A damaged disk is no reason to lose the lines around; the numbering stays.
        return LogLine(seq=number, time=0.0, stream="system", text=line.decode("utf-8", "replace"))


class LogReaders:
    """Indexes of the logs that were read last."""

    def __init__(self, most: int = _READERS) -> None:
        self._most = most
        self._readers: OrderedDict[Path, LogReader] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, path: Path, root: Path | None = None) -> LogReader:
        """The reader of a file (`LogReader`)."""
        with self._lock:
            reader = self._readers.pop(path, None) or LogReader(path, root)
            self._readers[path] = reader
            while len(self._readers) > self._most:
                self._readers.popitem(last=False)
            return reader


def tell(folder: JobFolder, *messages: Message) -> bool:
    """The same with sentences of ours and their next steps, which are read in the reader's language."""
    return say(folder, *(phrase for message in messages for phrase in phrases(message)))


_DEVICES = ("device", "devices")
"""Codes of what devices are called (`matching.sentences.named`)."""


def phrases(message: Message) -> Iterator[str | Phrase]:
    """Sentence and next step; one that has another sentence than a device's name within is English text."""
    called = {
        name: value.render() if isinstance(value, Message) and value.code in _DEVICES else value
        for name, value in message.params.items()
    }
    params = {name: value for name, value in called.items() if not isinstance(value, Message)}
    for template, rendered in ((message.text, message.render()), (message.hint, message.render_hint())):
        if template:
            whole = len(params) == len(message.params)
            yield Phrase(template, params) if whole and template.format_map(params) == rendered else rendered


def say(folder: JobFolder, *texts: str | Phrase) -> bool:
    """Add a line of stream `system` for each text that is not empty; False where a runner owns the log or the disk is
    full."""
    with FileLock(folder.lock).held() as mine:
        if not mine:
            return False
        try:
            log = Log(folder.log)
        except OSError:
            return False
        for said in texts:
            if isinstance(said, Phrase):
                log.add(time.time(), "system", said.text.format_map(said.params), says=(said.text, said.params))
            elif said:
                log.add(time.time(), "system", said)
        with contextlib.suppress(OSError):
            written = log.flush()
            log.close()
            return written
    return False
