"""Which job has which device, for those who look at devices."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..devices.holders import Held
from ..domain.devices import DeviceHolder
from ..domain.errors import PaddleGpuError
from ..domain.jobs.job import ACTIVE, Job

if TYPE_CHECKING:
    from ..claims.claims import Claims
    from ..jobs.store.job_store import JobStore

BUSY_SECONDS = 1.0
"""As long a look at devices waits for somebody who writes into the store."""


class DeviceHolders:
    """Called for who has what: the jobs of this store by its rows, those of others by their claims.

    It opens the store by itself and only where there is one: whoever looks at devices makes none, and the job service
    asks for devices while it is being built.
    """

    def __init__(self, data_folder: Path, claims: Claims | None) -> None:
        self._file, self._claims = data_folder / "jobs.sqlite", claims
        self._store: JobStore | None = None

    def __call__(self) -> Held:
        """Devices and processes; nothing of a store or folder that cannot be read."""
        found: dict[str, tuple[DeviceHolder, ...]] = {}
        containers: dict[str, str] = {}
        processes: dict[int, str] = {}
        try:
            if self._claims is not None:
                found.update(self._claims.held())
                processes = self._claims.processes()
            if (store := self._opened()) is not None:
                for job in store.select(states=ACTIVE):
                    for device, holder in _own(job):
                        # Its own word on a device that it has as a whole; shares stand beside each other.
                        found[device] = (*(found.get(device, ()) if holder.bytes is not None else ()), holder)
                    if container := job.handle.get("container"):
                        containers[str(container)[:12]] = job.id
        except (OSError, sqlite3.Error, PaddleGpuError):
            pass
        return Held(found, containers, processes)

    def _opened(self) -> JobStore | None:
        if self._store is None and self._file.exists():
            from ..jobs.store.job_store import JobStore

            self._store = JobStore(self._file, busy_seconds=BUSY_SECONDS)
        return self._store

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()


def _own(job: Job) -> Iterator[tuple[str, DeviceHolder]]:
    """The devices of one of this store's jobs."""
    holder = DeviceHolder(job=job.id, owner=job.owner, name=job.spec.name)
    for device, part in zip_longest(job.device_ids, job.shares[: len(job.device_ids)]):
        yield device, msgspec.structs.replace(holder, bytes=None if part is None else part.bytes)
