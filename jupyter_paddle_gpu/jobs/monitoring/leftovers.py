"""What a crash left on an engine and no row answers for: removed once, when somebody begins to look after the queue."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import ENDED, MOVES
from ...engines.base import Engine
from ...engines.capabilities import Sweeper
from ..store.job_store import JobStore

_logger = logging.getLogger(__name__)

UNENDED = MOVES.keys() - ENDED


class KnownJobs(Collection[str]):
    """The ids of the jobs that have not ended, asked one by one at the moment of the question.

    A list made beforehand would miss a job that is submitted and started while an engine still lists what it has.
    """

    def __init__(self, store: JobStore) -> None:
        self._store = store

    def __contains__(self, job_id: object) -> bool:
        try:
            return self._store.get(str(job_id)).state not in ENDED
        except PaddleGpuError as error:
            if error.code == "no_such_job":
                return False
            raise

    def __iter__(self) -> Iterator[str]:
        return (job.id for job in self._store.select(states=UNENDED))

    def __len__(self) -> int:
        return len(self._store.select(states=UNENDED))


def sweep(store: JobStore, engines: Mapping[str, Engine]) -> Callable[[float | None], None]:
    """Let every engine that can remove its leftovers, in a thread: a daemon may take long to answer, or never.

    Returns a function that waits for the end, at most so many seconds.
    """
    sweepers = {name: engine for name, engine in engines.items() if isinstance(engine, Sweeper)}

    def work() -> None:
        for name, engine in sweepers.items():
            try:
                gone = engine.remove_leftovers(KnownJobs(store))
            except PaddleGpuError:  # no daemon here: nothing of ours runs on it either
                continue
            except Exception:
                _logger.exception("looking for leftovers on %s", name)
                continue
            if gone:
                _logger.warning("removed from %s what no job answers for: %s", name, ", ".join(gone))

    thread = threading.Thread(target=work, name="paddle-gpu leftovers", daemon=True)
    thread.start()
    return thread.join
