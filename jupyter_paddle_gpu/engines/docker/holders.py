"""Who has which device of a daemon that several users share: said by the labels of the containers themselves.

Every user has a queue of their own, and none sees another's. What all of them see is the daemon, so a job's container
carries the devices it was given. The queue waits for those of others; and since two queues may look at the same moment,
a container is made first, then looked for among all, and started only where nobody else's stands in its way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ...devices.makers.registry import makers
from ...domain.devices import DeviceHolder, Inventory
from ...domain.errors import PaddleGpuError
from ...domain.jobs import reasons
from .connection.daemon import Daemon
from .labels import LABEL_DEVICES, LABEL_JOB, LABEL_OWNER, LABEL_ROLE, LABEL_SHARES, LABEL_STORE, owner_name

RUNNING = ("restarting", "running", "paused")
LIVE = ("created", *RUNNING)
"""States in which a container has its devices, or is about to."""
CREATED_SECONDS = 60.0
"""How long a container that was made and not started holds its devices: longer than a start takes. Whoever made it and
died leaves it behind, and whoever comes back to start it makes it anew."""
LOOK_SECONDS = 0.1
"""Between two looks at a container that was made at the same moment."""

Row = Mapping[str, Any]
"""A container as Docker lists it."""


def held(daemon: Daemon, owner: str, store: str) -> dict[str, tuple[DeviceHolder, ...]]:
    """Device id -> who has it or shares of it, of all jobs on the daemon but this store's own.

    Raises `PaddleGpuError`.
    """
    found: dict[str, tuple[DeviceHolder, ...]] = {}
    for row in _others(_rows(daemon), owner, store):
        for device in sorted(_devices(row)):
            found[device] = (*found.get(device, ()), _holder(row, device))
    return found


def has_won(
    daemon: Daemon,
    container: str,
    owner: str,
    store: str,
    wanted: Callable[[], None],
    *,
    left: Mapping[str, int] | None = None,
) -> bool:
    """Whether a container that was made may be started: nobody else's has one of its devices.

    Of those that were made at the same moment the oldest wins (the lower id, where the second is the same). It waits
    until the others have seen it and gone, because one that looked before it was there may still start.

    Args:
        wanted: called while it waits; raises where the job is not wanted any more.
        left: device -> bytes that others may have beside its share; nothing of devices that it has as a whole.

    Returns:
        False where the container is too old to be counted by the others, or gone: it is to be made anew.

    Raises:
        PaddleGpuError: `device_held`, and what the daemon refuses.
    """
    while True:
        rows = _rows(daemon)
        mine = next((row for row in rows if row["Id"] == container), None)
        if mine is not None and mine["State"] != "created":
            return True  # another process of ours has started it
        # Half of the time that it is counted: the rest is left for the start.
        if mine is None or _age(mine) > CREATED_SECONDS / 2:
            return False
        others, place = _others(rows, owner, store), _place(mine)
        ids = {row["Id"] for row in others}
        room = _beside([row for row in rows if row["Id"] not in ids and row is not mine], left or {})
        rivals = _rivals(others, mine, room)
        before = [row for row in others if row["State"] != "created" or _place(row) < place]
        if ahead := _rivals(before, mine, room):
            device = min(_devices(ahead[0]) & _devices(mine))
            raise PaddleGpuError.of(reasons.device_held(device, _holder(ahead[0], device)), status=409)
        if not rivals:
            return True
        wanted()
        time.sleep(LOOK_SECONDS)


def _beside(own: Iterable[Row], left: Mapping[str, int]) -> dict[str, int]:
    """What of `left` this store's other containers leave."""
    room = dict(left)
    for row in own:
        for device in _devices(row) & set(room):
            room[device] -= _holder(row, device).bytes or 0
    return room


def _rivals(others: Iterable[Row], mine: Row, left: Mapping[str, int]) -> list[Row]:
    """Who else has so much of one of its devices that it cannot be had beside them."""
    rows, found = list(others), list[Row]()
    for device in sorted(_devices(mine)):
        there = [row for row in rows if device in _devices(row)]
        parts = [_holder(row, device).bytes for row in there]
        together = device in left and None not in parts and sum(part or 0 for part in parts) <= left[device]
        found += [] if together else there
    return found


