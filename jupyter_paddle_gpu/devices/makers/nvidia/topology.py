"""Which cards are joined to which, and how fast: NVLink first, else what of the bus they share."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

from ....domain.devices import DeviceLink, Joint
from .asking import ask

_LEVELS: dict[int, Joint] = {
    0: "board",
    10: "switch",
    20: "switches",
    30: "host_bridge",
    40: "node",
    50: "system",
}
"""By `nvmlGpuTopologyLevel_t` (nvml.h)."""
_TO_SWITCH = 2
"""NVML_NVLINK_DEVICE_TYPE_SWITCH: every card behind the switches reaches every other with all its links."""


class _Lanes(NamedTuple):
    """A card's active NVLinks: how many go to each card by address, how many to switches, bytes a second of one."""

    peers: dict[str, int]
    switched: int
    speed: float | None


class Topology:
    """Remembers the links of the cards there are: they change with the machine, not with the moment."""

    def __init__(self) -> None:
        self._cards: tuple[str, ...] | None = None
        self._links: tuple[DeviceLink, ...] = ()

    def read(self, nvml: Any, handles: Mapping[str, Any]) -> tuple[DeviceLink, ...]:
        """A row for each pair of cards (by id) of which something is known."""
        if self._cards != tuple(handles):
            self._links = tuple(_links(nvml, handles)) if len(handles) > 1 else ()
            self._cards = tuple(handles)
        return self._links


def _links(nvml: Any, handles: Mapping[str, Any]) -> list[DeviceLink]:
    lanes = {card: _lanes(nvml, handle) for card, handle in handles.items()}
    addresses = {card: _address(ask(nvml, nvml.nvmlDeviceGetPciInfo, handle)) for card, handle in handles.items()}
    links = []
    for first, second in combinations(handles, 2):
        left, right = lanes[first], lanes[second]
        joined = left.peers.get(addresses[second], 0) or min(left.switched, right.switched)
        if joined:
            speed = left.speed * joined if left.speed is not None else None
            links.append(DeviceLink(devices=(first, second), joint="nvlink", lanes=joined, bandwidth=speed))
            continue
        level = ask(nvml, nvml.nvmlDeviceGetTopologyCommonAncestor, handles[first], handles[second])
        if level in _LEVELS:
            links.append(DeviceLink(devices=(first, second), joint=_LEVELS[level]))
    return links


def _lanes(nvml: Any, handle: Any) -> _Lanes:
    peers: dict[str, int] = {}
    switched = 0
    for lane in range(nvml.NVML_NVLINK_MAX_LINKS):
        active = ask(nvml, nvml.nvmlDeviceGetNvLinkState, handle, lane)
        if active is None:  # no such lane, and none after it
            break
        if not active:
            continue
        if ask(nvml, nvml.nvmlDeviceGetNvLinkRemoteDeviceType, handle, lane) == _TO_SWITCH:
            switched += 1
        elif peer := _address(ask(nvml, nvml.nvmlDeviceGetNvLinkRemotePciInfo, handle, lane)):
            peers[peer] = peers.get(peer, 0) + 1
    return _Lanes(peers, switched, _speed(nvml, handle) if peers or switched else None)


def _speed(nvml: Any, handle: Any) -> float | None:
    """Bytes a second of one lane in one direction; the driver tells megabytes."""
    values = ask(nvml, nvml.nvmlDeviceGetFieldValues, handle, [nvml.NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON])
    if not values or values[0].nvmlReturn != nvml.NVML_SUCCESS:
        return None
    return float(values[0].value.uiVal) * 1e6 or None


def _address(info: Any) -> str:
    if info is None:
        return ""
    written = info.busId.decode() if isinstance(info.busId, bytes) else str(info.busId)
    return written.lower()
