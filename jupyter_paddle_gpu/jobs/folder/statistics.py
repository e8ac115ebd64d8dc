"""A job's statistics in its folder: `statistics.jsonl`, one point a line, at a bounded size for a job of any length."""

from __future__ import annotations

import contextlib
import os

import msgspec

from ...domain.decoding import decoder
from ...domain.jobs.statistics import JobStatistics, StatisticsPoint, summarize, thinned
from ...engines import own_files
from ...engines.base import JobFolder

FILE_BYTES = 8 << 20
"""Largest file that is read: a job could write anything there."""

_decoder = decoder(StatisticsPoint)


class History:
    """The points of one job. One process at a time adds to them, whoever looks after the queue; anybody reads.

    What is kept is in the file alone: a new server goes on where the last one stopped. When the file is full, points
    of about equal length take the place of the older ones; peaks and means stay exact (`domain.jobs.statistics`).
    """

    def __init__(self, folder: JobFolder, points: int) -> None:
        self.path = folder.statistics
        self.points = max(points, 4)

    def read(self) -> list[StatisticsPoint]:
        """All that is kept, oldest first. What is no point (a line torn by a crash) is left out."""
        kept: list[StatisticsPoint] = []
        try:
            data = own_files.read(self.path, FILE_BYTES)
        except OSError:  # none yet, or a link in its place
            return kept
        for line in data.splitlines():
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                kept.append(_decoder.decode(line))
        return kept

    def statistics(self) -> JobStatistics:
        """Points and summary."""
        points = self.read()
        return JobStatistics(points=tuple(points), summary=summarize(points))

    def add(self, point: StatisticsPoint, kept: list[StatisticsPoint]) -> None:
        """Keep one more behind `kept`, which is what `read` gave. Raises `OSError` where the folder is gone or a link
        stands in the way."""
        if len(kept) + 1 <= self.points:
            self._append(msgspec.json.encode(point) + b"\n")
            return
        kept = [*thinned(kept, self.points // 2), point]
        own_files.write(self.path, b"".join(msgspec.json.encode(row) + b"\n" for row in kept))

    def _append(self, line: bytes) -> None:
        # The folder is the job's to write in: a link that it made is not followed.
        descriptor = own_files.open_descriptor(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, b"\n" + line if torn else line)
        finally:
            os.close(descriptor)
