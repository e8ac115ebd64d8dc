"""What an engine may offer besides running jobs: small protocols, and one question for each.

An engine offers something by having the methods; nothing is declared. Everybody else asks with the functions below,
which know what holds for an engine that does not offer it. So nothing outside an engine's folder knows its name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from ..domain.containers.images import LocalImage
from ..domain.decisions import Limits
from ..domain.devices import Device, Holders, Inventory
from ..domain.engines import Features
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.jobs.job import Job, Resources
from ..domain.messages import Message
from ..domain.notebooks import NotebookFacts
from .base import Engine, JobFolder, metadata_of


@runtime_checkable
class OwnDevices(Protocol):
    """An engine whose jobs do not run on this machine's devices: a cluster's, another host's."""

    @property
    def assigns_devices(self) -> bool:
        """Whether the engine chooses a job's devices itself when it starts it (a cluster's scheduler).

        Then nothing is claimed here: a job that wants devices is handed over as soon as they could ever be had, and
        waits over there. Else the queue claims devices of `inventory` and the job carries their ids.
        """
        ...

    def inventory(self) -> Inventory:
        """The devices that its jobs can have, now; why there are none is in `problems`.

        Ids are claimed across engines, so they begin with something that is the engine's own. May block; raises
        `PaddleGpuError` where the engine does not answer.
        """
        ...


@runtime_checkable
class Quota(Protocol):
    """An engine that knows how many of its jobs may run at once."""

    @property
    def slots(self) -> int | None:
        """Jobs without a device that may run at the same time; None: as many as come (it has a queue of its own)."""
        ...


@runtime_checkable
class Limiter(Protocol):
    """An engine that limits what a job takes of the machine."""

    @property
    def limits_follow_estimate(self) -> bool:
        """Whether an estimate sets limits that the job does not ask for itself."""
        ...

    def limits(self, wanted: Resources, estimate: Estimate | None, devices: int) -> Limits:
        """What a job gets of memory and processors, and why, where there are so many accelerators.

        Raises `PaddleGpuError` where that cannot be told now.
        """
        ...


@runtime_checkable
class SharedMemoryRule(Protocol):
    """An engine that gives each job a /dev/shm of its own."""

    def shared_memory(self, needed: int) -> int | None:
        """What a job is given whose DataLoader workers hand over so many bytes; None: what every job gets suffices."""
        ...


@runtime_checkable
class Options(Protocol):
    """An engine that takes options with a submission."""

    def options_of(self, facts: NotebookFacts) -> dict[str, Any]:
        """The options that follow from what a notebook says by itself, below those that a person chose."""
        ...


class JobDefaults(msgspec.Struct, frozen=True):
    """What a notebook's metadata ask for its job, below what a submission says; empty: nothing."""

    image: str = ""
    environment: dict[str, str] = {}


@runtime_checkable
class Defaults(Protocol):
    """An engine that reads in a notebook's metadata what its job is to have."""

    def defaults_of(self, metadata: Mapping[str, Any]) -> JobDefaults:
        """What they ask for; nothing of what a job is refused for."""
        ...


@runtime_checkable
class Images(Protocol):
    """An engine that runs container images."""

    def local_images(self) -> tuple[LocalImage, ...]:
        """What is there already, for choosing one. Raises `PaddleGpuError` where the engine does not answer."""
        ...


@runtime_checkable
class Examiner(Protocol):
    """An engine of which more can be found out than it says of itself."""

    def examine(self) -> tuple[Message, ...]:
        """As `problems` of its features, and what only a trial shows. Never raises."""
        ...


@runtime_checkable
class Explainer(Protocol):
    """An engine whose settings have an answer to some ends of its jobs."""

    def explain(self, reason: Message) -> Message:
        """The same reason with what can be done about it on this engine; unchanged where it knows nothing more."""
        ...


@runtime_checkable
class Sharer(Protocol):
    """An engine that several users, or several stores of one, run jobs on: it knows who has which device."""

    def held_by_others(self) -> Holders:
        """Device id -> the jobs that have it, or shares of it, of every job here but this store's own.

        Raises `PaddleGpuError`.
        """
        ...


@runtime_checkable
class Mounter(Protocol):
    """An engine whose jobs see some of this machine's folders only, maybe by other names."""

    def on_host(self, job: Job, folder: JobFolder, path: str) -> Path | None:
        """Where that lies which the job calls `path`; None: where nobody but the job sees it. Never raises."""
        ...


