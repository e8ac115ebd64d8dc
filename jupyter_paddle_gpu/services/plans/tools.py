"""What plans are given to make jobs with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.jobs.job import Job
from ..jobs.submitting import Settled
from ..requests import Submission

if TYPE_CHECKING:
    from ...domain.devices import Inventory
    from ...domain.notebooks import NotebookSource
    from ...jobs.service import JobService
    from ...matching.policy import Policy
    from ...notices.settings import NoticePolicy


@dataclass(frozen=True)
class Tools:
    """Use cases of the services, by which a plan does what a person would.

    Attributes:
        jobs: the jobs of this user.
        submit: makes a job; with a token seen before it answers the one that was made.
        settle: what a submit would come to, with an estimate where one is needed (`runs`).
        notices: who can be told of an end.
        folder: the data folder.
        clock: seconds since the epoch.
    """

    jobs: Callable[[], JobService]
    submit: Callable[[NotebookSource, Submission], Job]
    settle: Callable[[NotebookSource, Submission, bool], Settled]
    inventory: Callable[[], Inventory]
    policy: Callable[[], Policy]
    notices: Callable[[], NoticePolicy]
    folder: Path
    clock: Callable[[], float] = field(default=time.time)

    def devices(self) -> int:
        """How many real devices this machine has."""
        return sum(not device.simulated for device in self.inventory().devices)
