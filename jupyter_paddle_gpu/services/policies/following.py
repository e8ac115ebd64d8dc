"""The rules of the queue while the files that say them change: whoever looks after a queue may do so for weeks."""

from __future__ import annotations

from pathlib import Path

from ...domain.errors import PaddleGpuError
from ...jobs.settings import SchedulerPolicy
from ..settings import Settings, policy_in
from .files import Types, load_policies

_Stamp = tuple[int, int, int] | None
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
        own = settings.policy_file or policy_in(settings.data_folder)
        seen = (_stamp(settings.system_policy_file), _stamp(own))
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


def _stamp(file: Path) -> _Stamp:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