@runtime_checkable
class Sweeper(Protocol):
    """An engine that may hold things of jobs that no store knows any more."""

    def remove_leftovers(self, known: Collection[str]) -> tuple[str, ...]:
        """Remove what is ours, ended and of no known job; the ids of its jobs. Raises `PaddleGpuError`.

        `known` is asked after the engine's own list was made, and a job is in it before anything of it is started.
        """
        ...


def inventory_of(engine: Engine, here: Callable[[], Inventory]) -> Inventory:
    """The devices that an engine's jobs can have: its own, else this machine's (`here`)."""
    return engine.inventory() if isinstance(engine, OwnDevices) else here()


def features_of(engine: Engine) -> Features:
    """What the engine says of itself, and what follows from what it offers."""
    own = isinstance(engine, OwnDevices)
    return msgspec.structs.replace(
        engine.supported_features(), own_devices=own, assigns_devices=assigns_devices(engine)
    )


def assigns_devices(engine: Engine) -> bool:
    """Whether the engine itself gives a job its devices."""
    return isinstance(engine, OwnDevices) and engine.assigns_devices


def sees_more(engine: Engine) -> bool:
    """Whether an engine may have devices that nobody sees from here: its own, or those of a daemon for containers."""
    return isinstance(engine, (OwnDevices, Images))


def accelerators(inventory: Inventory) -> list[Device]:
    """The devices on which something can run."""
    return [device for device in inventory.devices if not device.simulated and device.vendor != "cpu"]


def slots_of(engine: Engine, default: int) -> int | None:
    """How many jobs without a device may run on the engine at once; None: as many as come."""
    return engine.slots if isinstance(engine, Quota) else default


def limits_follow_estimate(engine: Engine) -> bool:
    """Whether an engine's limits follow from an estimate: then it is worth its seconds."""
    return isinstance(engine, Limiter) and engine.limits_follow_estimate


def limits_of(engine: Engine, wanted: Resources, estimate: Estimate | None, devices: int) -> Limits | None:
    """What the engine gives a job; None where it limits nothing, or cannot tell now."""
    if not isinstance(engine, Limiter):
        return None
    try:
        return engine.limits(wanted, estimate, devices)
    except PaddleGpuError:  # a daemon that does not answer: the submit says so next
        return None


def host_bytes_of(engine: Engine, wanted: Resources, inventory: Inventory) -> int | None:
    """What a job may have of the machine's memory at most: what it asks for, what the engine gives, all there is."""
    limits = limits_of(engine, wanted, None, 0)
    return wanted.memory_bytes or (limits.memory_bytes if limits is not None else None) or inventory.host.memory_total


def shared_memory_of(engine: Engine, needed: int) -> int | None:
    """What a job asks for of /dev/shm whose DataLoader workers need so many bytes: that much where all share one."""
    if not needed:
        return None
    return engine.shared_memory(needed) if isinstance(engine, SharedMemoryRule) else needed


def takes_options(engine: Engine) -> bool:
    """Whether the engine takes any options; which ones it knows it checks itself."""
    return isinstance(engine, Options)


def options_of(engine: Engine, facts: NotebookFacts) -> dict[str, Any]:
    """The options that a notebook itself gives the engine."""
    return engine.options_of(facts) if isinstance(engine, Options) else {}


def defaults_of(engine: Engine, content: Mapping[str, Any]) -> JobDefaults:
    """What a notebook (nbformat JSON) itself asks for its job on the engine."""
    return engine.defaults_of(metadata_of(content)) if isinstance(engine, Defaults) else JobDefaults()


def local_images_of(engines: Iterable[Engine]) -> tuple[LocalImage, ...]:
    """The images that are there; nothing of an engine that has none, or does not answer."""
    found: list[LocalImage] = []
    for engine in engines:
        if not isinstance(engine, Images):
            continue
        try:
            found += engine.local_images()
        except PaddleGpuError:
            continue
    return tuple(found)


def explained(engine: Engine, reason: Message) -> Message:
    """Why a job ended, with the next step that its engine knows."""
    return engine.explain(reason) if isinstance(engine, Explainer) else reason


def problems_of(engine: Engine) -> tuple[Message, ...]:
    """Everything that is missing on an engine, by a trial where it can be tried."""
    return engine.examine() if isinstance(engine, Examiner) else engine.supported_features().problems


def on_host(engine: Engine, job: Job, folder: JobFolder, path: str) -> Path | None:
    """Where on this machine that lies which a job calls `path`; None: where nobody but the job sees it."""
    return engine.on_host(job, folder, path) if isinstance(engine, Mounter) else Path(path)
