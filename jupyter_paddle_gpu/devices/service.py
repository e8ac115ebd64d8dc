"""The inventory for everybody: all makers, the host, simulated cards; sampled once however many look."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ..domain.devices import DeviceHistory, Inventory
from .history import KEPT_SECONDS, History
from .holders import Held, nobody, with_holders
from .host import HostReader
from .joints import joined
from .makers.registry import makers, with_names
from .processes import numbered_by_host
from .reader import Reader
from .sampler import DEFAULT_INTERVAL, Sampler
from .simulated import VARIABLE, SimulatedReader


class DeviceService:
    """What devices there are and how they are.

    Args:
        data_folder: the folder whose disk is watched.
        interval: seconds between samples while somebody subscribes.
        simulate: cards to show for teaching (`A100 80GB x2, T4`); None takes `PADDLE_GPU_SIMULATE`.
        readers: one a maker; None takes all there are.
        holders: which jobs have which devices; asked once for each sample, must not raise.
    """

    def __init__(
        self,
        data_folder: Path | None = None,
        *,
        interval: float = DEFAULT_INTERVAL,
        simulate: str | None = None,
        readers: Sequence[Reader] | None = None,
        holders: Callable[[], Held] = nobody,
    ) -> None:
        description = os.environ.get(VARIABLE, "") if simulate is None else simulate
        self._readers: list[Reader] = makers().readers() if readers is None else list(readers)
        if description:
            self._readers.append(SimulatedReader(description))
        self._host = HostReader(data_folder)
        self._interval = interval
        self._holders, self._on_host = holders, numbered_by_host()
        self._reading = threading.Lock()
        self._latest: Inventory | None = None
        self._history = History()
        self._sampler: Sampler[Inventory] = Sampler(self._read, interval=interval, idle=self._release)

    def snapshot(self, *, load: bool = False) -> Inventory:
        """The devices now; while somebody subscribes, the last sample. Blocks on the drivers, never raises.

        Args:
            load: whether the host's load is shown to somebody; else it is what the first look happens to see.
        """
        latest = self._latest
        if latest is not None and self._sampler.running and time.time() - latest.time < 2 * self._interval:
            return latest
        return self._read(load=load)

    def history(self, seconds: float = KEPT_SECONDS, points: int = 0) -> DeviceHistory:
        """The last minutes of each device, as far as somebody looked.

        Args:
            points: at most so many of each device, means of equal spans; 0: each sample.
        """
        return self._history.read(time.time(), seconds, points)

    def subscribe(self, callback: Callable[[Inventory], None]) -> Callable[[], None]:
        """Hand every sample to `callback`, called from the sampling thread; returns the function that ends it."""
        return self._sampler.subscribe(callback)

    def close(self) -> None:
        """End all subscriptions and let go of the drivers."""
        self._sampler.stop()
        self._release()

    def _read(self, *, load: bool = True) -> Inventory:
        held = self._holders()  # before the lock: it may wait for a store, which no driver should
        with self._reading:
            readings = [reader.read() for reader in self._readers]
            devices = tuple(device for reading in readings for device in reading.devices)
            devices = with_names(devices)
            devices = tuple(with_holders(device, held, on_host=self._on_host) for device in devices)
            links = tuple(link for reading in readings for link in reading.links)
            problems = tuple(problem for reading in readings for problem in reading.problems)
            if any(not device.simulated for device in devices):
                # "No GPU here" would be wrong beside a card of another vendor.
                problems = tuple(problem for problem in problems if problem.code != "no_gpu")
            self._latest = Inventory(
                time=time.time(),
                host=self._host.read(load=load),
                devices=devices,
                drivers={name: driver for reading in readings for name, driver in reading.drivers.items()},
                links=links,
                joined=joined(devices, links),
                problems=problems,
            )
            self._history.add(self._latest)
            return self._latest

    def _release(self) -> None:
        with self._reading:
            for reader in self._readers:
                reader.close()