_EVERY = "all"
_MOUNTS = Path("/proc/self/mountinfo")


class ByHand:
    """The devices of containers that somebody started without a queue (`docker run --gpus …`).

    Who asks for `all` holds every device, who asks for so many the first ones: these are what Docker gives
    (`countToDevices`, github.com/moby/moby, daemon/nvidia_linux.go). The container in which this process runs holds
    none: its devices are there to be given to jobs.

    Args:
        mounts: of this process; a container's files for names and addresses carry its id.
    """

    def __init__(self, daemon: Daemon, inventory: Callable[[], Inventory] | None, mounts: Path = _MOUNTS) -> None:
        self._daemon, self._inventory, self._mounts = daemon, inventory, mounts
        self._named: dict[str, tuple[str, ...]] = {}  # container -> its devices, which never change

    def held(self) -> dict[str, DeviceHolder]:
        """Device id -> the container that has it. Raises `PaddleGpuError`."""
        rows = [row for row in self._daemon.containers((), RUNNING) if LABEL_ROLE not in (row["Labels"] or {})]
        known, ids = self._named, [row["Id"] for row in rows]
        self._named = {name: known[name] if name in known else self._asked(name) for name in ids}
        found: dict[str, DeviceHolder] = {}
        for row in rows:
            container = row["Names"][0].lstrip("/")
            for name in self._named[row["Id"]]:
                found.setdefault(name, DeviceHolder(job=container, ends=f"docker stop {container}"))
        return self._by_id(found) if found else found

    def _by_id(self, found: dict[str, DeviceHolder]) -> dict[str, DeviceHolder]:
        """The same by the devices' own ids, where they are known here."""
        if self._inventory is None or not any(name == _EVERY or name.isdecimal() for name in found):
            return found
        given = {maker.name for maker, _ in makers().hooks()}
        devices = [one for one in self._inventory().devices if one.vendor in given and not one.simulated]
        by_number = {str(device.index): device.id for device in devices}
        ids = {by_number.get(name, name): holder for name, holder in found.items()}
        every = ids.pop(_EVERY, None)
        return ids if every is None else {**{device.id: every for device in devices}, **ids}

    def _asked(self, container: str) -> tuple[str, ...]:
        if self._is_own(container):
            return ()
        host = (self._daemon.inspect_container(container) or {}).get("HostConfig") or {}
        return tuple(name for request in host.get("DeviceRequests") or () for name in _devices_of(request))

    def _is_own(self, container: str) -> bool:
        try:
            return container in self._mounts.read_text()
        except OSError:  # no such file on this system
            return False


def _devices_of(request: Mapping[str, Any]) -> list[str]:
    """Ids, numbers or `all`, as a request says it."""
    if named := request.get("DeviceIDs"):
        # CDI has the maker before the device: nvidia.com/gpu=0.
        return [str(name).rpartition("=")[2] for name in named]
    count = int(request.get("Count") or 0)
    return [_EVERY] if count < 0 else [str(number) for number in range(count)]


def _rows(daemon: Daemon) -> list[Row]:
    rows = daemon.containers((f"{LABEL_ROLE}=job", LABEL_DEVICES), LIVE)
    return [row for row in rows if row["State"] != "created" or _age(row) < CREATED_SECONDS]


def _others(rows: Iterable[Row], owner: str, store: str) -> list[Row]:
    return [row for row in rows if (row["Labels"].get(LABEL_OWNER), row["Labels"].get(LABEL_STORE)) != (owner, store)]


def _devices(row: Row) -> set[str]:
    return set(filter(None, row["Labels"][LABEL_DEVICES].split(",")))


def _place(row: Row) -> tuple[int, str]:
    return int(row["Created"]), str(row["Id"])


def _age(row: Row) -> float:
    return time.time() - float(row["Created"])


def _holder(row: Row, device: str) -> DeviceHolder:
    labels = row["Labels"]
    names, parts = labels[LABEL_DEVICES].split(","), labels.get(LABEL_SHARES, "").split(",")
    part = dict(zip(names, parts, strict=False)).get(device, "")
    size = int(part) if part.isdecimal() else None
    return DeviceHolder(job=labels.get(LABEL_JOB, ""), owner=owner_name(labels.get(LABEL_OWNER, "")), bytes=size)
