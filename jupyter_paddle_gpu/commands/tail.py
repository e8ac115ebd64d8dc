"""A job's log as it grows, for the faces that block: terminal and cell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..domain.jobs.job import LogLine
    from ..services import Services

PAGE_LINES = 2_000
POLL_SECONDS = 0.02
"""How often a log is looked at; a file tells nobody that it grew."""


class LogTail:
    """Reads every line once, from `since` on."""

    def __init__(
        self,
        services: Services,
        job_id: str,
        since: int = 0,
        *,
        rank: int = 0,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._services = services
        self._rank = rank
        self._job_id = job_id
        self._wait = wait
        self.next = since
        self.ended = False

    def pages(self) -> Iterator[list[LogLine]]:
        """What is there now, in batches."""
        while True:
            page = self._services.jobs.log(self._job_id, self.next, PAGE_LINES, self._rank)
            self.next = page.next
            if page.lines:
                yield list(page.lines)
            else:
                self.ended = page.ended
                return

    def follow(self) -> Iterator[list[LogLine]]:
        """What is there and what comes, until the job has ended and its last line was read."""
        while not self.ended:
            yield from self.pages()
            if not self.ended:
                self._wait(POLL_SECONDS)
