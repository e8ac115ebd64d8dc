"""Rules of the queue and prices while their files change: whoever looks after a queue may do so for weeks."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import msgspec

from ...domain.errors import PaddleGpuError
from ...jobs.settings import SchedulerPolicy
from ...matching.policy import Policy
from ..settings import Settings, policy_in
from . import market
from .files import Types, load_policies

_Stamp = tuple[int, int, int] | None
_PRICES = ("prices", "currency", "market", "market_date")
"""Fields of a policy that say what an hour costs."""
Rules = tuple[SchedulerPolicy, SchedulerPolicy]


class Following:
    """What `scheduler` says now, of both files and of the system's alone: read anew when one of them has changed.

    Of a file that is wrong nothing is used: the rules before it go on until it is mended.
    """

    def __init__(self, settings: Settings, types: Types) -> None:
        self._settings, self._types = settings, types
        self._seen: tuple[_Stamp, ...] | None = None
        self._rules: Rules = (SchedulerPolicy(), SchedulerPolicy())

    def __call__(self) -> Rules:
        """(order, common) of `JobSettings`."""
        settings = self._settings
        seen = _stamps(settings)
        if seen != self._seen:
            self._seen = seen
            try:
                found = load_policies(
                    settings.policy_file, settings.data_folder, self._types, settings.system_policy_file
                )
            except PaddleGpuError:
                return self._rules
            self._rules = (found.scheduler, found.common)
        return self._rules


class Prices:
    """What an hour of each card costs now, by both files and by the market's prices: read anew when one has changed.

    Somebody waits for a lower one. Of a file that is wrong nothing is used: the prices before it hold.
    """

    def __init__(self, settings: Settings, types: Types) -> None:
        self._settings, self._types = settings, types
        self._seen: tuple[_Stamp, ...] | None = None
        self._now: dict[str, Any] = {}

    def within(self, policy: Policy) -> tuple[Policy, bool]:
        """A policy that was read from the same files with the prices of now, and whether they have changed."""
        settings = self._settings
        seen = (*_stamps(settings), _stamp(settings.data_folder / market.FILE))
        before, says = self._now, policy
        if seen != self._seen:
            with contextlib.suppress(PaddleGpuError):
                if self._seen is not None:
                    says = load_policies(
                        settings.policy_file, settings.data_folder, self._types, settings.system_policy_file
                    ).matching
                priced = market.within(says, market.load(settings.data_folder))
                self._now = {name: getattr(priced, name) for name in _PRICES}
            self._seen = seen
        return msgspec.structs.replace(policy, **self._now), bool(before) and before != self._now


def _stamps(settings: Settings) -> tuple[_Stamp, ...]:
    own = settings.policy_file or policy_in(settings.data_folder)
    return (_stamp(settings.system_policy_file), _stamp(own))


def _stamp(file: Path) -> _Stamp:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
