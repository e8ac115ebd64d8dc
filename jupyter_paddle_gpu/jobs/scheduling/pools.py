"""Indices of devices that are kept from one pass over the queue to the next: what changed meanwhile is little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...domain.devices import Device, DeviceHolder, DeviceLink
from ...matching.policy import Policy
from ...matching.pool import Pool

PoolKey = tuple[str, bool]
"""An engine's pool by its name, and whether its devices are unknown here."""


class Pools:
    """Belongs to whoever plans again and again. Any thread may ask: of two at once one has a new index made."""

    def __init__(self) -> None:
        self._kept: dict[PoolKey, Pool] = {}

    def take(
        self,
        key: PoolKey,
        devices: Sequence[Device],
        policy: Policy,
        taken: Mapping[str, str],
        *,
        held: Mapping[str, DeviceHolder],
        shared: Mapping[str, tuple[DeviceHolder, ...]],
        links: tuple[DeviceLink, ...],
    ) -> Pool:
        """The index of these devices as they are now, for one pass; the rest as of `Pool`."""
        # Nobody else has it while it is in use: what a pass gives out counts there alone.
        kept = self._kept.pop(key, None)
        same = kept is not None and (kept.policy is policy or kept.policy == policy)
        if kept is not None and same and kept.renew(devices, taken, held=held, shared=shared, links=links):
            return kept
        return Pool(devices, policy, taken, held=held, shared=shared, links=links)

    def give_back(self, key: PoolKey, pool: Pool) -> None:
        """A pass is over."""
        self._kept[key] = pool
