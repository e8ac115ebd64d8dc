"""Asks the engines how their jobs are, each in a thread of its own: one that hangs holds up nobody else's jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from ...domain.errors import PaddleGpuError
from ...domain.jobs import reasons
from ...domain.jobs.job import Job
from ...engines.base import Engine, JobFolder, Observation

Seen = Observation | Exception


class _Round:
    """One engine asked once for all its jobs."""

    def __init__(self, engine: Engine, jobs: list[Job], folder_of: Callable[[str], JobFolder]) -> None:
        self.jobs, self.seen = jobs, dict[str, Seen]()
        self._engine, self._folder_of = engine, folder_of
        self.thread = threading.Thread(target=self._ask, name=f"observe {engine.name}", daemon=True)
        self.thread.start()

    def _ask(self) -> None:
        for job in self.jobs:
            try:
                self.seen[job.id] = self._engine.observe(job, self._folder_of(job.id))
            except Exception as error:  # noqa: PERF203 - it belongs to the one who asked
                self.seen[job.id] = error


class Observing:
    """Belongs to whoever looks after the queue; asking changes nothing, so a thread that is left behind does no harm.

    Args:
        patience: seconds that an engine has for its answer before the others' jobs are looked after without it.
    """

    def __init__(
        self, engines: Mapping[str, Engine], folder_of: Callable[[str], JobFolder], *, patience: float
    ) -> None:
        self._engines, self._folder_of, self._patience = engines, folder_of, patience
        self._late: dict[str, _Round] = {}

    def ask(self, jobs: Iterable[Job]) -> dict[str, Seen]:
        """Job id -> what its engine says now, or the exception; `engine_unreachable` for one that does not answer."""
        by_engine: dict[str, list[Job]] = {}
        for job in jobs:
            by_engine.setdefault(job.spec.engine, []).append(job)
        self._late = {name: asked for name, asked in self._late.items() if asked.thread.is_alive()}
        rounds = {
            name: _Round(self._engines[name], mine, self._folder_of)
            for name, mine in by_engine.items()
            if name not in self._late
        }
        deadline, seen = time.monotonic() + self._patience, dict[str, Seen]()
        for name, asked in rounds.items():
            asked.thread.join(max(0.0, deadline - time.monotonic()))
            if asked.thread.is_alive():
                self._late[name] = asked
            else:
                seen.update(asked.seen)
        for name in self._late.keys() & by_engine.keys():
            silent = PaddleGpuError.of(
                reasons.engine_unreachable(name, f"no answer for {self._patience:g} s"), status=503
            )
            seen.update((job.id, silent) for job in by_engine[name])
        return seen
