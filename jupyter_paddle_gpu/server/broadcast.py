"""What many clients are sent alike: made once for all of them, and sent to few in one round of the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Iterable
from typing import Any

import msgspec

from ..domain.devices import Inventory
from ..domain.jobs.job import Job
from ..domain.messages import Translate
from ..i18n import to_json

AT_ONCE = 4
"""So many clients are written to before the event loop looks at its sockets again: a hundred at a time would keep
everybody's requests waiting for 25 ms."""
MOST_ROWS = 4096
"""Rows of jobs that are kept as JSON, some 3 kB each."""
ROWS_IN_A_ROW = 16
"""So many rows are written anew before the event loop is let in: who computes in another thread keeps the interpreter
for 5 ms (`sys.getswitchinterval`) each time that the loop has handed something to a socket."""

Event = dict[str, Any]
"""A message with its values; `jobs` of the list is what reads it."""
RowKey = tuple[str, float, Translate]


class Broadcast:
    """Thread-safe, but for `turn`, which is the event loop's."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        # One list after the other: eight threads that make theirs at once keep the interpreter from the event loop.
        self._lists = threading.Lock()
        self._samples: dict[Translate, tuple[Inventory, bytes]] = {}  # by language
        self._rows: dict[RowKey, msgspec.Raw] = {}
        self._list: dict[Translate, tuple[list[Job], Event, bytes]] = {}  # by language

    def ready(self, event: Event, translate: Translate) -> bytes | None:
        """The message of a device sample or a job as JSON, where it was made for somebody before."""
        if event["type"] == "devices":
            made = self._samples.get(translate)
            return made[1] if made is not None and made[0] is event["inventory"] else None
        row = self._rows.get(_key(event["job"], translate)) if event["type"] == "job" else None
        return None if row is None else msgspec.json.encode({**event, "job": row})

    def made(self, event: Event, translate: Translate) -> bytes:
        """The message of any event as JSON. Some take milliseconds, so it is called in a thread."""
        if event["type"] == "jobs":
            with self._lists:
                return self._listed(event, translate)
        with self._lock:  # of many who want the same at once one makes it
            if (known := self.ready(event, translate)) is not None:
                return known
            if event["type"] == "job":
                return msgspec.json.encode({**event, "job": self._row(event["job"], translate)})
            message = msgspec.json.encode(to_json(event, translate))
            if event["type"] == "devices":
                self._samples[translate] = (event["inventory"], message)
            return message

    def rows(self, jobs: Iterable[Job], translate: Translate) -> list[msgspec.Raw]:
        """Jobs as JSON. One that did not change is not written anew: 500 take 1 ms instead of 17."""
        found, new = list[msgspec.Raw](), 0
        for job in jobs:
            with self._lock:
                known = len(self._rows)
                found.append(self._row(job, translate))
                new += len(self._rows) != known
            if new >= ROWS_IN_A_ROW:
                time.sleep(0)
                new = 0
        return found

    def _listed(self, event: Event, translate: Translate) -> bytes:
        """The list of jobs: of a hundred pages that open beside each other all get the same."""
        jobs, rest = list(event["jobs"]()), {key: value for key, value in event.items() if key != "jobs"}
        known = self._list.get(translate)
        if known is not None and known[0] == jobs and known[1] == rest:
            return known[2]
        message = msgspec.json.encode({**rest, "jobs": self.rows(jobs, translate)})
        self._list[translate] = (jobs, rest, message)
        return message

    def _row(self, job: Job, translate: Translate) -> msgspec.Raw:
        key = _key(job, translate)
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= MOST_ROWS:
                self._rows.clear()
            row = self._rows[key] = msgspec.Raw(msgspec.json.encode(to_json(job, translate)))
        return row

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """To hand one client its message (not to wait until it has read it)."""
        async with self._places:
            yield
            await asyncio.sleep(0)  # who comes next is let in when the loop has come round


def _key(job: Job, translate: Translate) -> RowKey:
    return job.id, job.updated, translate  # the store gives each change a time of its own
