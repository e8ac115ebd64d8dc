"""All that a job left as one ZIP archive, made while it is sent: nothing is kept in memory or written to the disk."""

from __future__ import annotations

import io
import os
import stat
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ....domain.jobs.job import Job
from ....engines import own_files
from .report import report
from .table import metrics_csv

if TYPE_CHECKING:
    from ....jobs.service import JobService

CHUNK = 1 << 20
"""Bytes that are read at a time."""


class _Outlet(io.RawIOBase):
    """Where the archive writes to: what came in since the last look."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """It takes bytes, in their order."""
        return True

    def write(self, data: Any) -> int:
        """Take some more."""
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """What came in since the last call."""
        data, self._parts = b"".join(self._parts), []
        return data


def archive(jobs: JobService, job: Job) -> Iterator[bytes]:
    """The archive, piece by piece: report, notebooks, log, metrics, the job's row, checkpoints.

    The folder is the job's to write in: links are left out, and a file is packed as long as it was when it was opened.
    """
    folder, outlet = jobs.folder_of(job.id), _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("report.html", report(jobs, job))
        packed.writestr("metrics.csv", metrics_csv(jobs.metrics(job.id)))
        packed.writestr("job.json", msgspec.json.format(msgspec.json.encode(_shown(job))))
        yield outlet.take()
        for path, name in (
            (folder.notebook, "executed.ipynb"),
            (folder.source, "source.ipynb"),
            (folder.log, "log.jsonl"),
            (folder.statistics, "statistics.jsonl"),
        ):
            yield from _packed(packed, outlet, folder.path, path, name)
        for path in _files(folder.checkpoints):
            name = "checkpoints/" + path.relative_to(folder.checkpoints).as_posix()
            yield from _packed(packed, outlet, folder.path, path, name)
    yield outlet.take()


def _shown(job: Job) -> Job:
    """The row without the values of environment variables: keys and passwords are not to be passed on."""
    names = dict.fromkeys(job.spec.environment, "")
    return msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, environment=names))


def _packed(packed: zipfile.ZipFile, outlet: _Outlet, root: Path, path: Path, name: str) -> Iterator[bytes]:
    try:
        file = own_files.open_read_below(root, path)
    except OSError:  # not there, or a link
        return
    with file:
        known = os.fstat(file.fileno())
        left = known.st_size
        # A date of its own, or it is unpacked as of 1980, before which ZIP knows none.
        written = max(time.localtime(known.st_mtime)[:6], (1980, 1, 1, 0, 0, 0))
        with packed.open(zipfile.ZipInfo(name, written), "w", force_zip64=True) as entry:
            while left > 0 and (data := file.read(min(CHUNK, left))):
                entry.write(data)
                left -= len(data)
                yield outlet.take()


def _files(folder: Path) -> Iterator[Path]:
    """Plain files below a folder, links followed nowhere."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place) / name
            try:
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path
            except OSError:
                continue
