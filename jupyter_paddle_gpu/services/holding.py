"""Which job has which device, for those who look at devices."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.devices import DeviceHolder
from ..domain.errors import PaddleGpuError
from ..domain.jobs.job import ACTIVE

if TYPE_CHECKING:
    from ..claims.claims import Claims
    from ..jobs.store.job_store import JobStore

BUSY_SECONDS = 1.0
"""As long a look at devices waits for somebody who writes into the store."""


class Holding:
    """Called for a mapping of device ids: the jobs of this store by its rows, those of others by their claims.

    It opens the store by itself and only where there is one: whoever looks at devices makes none, and the job service
    asks for devices while it is being built.
    """

    def __init__(self, data_folder: Path, claims: Claims | None) -> None:
        self._file, self._claims = data_folder / "jobs.sqlite", claims
        self._store: JobStore | None = None

    def __call__(self) -> dict[str, DeviceHolder]:
        """Device id -> who has it; nothing of a store or folder that cannot be read."""
        found: dict[str, DeviceHolder] = {}
        try:
            if self._claims is not None:
                found.update(self._claims.held())
            if (store := self._opened()) is not None:
                for job in store.select(states=ACTIVE):
                    holder = DeviceHolder(job=job.id, owner=job.owner, name=job.spec.name)
                    found.update(dict.fromkeys(job.device_ids, holder))
        except (OSError, sqlite3.Error, PaddleGpuError):
            return found
        return found

    def _opened(self) -> JobStore | None:
        if self._store is None and self._file.exists():
            from ..jobs.store.job_store import JobStore

            self._store = JobStore(self._file, busy_seconds=BUSY_SECONDS)
        return self._store

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()
