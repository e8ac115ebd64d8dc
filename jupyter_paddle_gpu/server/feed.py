"""What one WebSocket client is owed: the newest state of what changes, and every line of the logs it follows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import msgspec

from ..domain.devices import Inventory
from ..domain.errors import PaddleGpuError
from ..domain.jobs.job import Job, LogPage
from .base import encode_plain
from .bodies import Subscription
from .broadcast import Event
from .context import ServerContext

LOG_LINES = 2000
"""Lines in one message: with lines of common length some 200 kB."""

ALIVE_SECONDS = 20.0
"""After so long without an event one says that we are here, so that silence can be told from a dead line."""


class Feed:
    """Lives on the event loop. States are coalesced (the newest wins), log lines never are."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._closed = False
        self._inventory: Inventory | None = None
        self._lists = self._subscribing = False
        self._jobs: dict[str, Job | None] = {}
        self._logs: dict[str, int] = {}
        self._stop_devices: Callable[[], None] | None = None
        self._stop_jobs: Callable[[], None] | None = None

    async def subscribe(self, wanted: Subscription) -> None:
        """Replace what is wanted. Rooms are asked in a thread: the first question may build them."""
        services, call = self._context.services, self._context.call
        if wanted.jobs and self._stop_jobs is None:
            self._subscribing = True
            try:
                await call(lambda: services.policies)  # while a file of them is wrong, jobs are read by REST alone
                self._stop_jobs = await call(lambda: services.jobs.subscribe(self._on_job))
                self._lists = True
            finally:
                self._subscribing = False
        elif not wanted.jobs and self._stop_jobs is not None:
            stop, self._stop_jobs = self._stop_jobs, None
            await call(stop)
        if wanted.devices and self._stop_devices is None:
            self._stop_devices = await call(lambda: services.devices.subscribe(self._on_inventory))
            self._on_inventory(await call(services.inventory))  # not to wait for the next sample
        elif not wanted.devices and self._stop_devices is not None:
            stop, self._stop_devices = self._stop_devices, None
            await call(stop)
        self._logs = dict(wanted.logs)
        self._wake.set()
        if self._closed:  # closed while a thread was busy subscribing
            self.close()

    def close(self) -> None:
        """Stop listening; the iterator of `events` is ended by whoever runs it."""
        self._closed = True
        for stop in (self._stop_devices, self._stop_jobs):
            if stop is not None:
                stop()
        self._stop_devices = self._stop_jobs = None
        self._logs = {}

    async def events(self) -> AsyncIterator[Event]:
        """Every event, for ever. The next one is made only after the last was taken, so nothing piles up."""
        told = self._loop.time()
        while True:
            self._wake.clear()
            sent = False
            async for event in self._pass():
                sent = True
                yield event
                told = self._loop.time()
            silence = self._loop.time() - told
            if silence >= ALIVE_SECONDS:
                yield {"type": "alive"}
                told = self._loop.time()
            elif not sent:
                await self._pause(ALIVE_SECONDS - silence)

    async def _pass(self) -> AsyncIterator[Event]:
        if self._inventory is not None:
            inventory, self._inventory = self._inventory, None
            yield {"type": "devices", "inventory": inventory}
        if self._lists:
            # Read when it is this client's turn, after the subscription and sent before its changes: none can fall
            # between the two, and a hundred clients do not hold a list each while they wait.
            self._lists = False
            yield {"type": "jobs", "jobs": self._context.services.jobs.list}
        while self._jobs and not self._subscribing:
            job_id = next(iter(self._jobs))
            job = self._jobs.pop(job_id)
            yield {"type": "job_deleted", "id": job_id} if job is None else {"type": "job", "job": job}
        for job_id, since in list(self._logs.items()):
            if (event := await self._log(job_id, since)) is not None:
                yield event

    async def _log(self, job_id: str, since: int) -> Event | None:
        def read() -> tuple[LogPage, msgspec.Raw]:
            page = self._context.services.jobs.log(job_id, since, LOG_LINES)
            return page, msgspec.Raw(encode_plain(page.lines))  # no sentence of ours in it is translated here

        try:
            page, lines = await self._context.call(read)
        except PaddleGpuError as error:
            self._logs.pop(job_id, None)
            return {"type": "error", "id": job_id, "error": error.message}
        if self._logs.get(job_id) != since:  # another subscription came meanwhile
            return None
        finished = page.ended and page.next >= page.total
        if not page.lines and not finished:
            return None
        if finished:
            del self._logs[job_id]
        else:
            self._logs[job_id] = page.next
        return {"type": "log", "id": job_id, "lines": lines, "next": page.next, "ended": finished}

    async def _pause(self, longest: float) -> None:
        # A file tells nobody that it grew: followed logs are looked at every so often, everything else wakes us.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._wake.wait(), self._context.log_poll_seconds if self._logs else longest)

    # The two callbacks come from other rooms' threads.

    def _on_inventory(self, inventory: Inventory) -> None:
        self._from_thread(lambda: setattr(self, "_inventory", inventory))

    def _on_job(self, job_id: str, job: Job | None) -> None:
        self._from_thread(lambda: self._jobs.__setitem__(job_id, job))

    def _from_thread(self, change: Callable[[], None]) -> None:
        def apply() -> None:
            if not self._closed:
                change()
                self._wake.set()

        try:
            self._loop.call_soon_threadsafe(apply)
        except RuntimeError:  # the loop is closed: the server is going down
            self._closed = True
